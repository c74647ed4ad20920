"""Secrets by reference: `env:NAME`, `keyring:NAME`, `file:PATH`. A value is read when it is sent, and never kept."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, TypeAlias

from msgspec import Struct

from forkwood import whole_file
from forkwood.domain import limits
from forkwood.domain.errors import Misused, ProviderFailed, StoreUnusable
from forkwood.domain.masking import SECRET_CHARACTERS_MIN

Holder: TypeAlias = Literal["env", "keyring", "file"]
KEYRING_SERVICE = "forkwood"
FOLDER = "keys"
FORMS = "env:NAME, keyring:NAME or file:PATH"
PRIVATE = 0o600

HEADERS_OURS = frozenset(
    {"accept", "accept-encoding", "connection", "content-length", "content-type", "host", "transfer-encoding"}
)
"""Headers that follow from the dialect and the connection."""
HEADERS_SECRET = frozenset({"api-key", "authorization", "cookie", "proxy-authorization", "x-api-key", "x-goog-api-key"})
"""Headers that carry secrets, which no setting may hold."""

_CREDENTIAL = re.compile(r"(?:^|_)(?:API)?(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)(?:$|_)", re.IGNORECASE)
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")


class Reference(Struct, frozen=True, kw_only=True):
    """Where a secret is found; `name` is a variable, an entry of the keyring, or a path."""

    holder: Holder
    name: str


def parse(reference: str) -> Reference:
    """What REFERENCE refers to. Raises Misused for anything else, without repeating it: it may be the secret itself."""
    holder, colon, name = reference.partition(":")
    if not colon or not name or not name.isprintable():
        raise _no_reference()
    match holder:
        case "env" | "keyring":
            return Reference(holder=holder, name=name)
        case "file" if Path(name).is_absolute() or name.startswith("~/"):
            return Reference(holder="file", name=name)
        case "file":
            raise Misused(f"{reference!r} is not an absolute path", hint="write file:/path/to/the/key or file:~/…")
        case _:
            raise _no_reference()


class Keys:
    """Finds the values that references stand for, in the environment it was given, the keyring and private files."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ

    def __call__(self, reference: str) -> str:
        """The secret REFERENCE stands for. Raises ProviderFailed("auth") where there is none or it is not private."""
        found = parse(reference)
        match found.holder:
            case "env":
                value = self._environ.get(found.name)
            case "keyring":
                value = _from_keyring(found.name)
            case "file":
                value = _from_file(found.name)
        if value is None or not value.strip():
            raise ProviderFailed("auth", f"There is no key at {reference}", hint=_where_to_put_it(found), key=reference)
        return _sendable(value.strip(), reference)

    def others(self) -> tuple[str, ...]:
        """The values of all variables that are credentials by their names, asked for or not."""
        return credential_values(self._environ)

    def present(self, reference: str) -> bool:
        """Whether there seems to be a secret, without reading it: a keyring may ask its person, so it is believed."""
        found = parse(reference)
        match found.holder:
            case "env":
                return bool(self._environ.get(found.name, "").strip())
            case "keyring":
                return True
            case "file":
                try:
                    return Path(found.name).expanduser().is_file()
                except (OSError, RuntimeError):  # too long for any file, or below the home of nobody
                    return False


def keep(home: Path, provider: str, value: str) -> str:
    """Put VALUE away as the key of PROVIDER, and return its reference.

    It goes into the keyring of this machine where a usable one exists, else into a file of mode 600 under HOME/keys,
    which is never readable by others, not for an instant. Raises Misused for a value that no header can carry.
    """
    value = value.strip()
    if not value:
        raise Misused("The key is empty", hint="give it on stdin, or when asked for it")
    try:
        _sendable(value, provider)
    except ProviderFailed as failed:
        raise Misused(f"The key given for {provider} is none: {failed.message}", hint=failed.hint) from None
    if _put_into_keyring(provider, value):
        return f"keyring:{provider}"
    return f"file:{_put_into_file(home / FOLDER / provider, value)}"


