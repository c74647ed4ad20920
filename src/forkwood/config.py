"""What a person has set: `config.toml` and the environment as frozen Settings; a setting is written back in place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from forkwood.domain import limits
from forkwood.domain.errors import ForkwoodError, LimitExceeded, Misused, NotFound, StoreUnusable
from forkwood.domain.setting_values import At, Wrong, dotted, field_at, shape_at, shaped, spelled
from forkwood.domain.settings import Provider, Settings
from forkwood.models import keys, names

FILE = "config.toml"
FREE_WORDS = frozenset({"extra_body", "extra_headers"})
"""Tables that a server reads: there an empty text says something."""
BOM = "\ufeff"


def load_settings(environ: Mapping[str, str]) -> Settings:
    """The settings that hold now: HOME's `config.toml`, and over it FORKWOOD_HOME, FORKWOOD_CLIENT, FORKWOOD_MODEL.

    A missing home or file is no error. Raises StoreUnusable for a home that is a file, Misused for a file that is
    wrong (facts: `file`, `key`, `line`), LimitExceeded for one that is too large.
    """
    home = home_of(environ)
    path = home / FILE
    return overridden(settings_of(_read(path), path, home), environ)


def overridden(settings: Settings, environ: Mapping[str, str]) -> Settings:
    """SETTINGS of a file with what ENVIRON sets over them. Raises Misused for what can be no model's name."""
    client = environ.get("FORKWOOD_CLIENT", "").strip()
    model = environ.get("FORKWOOD_MODEL", "").strip()
    if model:
        names.parse(model)
    return msgspec.structs.replace(settings, client=client or settings.client, model=model or settings.model)


def home_of(environ: Mapping[str, str]) -> Path:
    """The folder all data lives in, as an absolute path; it need not exist. Raises StoreUnusable where it can be none:
    a file, or a name that no folder can have."""
    said = environ.get("FORKWOOD_HOME", "")
    try:
        home = Path(said).expanduser().absolute() if said else _usual_home()
        said = str(home)
        said.encode()
        if home.is_dir() or not home.exists():
            return home
        why = "it is not a folder"
    except UnicodeEncodeError:
        why = "it is not UTF-8"
    except (OSError, RuntimeError, ValueError) as error:  # too long, of a user nobody knows, with a NUL
        why = getattr(error, "strerror", None) or str(error).rstrip(".")
    raise StoreUnusable(
        f"The home of Forkwood, {said}, cannot be used: {why}",
        hint="set FORKWOOD_HOME to a folder, or move what stands there out of the way",
        home=said,
    )


def settings_of(text: str, path: Path, home: Path) -> Settings:
    """The Settings that TEXT, the content of PATH, spells. Raises Misused naming file, key and line."""
    import tomllib

    try:
        found = tomllib.loads(text.removeprefix(BOM)) if text else {}
    except ValueError as error:
        raise Misused(f"{path} is not TOML: {error}", hint="correct that line", file=str(path)) from None
    except RecursionError:
        raise _too_deep(path) from None
    if _depth_of(found) > limits.config_keys_deep_max:
        raise _too_deep(path)
    try:
        settings = _settings(found, home)
        for wrong in _checked(settings):
            raise wrong
    except Wrong as wrong:
        raise _told(wrong, text, path) from None
    return settings


def config_get(settings: Settings, key: str | None) -> Any:
    """What holds for the dotted KEY, as JSON has it; without a key, everything. Raises NotFound for no such key."""
    at = _keys_of(key) if key else ()
    value = msgspec.to_builtins(settings)
    for part in at:
        value = value.get(part) if isinstance(value, dict) else None
    if value is None:
        _must_exist(at, settings)
    return value


