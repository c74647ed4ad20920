"""On what kind of file system a directory lies. SQLite's locks and shared memory hold within one machine only."""

from __future__ import annotations

import os
from pathlib import Path

from msgspec import Struct

from forkwood.domain.errors import StoreUnusable

MOUNTS = Path("/proc/self/mountinfo")

NETWORK = frozenset(
    {
        "9p",
        "afs",
        "beegfs",
        "ceph",
        "cifs",
        "coda",
        "davfs",
        "fuse.blobfuse2",
        "fuse.ceph",
        "fuse.ceph-fuse",
        "fuse.cephfs",
        "fuse.curlftpfs",
        "fuse.davfs",
        "fuse.davfs2",
        "fuse.gcsfuse",
        "fuse.glusterfs",
        "fuse.goofys",
        "fuse.gvfsd-fuse",
        "fuse.juicefs",
        "fuse.mfs",
        "fuse.mount-s3",
        "fuse.rclone",
        "fuse.s3fs",
        "fuse.seaweedfs",
        "fuse.smbnetfs",
        "fuse.sshfs",
        "fuse.vmhgfs-fuse",
        "gfs",
        "gfs2",
        "mfs",
        "wekafs",
        "glusterfs",
        "gpfs",
        "lustre",
        "ncpfs",
        "nfs",
        "nfs3",
        "nfs4",
        "ocfs2",
        "orangefs",
        "prl_fs",
        "pvfs2",
        "smb",
        "smb2",
        "smb3",
        "smbfs",
        "vboxsf",
        "vmhgfs",
    }
)
"""Kinds that another machine (or the host of a virtual one) may write at the same time."""


class Mount(Struct, frozen=True):
    """Where a file system is mounted, and its kind as the kernel calls it."""

    point: str
    kind: str


def parse_mounts(text: str) -> list[Mount]:
    """The mounts in the text of `/proc/self/mountinfo`, in the order made. Lines of another form are left out."""
    found = []
    for line in text.splitlines():
        before, dash, after = line.partition(" - ")
        fields, kind = before.split(" "), after.split(" ")[0]
        if dash and kind and len(fields) >= 6:
            found.append(Mount(_unescaped(fields[4]), kind))
    return found


def mount_of(path: str, mounts: list[Mount]) -> Mount | None:
    """The mount PATH (absolute, without links) lies on: the longest point above it; of two at one point the later."""
    above = [mount for mount in reversed(mounts) if _is_above(mount.point, path)]
    return max(above, key=lambda mount: len(mount.point), default=None)


def is_network(kind: str) -> bool:
    """Whether a file system of that KIND may be written by more than one machine."""
    return kind.lower() in NETWORK


def refuse_network(directory: Path, mounts: Path = MOUNTS) -> None:
    """Raise StoreUnusable where DIRECTORY, which may not exist yet, lies on a network file system.

    Where the kernel does not list its mounts (outside Linux) nothing is known and nothing refused.
    """
    try:
        text = mounts.read_text("utf-8", "surrogateescape")
    except OSError:
        return
    mount = mount_of(os.path.realpath(directory), parse_mounts(text))
    if mount is None or not is_network(mount.kind):
        return
    raise StoreUnusable(
        f"{directory} lies on a network file system ({mount.kind} at {mount.point}): a store there would be damaged as "
        "soon as two machines use it",
        hint="set FORKWOOD_HOME to a directory on a disk of this machine; to move a store, copy its backup",
        reason="network",
        path=str(directory),
        file_system=mount.kind,
        mount=mount.point,
    )


def _is_above(point: str, path: str) -> bool:
    return path == point or path.startswith(point if point.endswith("/") else point + "/")


def _unescaped(field: str) -> str:
    """The kernel writes blank, tab, line end and backslash in octal."""
    for octal, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        field = field.replace(octal, character)
    return field