def credentials(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables in ENVIRON whose names say that they are credentials, and whose values are long enough to be."""
    return {
        name: value.strip()
        for name, value in environ.items()
        if _CREDENTIAL.search(name) and len(value.strip()) >= SECRET_CHARACTERS_MIN
    }


def credential_values(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The values of `credentials`."""
    return tuple(credentials(environ).values())


def header(name: str, value: str) -> tuple[str, str]:
    """The header NAME with its VALUE, NAME in lower case. Raises Misused where no setting may send it."""
    lower = name.lower()
    if lower in HEADERS_SECRET:
        raise Misused(
            f"The header {lower} carries a secret, which is not written into settings",
            hint='keys are named: `keys = ["env:NAME"]`',
            header=lower,
        )
    if lower in HEADERS_OURS:
        raise Misused(f"The header {lower} follows from the request", hint="leave it out", header=lower)
    if not _HEADER.fullmatch(name) or not (value.isascii() and value.isprintable()):
        raise Misused(
            f"{name!r} is no header that can be sent",
            hint="a name has no blanks, a value is printable ASCII on one line",
            header=name,
        )
    return lower, value.strip()


def _no_reference() -> Misused:
    return Misused(
        "A key is named by where it is found; what was given names no such place (and is not repeated here)",
        hint=f"write {FORMS}; `forkwood models key PROVIDER` puts a key away and writes the reference",
    )


def _where_to_put_it(found: Reference) -> str:
    match found.holder:
        case "env":
            return f"set {found.name} in the environment, or run `forkwood models key PROVIDER`"
        case "keyring":
            return f"run `forkwood models key {found.name}`"
        case "file":
            return f"write the key into {found.name}, or run `forkwood models key PROVIDER`"


def _sendable(value: str, reference: str) -> str:
    """VALUE where a header can carry it: one line of printable ASCII."""
    if not value.isascii() or not value.isprintable() or " " in value:
        raise ProviderFailed(
            "auth", f"The key at {reference} holds more than one word of plain characters", hint="store the key alone"
        )
    if len(value) > limits.secret_bytes_max:
        raise ProviderFailed("auth", f"The key at {reference} is longer than any key", hint="look what is stored there")
    return value


def _from_file(name: str) -> str | None:
    """The text of the file of that NAME, a regular one that nobody else can read. None where there is none."""
    path = Path(name)
    try:
        path = path.expanduser()
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    except FileNotFoundError:
        return None
    except (OSError, RuntimeError) as error:
        why = getattr(error, "strerror", None) or error
        raise ProviderFailed("auth", f"The key file {path} cannot be read: {why}", path=str(path)) from None
    try:
        _must_be_private(path, os.fstat(handle))
        return os.read(handle, limits.secret_bytes_max + 2).decode("utf-8", "replace")
    finally:
        os.close(handle)


def _must_be_private(path: Path, state: os.stat_result) -> None:
    if not stat.S_ISREG(state.st_mode):
        raise ProviderFailed("auth", f"The key file {path} is not a regular file", hint=FORMS, path=str(path))
    if os.name == "posix" and state.st_mode & 0o077:
        raise ProviderFailed(
            "auth",
            f"The key file {path} can be read by others (mode {stat.S_IMODE(state.st_mode):o}); it is not used",
            hint=f"run: chmod 600 {path}",
            path=str(path),
            mode=f"{stat.S_IMODE(state.st_mode):o}",
        )


def _put_into_file(path: Path, value: str) -> Path:
    try:
        whole_file.put(path, [f"{value}\n".encode()], mode=PRIVATE)
    except OSError as error:
        raise StoreUnusable(
            f"The key could not be stored at {path}: {error.strerror}",
            hint="make the folder writable, or set the key in the environment",
            path=str(path),
        ) from None
    return path.absolute()


def _from_keyring(name: str) -> str | None:
    import keyring
    from keyring.errors import KeyringError

    try:
        return keyring.get_password(KEYRING_SERVICE, name)
    except (KeyringError, RuntimeError, OSError) as error:
        raise ProviderFailed(
            "auth",
            f"The keyring did not give the key {name!r}: {type(error).__name__}",
            hint=f"unlock the keyring, or run `forkwood models key {name}` again",
        ) from None


def _put_into_keyring(name: str, value: str) -> bool:
    """Whether the keyring has taken VALUE and gives it back: some take everything and keep nothing."""
    import keyring
    from keyring.errors import KeyringError

    try:
        if keyring.get_keyring().priority < 1:
            return False
        keyring.set_password(KEYRING_SERVICE, name, value)
        return keyring.get_password(KEYRING_SERVICE, name) == value
    except (KeyringError, RuntimeError, OSError):
        return False