def config_set(home: Path, key: str, value: str | None) -> Settings:
    """Write VALUE (None: take the line out) for the dotted KEY into HOME's file, and return what its Settings are then.

    Comments and order stay, and the file is replaced in one step. Raises Misused for an unknown key or a value of the
    wrong form, and StoreUnusable where the file cannot be written; the file is then as it was.
    """
    import tomlkit

    path = home / FILE
    at = _keys_of(key)
    text = _read(path)
    settings_of(text, path, home)
    if value is not None and not value.strip() and not FREE_WORDS.intersection(at):
        way = f"forkwood config set {key} --unset takes the line out"
        raise Misused(f"{key}: the value is empty", hint=way, key=key)
    try:
        typed = None if value is None else spelled(value, shape_at(at, Settings), at)
    except Wrong as wrong:
        raise Misused(f"{key}: {wrong.why}", hint=wrong.hint, key=key) from None
    document = tomlkit.parse(text.removeprefix(BOM))
    _place(document, at, list(typed) if isinstance(typed, tuple) else typed)
    written = BOM * text.startswith(BOM) + tomlkit.dumps(document)
    settings = settings_of(written, path, home)
    _write(path, written)
    return settings


def keep_key(home: Path, provider: str, value: str) -> str:
    """Put VALUE away as the key of PROVIDER and name it in the file, before the keys named there. Its reference."""
    provider = names.provider_name(provider)
    before = settings_of(_read(home / FILE), home / FILE, home).providers.get(provider, Provider()).keys
    reference = keys.keep(home, provider, value)
    after = (reference, *(other for other in before if other != reference))
    config_set(home, dotted(("providers", provider, "keys")), msgspec.json.encode(after).decode())
    return reference


def _usual_home() -> Path:
    import platformdirs

    return Path(platformdirs.user_data_dir("forkwood", appauthor=False))


def _read(path: Path) -> str:
    try:
        if not path.is_file() and path.exists():
            raise StoreUnusable(f"{path} is not a regular file", hint="move it out of the way", file=str(path))
        with path.open("rb") as file:
            found = file.read(limits.config_bytes_max + 1)
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise StoreUnusable(
            f"{path} cannot be read: {error.strerror}", hint="make it readable, or set FORKWOOD_HOME", file=str(path)
        ) from None
    _within_size(path, len(found))
    try:
        return found.decode()
    except UnicodeDecodeError as error:
        line = found.count(b"\n", 0, error.start) + 1
        raise Misused(f"{path}, line {line} is not UTF-8", hint="save it as UTF-8", file=str(path), line=line) from None


def _within_size(path: Path, size: int) -> None:
    if size > limits.config_bytes_max:
        raise LimitExceeded(
            f"The size of {path}, in bytes",
            limit="config_bytes_max",
            bound=limits.config_bytes_max,
            got=size,
            hint="keep long texts elsewhere",
        )


def _write(path: Path, text: str) -> None:
    from forkwood import whole_file

    _within_size(path, len(text.encode()))
    try:
        target = path.resolve()
        mode = target.stat().st_mode & 0o777 if target.exists() else 0o600
        whole_file.put(target, [text.encode()], mode=mode)
    except OSError as error:
        raise StoreUnusable(
            f"{path} cannot be written: {error.strerror}", hint="make its folder writable", file=str(path)
        ) from None


def _settings(found: dict[str, Any], home: Path) -> Settings:
    fields = {name: shaped(value, field_at(Settings, name, ()), (name,)) for name, value in found.items()}
    return Settings(home=str(home), **fields)


def _must_exist(at: At, settings: Settings) -> None:
    """Raises NotFound unless AT is the place of a value that nobody has set."""
    try:
        shape_at(at, Settings)
    except Wrong as wrong:
        raise NotFound(f"There is no setting {dotted(at)}", hint=wrong.hint, key=dotted(at)) from None
    made = getattr(settings, at[0])
    if isinstance(made, dict) and at[1] not in made:
        raise NotFound(f"There is no {dotted(at[:2])}", hint=f"there are: {', '.join(made) or 'none'}", key=dotted(at))


