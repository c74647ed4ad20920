"""Which directories lie on another machine (corpus D10, pain 11)."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import Struct

from forkwood.domain.errors import StoreUnusable
from forkwood.store.filesystem import Mount, is_network, mount_of, parse_mounts, refuse_network

MOUNTINFO = r"""22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard
40 27 0:40 / /home rw,relatime shared:2 - btrfs /dev/sdb rw
41 40 0:41 / /home/me/far rw,relatime - nfs4 server:/export rw,vers=4.2
42 40 0:42 / /home/me/my\040share rw,relatime master:3 propagate_from:1 - cifs //box/share rw
43 40 0:43 / /home/me/ssh rw,nosuid - fuse.sshfs me@host:/ rw
44 40 0:44 / /home/me/over rw - ext4 /dev/sdc rw
45 44 0:45 / /home/me/over rw - nfs server:/x rw
46 40 0:46 / /home/me/back\134slash rw - 9p host rw
a line of another kind
"""


class Case(Struct, frozen=True):
    path: str
    kind: str
    network: bool


CASES = [
    Case("/", "ext4", False),
    Case("/home", "btrfs", False),
    Case("/home/me/forkwood", "btrfs", False),
    Case("/home/me/far", "nfs4", True),
    Case("/home/me/far/deep/er", "nfs4", True),
    Case("/home/me/farther", "btrfs", False),
    Case("/home/me/my share/x", "cifs", True),
    Case("/home/me/ssh/x", "fuse.sshfs", True),
    Case("/home/me/over/x", "nfs", True),
    Case("/home/me/back\\slash", "9p", True),
    Case("/homes", "ext4", False),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.path)
def test_the_mount_a_path_lies_on(case: Case) -> None:
    found = mount_of(case.path, parse_mounts(MOUNTINFO))
    assert found is not None
    assert (found.kind, is_network(found.kind)) == (case.kind, case.network)


def test_a_path_under_no_mount_has_none() -> None:
    assert mount_of("/x", []) is None
    assert mount_of("/x", [Mount("/y", "nfs")]) is None


@pytest.mark.parametrize("kind", ["ext4", "xfs", "btrfs", "zfs", "tmpfs", "overlay", "apfs", "fuseblk", "virtiofs"])
def test_disks_of_this_machine_are_fine(kind: str) -> None:
    assert not is_network(kind)


def test_d10_a_home_on_a_network_file_system_is_refused_with_the_way_that_works(tmp_path: Path) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(f"1 0 0:1 / / rw - ext4 x rw\n2 1 0:2 / {tmp_path.resolve()} rw - nfs4 server:/e rw\n")
    with pytest.raises(StoreUnusable) as caught:
        refuse_network(tmp_path / "not yet" / "there", mounts)
    assert caught.value.facts == {
        "reason": "network",
        "path": str(tmp_path / "not yet" / "there"),
        "file_system": "nfs4",
        "mount": str(tmp_path.resolve()),
    }
    assert "FORKWOOD_HOME" in caught.value.hint


def test_a_link_is_followed_to_where_it_leads(tmp_path: Path) -> None:
    mounts, far = tmp_path / "mountinfo", tmp_path.resolve() / "far"
    mounts.write_text(f"1 0 0:1 / / rw - ext4 x rw\n2 1 0:2 / {far} rw - cifs //b/s rw\n")
    far.mkdir()
    (tmp_path / "near").symlink_to(far)
    with pytest.raises(StoreUnusable):
        refuse_network(tmp_path / "near", mounts)
    refuse_network(tmp_path, mounts)


def test_where_the_kernel_lists_nothing_nothing_is_refused(tmp_path: Path) -> None:
    refuse_network(tmp_path, tmp_path / "absent")


@pytest.mark.parametrize(
    "kind", ["fuse.juicefs", "fuse.mount-s3", "fuse.gvfsd-fuse", "fuse.ceph-fuse", "mfs", "wekafs"]
)
def test_what_many_machines_share_is_known_by_its_kind(kind: str) -> None:
    assert is_network(kind)