def _checked(settings: Settings) -> Iterator[Wrong]:
    for name, seconds in msgspec.structs.asdict(settings.timeouts).items():
        if seconds <= 0:
            yield Wrong(("timeouts", name), "must be more than 0 seconds")
    yield from _tried(("model",), names.parse, settings.model)
    for name, profile in settings.profiles.items():
        yield from _tried(("profiles", name, "model"), names.parse, profile.model)
    for name, provider in settings.providers.items():
        yield from _tried(("providers", name), names.provider_name, name)
        yield from _tried(("providers", name, "url"), names.url_of, provider.url)
        for header, value in provider.extra_headers.items():
            yield from _tried(("providers", name, "extra_headers", header), partial(keys.header, header), value)
        for reference in provider.keys:
            yield from _tried(("providers", name, "keys"), keys.parse, reference)


def _tried(at: At, rule: Any, value: str | None) -> Iterator[Wrong]:
    if value is None:
        return
    try:
        rule(value)
    except ForkwoodError as error:
        yield Wrong(at, error.message, error.hint)


def _told(wrong: Wrong, text: str, path: Path) -> Misused:
    line = line_of(text, wrong.at)
    where = f"{path}, line {line}" if line else str(path)
    key = dotted(wrong.at)
    return Misused(f"{where}: {key}: {wrong.why}", hint=wrong.hint, file=str(path), key=key, line=line)


def line_of(text: str, at: At) -> int | None:
    """The line of TEXT, from 1, where the key or table AT stands; None where it is written in some rarer way."""
    import tomllib

    table: At = ()
    for number, line in enumerate(text.removeprefix(BOM).split("\n"), start=1):
        start = line.strip()
        try:
            if start.startswith("["):
                table = _path_in(tomllib.loads(start))
                if table[: len(at)] == at:
                    return number
            elif "=" in start and (*table, *_path_in(tomllib.loads(f"{start.split('=')[0]} = 0")))[: len(at)] == at:
                return number
        except tomllib.TOMLDecodeError:
            continue
    return None


def _path_in(nested: Any) -> At:
    """The keys that lead to the innermost of NESTED, where each table has one key."""
    keys: list[str] = []
    while nested and isinstance(nested, dict | list):
        if isinstance(nested, dict):
            keys.append(next(iter(nested)))
            nested = nested[keys[-1]]
        else:
            nested = nested[0] if len(nested) == 1 else None
    return tuple(keys)


def _depth_of(nested: Any) -> int:
    """How many tables and lists stand in one another in NESTED, at the deepest."""
    depth, level = 0, [nested]
    while level := [one for one in level if isinstance(one, dict | list)]:
        depth += 1
        level = [inner for one in level for inner in (one.values() if isinstance(one, dict) else one)]
    return depth


def _too_deep(path: Path) -> Misused:
    return Misused(f"{path} is nested too deeply", hint="correct it by hand", file=str(path))


def _keys_of(key: str) -> At:
    import tomllib

    try:
        found = _path_in(tomllib.loads(f"{key} = 0")) if "\n" not in key else ()
    except (tomllib.TOMLDecodeError, RecursionError):
        found = ()
    if not 0 < len(found) <= limits.config_keys_deep_max:
        shown = key[: limits.key_characters_max]
        raise Misused(
            f"{shown!r} is not the name of a setting", hint="write it with dots: profiles.NAME.model", key=key
        )
    return found


def _place(document: Any, at: At, value: Any) -> None:
    """Put VALUE (None: nothing) AT its place in DOCUMENT, with the tables that lead there."""
    import tomlkit

    table = document
    for depth, name in enumerate(at[:-1]):
        if name not in table:
            if value is None:
                return
            table[name] = tomlkit.table(is_super_table=depth < len(at) - 2)
        table = table[name]
    if value is None:
        table.pop(at[-1], None)
    else:
        table[at[-1]] = value
