"""Settings: what the file and the environment say, what is wrong with them, and writing one back in place."""

from __future__ import annotations

import os
import re
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forkwood import config
from forkwood.domain import limits
from forkwood.domain.errors import ForkwoodError, LimitExceeded, Misused, NotFound, StoreUnusable
from forkwood.domain.setting_values import FROM_ENVIRONMENT
from forkwood.domain.settings import Parameters, Profile, Provider, Settings, Timeouts
from forkwood.models.keys import Keys

WHOLE = """\
# my settings
model = "ollama:qwen3:8b"
system = "Be brief."
title_by_model = true

[timeouts]
connect = 5   # seconds
stall = 7.5

[profiles.poet]
model = "anthropic:claude"
system = '''
You are a poet.'''
tools_off = ["ask_user"]
params = { temperature = 1, max_output = 500, effort = "low" }

[providers.work]
url = "https://models.example.org/v1"
dialect = "chat"
keys = ["env:WORK_KEY", "file:/secrets/work"]
"""


def put(home: Path, text: str | bytes) -> Path:
    home.mkdir(exist_ok=True)
    path = home / "config.toml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def load(home: Path, **environ: str) -> Settings:
    return config.load_settings({"FORKWOOD_HOME": str(home), **environ})


def test_without_a_file_everything_is_as_usual(home: Path) -> None:
    assert load(home) == Settings(home=str(home))
    assert not home.exists()


def test_a_whole_file_is_read(home: Path) -> None:
    put(home, WHOLE)
    assert load(home) == Settings(
        home=str(home),
        model="ollama:qwen3:8b",
        system="Be brief.",
        title_by_model=True,
        timeouts=Timeouts(connect=5.0, stall=7.5),
        profiles={
            "poet": Profile(
                model="anthropic:claude",
                system="You are a poet.",
                tools_off=("ask_user",),
                params=Parameters(temperature=1.0, max_output=500, effort="low"),
            )
        },
        providers={
            "work": Provider(
                url="https://models.example.org/v1", dialect="chat", keys=("env:WORK_KEY", "file:/secrets/work")
            )
        },
    )


def test_a_byte_order_mark_and_windows_line_ends_are_read(home: Path) -> None:
    put(home, ("\ufeff" + WHOLE).replace("\n", "\r\n").encode())
    assert load(home).timeouts.connect == 5.0


def test_the_environment_comes_before_the_file(home: Path) -> None:
    put(home, WHOLE)
    settings = load(home, FORKWOOD_MODEL="embedded:smollm2", FORKWOOD_CLIENT="script")
    assert (settings.model, settings.client) == ("embedded:smollm2", "script")
    assert load(home, FORKWOOD_MODEL=" ", FORKWOOD_CLIENT="").client == "cli"
    with pytest.raises(Misused):
        load(home, FORKWOOD_MODEL="http://nobody")


def test_the_home_is_an_absolute_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert config.home_of({"FORKWOOD_HOME": "here"}) == tmp_path / "here"
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "xdg"))
    assert config.home_of({}) == tmp_path / "xdg" / "forkwood"
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreUnusable) as failed:
        config.load_settings({"FORKWOOD_HOME": str(tmp_path / "file")})
    assert "FORKWOOD_HOME" in failed.value.hint


@pytest.mark.parametrize(
    ("text", "key", "line"),
    [
        ("modell = 'a:b'", "modell", 1),
        ("\n\nmodel = 3", "model", 3),
        ("model = 'openai:'", "model", 1),
        ("home = '/x'", "home", 1),
        ("title_by_model = 'yes'", "title_by_model", 1),
        ("[timeouts]\nstall = 1\nconect = 2", "timeouts.conect", 3),
        ("[timeouts]\nstall = 0", "timeouts.stall", 2),
        ("approval_expiry_seconds = 0", "approval_expiry_seconds", 1),
        (f"approval_expiry_seconds = {limits.approval_expiry_seconds_max + 1}", "approval_expiry_seconds", 1),
        ("[timeouts]\nstall = inf", "timeouts.stall", 2),
        ("[timeouts]\nstall = nan", "timeouts.stall", 2),
        ("timeouts.stall = '1'", "timeouts.stall", 1),
        ("timeouts = 1", "timeouts", 1),
        ("[profiles.a]\nsystem = 'x'\n[profiles.b.params]\neffort = 'huge'", "profiles.b.params.effort", 4),
        ("[profiles.\"my own\"]\nmodel = 'http://x'", 'profiles."my own".model', 2),
        ("[profiles]\na = 1", "profiles.a", 2),
        ("[providers.x]\nurl = 'ftp://x'", "providers.x.url", 2),
        ("[providers.x]\ndialect = 'soap'", "providers.x.dialect", 2),
        ("[providers.'a b']\nurl = 'http://x'", 'providers."a b"', 1),
        ("[providers.x]\nkeys = 'env:A'", "providers.x.keys", 2),
    ],
)
def test_what_is_wrong_is_named_with_file_key_and_line(home: Path, text: str, key: str, line: int) -> None:
    path = put(home, text)
    with pytest.raises(Misused) as refused:
        load(home)
    assert refused.value.facts == {"file": str(path), "key": key, "line": line}
    assert f"{path}, line {line}: {key}: " in refused.value.message


def test_a_key_written_into_the_file_is_refused_and_not_repeated(home: Path) -> None:
    put(home, "[providers.openai]\nkeys = ['sk-seeded-0123456789']")
    with pytest.raises(Misused) as refused:
        load(home)
    assert "sk-seeded" not in repr((refused.value, refused.value.hint, refused.value.facts))
    assert "env:NAME" in refused.value.hint


@pytest.mark.parametrize("content", [b"model = ", b"a\nb\n", b"[x", b'model = "\xff"', b'model = "a:b"\x00'])
def test_what_is_no_toml_is_refused_with_its_place(home: Path, content: bytes) -> None:
    put(home, content)
    with pytest.raises(Misused) as refused:
        load(home)
    assert "line" in refused.value.message or "end of document" in refused.value.message


@given(st.binary(max_size=200))
def test_any_bytes_are_settings_or_a_clear_refusal(content: bytes) -> None:
    try:
        config.settings_of(content.decode("utf-8", "replace"), Path("/x/config.toml"), Path("/x"))
    except ForkwoodError:
        return


@pytest.mark.parametrize("text", ["a = " + "[" * 100_000, "a = " + "9" * 5_000])
def test_a_file_made_to_hurt_the_reader_is_refused(home: Path, text: str) -> None:
    put(home, text)
    with pytest.raises(Misused):
        load(home)


def test_a_file_may_be_as_large_as_its_limit(home: Path) -> None:
    path = put(home, b"#" + b"x" * (limits.config_bytes_max - 1))
    assert load(home).model is None
    path.write_bytes(path.read_bytes() + b"x")
    with pytest.raises(LimitExceeded) as refused:
        load(home)
    assert refused.value.facts["limit"] == "config_bytes_max"


def test_a_file_that_is_none_never_hangs(home: Path) -> None:
    home.mkdir()
    os.mkfifo(home / "config.toml")
    with pytest.raises(StoreUnusable):
        load(home)


def test_a_setting_is_read_by_its_dotted_key(home: Path) -> None:
    put(home, WHOLE)
    settings = load(home)
    assert config.config_get(settings, "timeouts.connect") == 5.0
    assert config.config_get(settings, "profiles.poet.params") == {
        "temperature": 1.0,
        "max_output": 500,
        "effort": "low",
    }
    assert config.config_get(settings, "profiles.poet.params.seed") is None
    assert config.config_get(settings, "providers.work.keys") == ("env:WORK_KEY", "file:/secrets/work")
    assert config.config_get(settings, None)["home"] == str(home)
    for absent in ("modell", "profiles.nobody", "profiles.nobody.model", "model.x"):
        with pytest.raises(NotFound) as refused:
            config.config_get(settings, absent)
        assert refused.value.hint
    for wrong in ("", "a b", "a.", "a\nb"):
        with pytest.raises(Misused):
            config.config_set(home, wrong, "1")


def test_writing_a_setting_leaves_every_other_byte(home: Path) -> None:
    path = put(home, WHOLE)
    config.config_set(home, "timeouts.connect", "6")
    assert path.read_text() == WHOLE.replace("connect = 5   # seconds", "connect = 6.0   # seconds")
    config.config_set(home, "model", "embedded:smollm2")
    config.config_set(home, "providers.work.keys", "env:A,keyring:work")
    settings = load(home)
    assert (settings.model, settings.providers["work"].keys) == ("embedded:smollm2", ("env:A", "keyring:work"))
    assert path.read_text().startswith("# my settings\n")


def test_windows_line_ends_and_the_mark_stay_where_a_setting_is_written(home: Path) -> None:
    path = put(home, ("\ufeff" + WHOLE).replace("\n", "\r\n").encode())
    config.config_set(home, "title_by_model", "false")
    assert path.read_bytes() == ("\ufeff" + WHOLE).replace("\n", "\r\n").replace("= true", "= false").encode()


@pytest.mark.parametrize(
    ("key", "value", "read"),
    [
        ("model", "ollama:a", "ollama:a"),
        ("title_by_model", "true", True),
        ("profiles.new.params.temperature", "0.5", 0.5),
        ("profiles.new.params.seed", "-3", -3),
        ('profiles."my own".system', 'say "hi"\nand\tbye', 'say "hi"\nand\tbye'),
        ("profiles.poet.tools_off", '["a", "b"]', ("a", "b")),
        ("providers.new.url", "http://127.0.0.1:9/v1", "http://127.0.0.1:9/v1"),
        ("providers.new.think_tags", "opened", "opened"),
        ("providers.new.thoughts", "false", False),
        ("timeouts.first_byte_local", "900", 900.0),
    ],
)
@pytest.mark.parametrize("before", ["", WHOLE])
def test_any_setting_can_be_written_and_taken_out(home: Path, before: str, key: str, value: str, read: object) -> None:
    if before:
        put(home, before)
    config.config_set(home, key, value)
    assert config.config_get(load(home), key) == read
    config.config_set(home, key, None)
    assert config.config_get(load(home), key) == config.config_get(
        Settings(
            home="", profiles={"new": Profile(), "my own": Profile(), "poet": Profile()}, providers={"new": Provider()}
        ),
        key,
    )


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("modell", "a:b"),
        ("model", "openai:"),
        ("home", "/x"),
        ("timeouts", "1"),
        ("timeouts.stall", "soon"),
        ("timeouts.stall", "-1"),
        ("title_by_model", "perhaps"),
        ("profiles.x.params.effort", "huge"),
        ("providers.x.keys", "sk-seeded-0123456789"),
        ("providers.x.think_tags", "sometimes"),
        ("providers.x.extra_headers.Authorization", "Bearer sk-seeded-0123456789"),
        ("providers.x.extra_headers.x-title", "two\nlines"),
        ("profiles", "{}"),
    ],
)
def test_a_wrong_setting_is_refused_and_nothing_is_written(home: Path, key: str, value: str) -> None:
    path = put(home, WHOLE)
    with pytest.raises(Misused) as refused:
        config.config_set(home, key, value)
    assert "sk-seeded" not in repr((refused.value, refused.value.hint, refused.value.facts))
    assert path.read_text() == WHOLE


def test_a_linked_file_stays_a_link_and_keeps_its_mode(home: Path, tmp_path: Path) -> None:
    home.mkdir()
    real = tmp_path / "dotfiles.toml"
    real.write_text(WHOLE)
    real.chmod(0o644)
    (home / "config.toml").symlink_to(real)
    config.config_set(home, "model", "embedded:smollm2")
    assert (home / "config.toml").is_symlink()
    assert 'model = "embedded:smollm2"' in real.read_text()
    assert real.stat().st_mode & 0o777 == 0o644


def test_a_key_put_away_is_named_in_the_file_and_stands_nowhere_in_it(home: Path) -> None:
    put(home, WHOLE)
    reference = config.keep_key(home, "Work", "sk-seeded-0123456789")
    assert reference == f"file:{home}/keys/work"
    assert load(home).providers["work"].keys == (reference, "env:WORK_KEY", "file:/secrets/work")
    assert config.keep_key(home, "work", "sk-seeded-9876543210") == reference
    assert load(home).providers["work"].keys == (reference, "env:WORK_KEY", "file:/secrets/work")
    assert Keys({})(reference) == "sk-seeded-9876543210"
    assert "sk-seeded" not in (home / "config.toml").read_text()


DOCUMENT = Path(__file__).parent.parent / "docs" / "settings.md"


def test_the_page_about_settings_is_itself_a_file_that_can_be_read(home: Path) -> None:
    put(home, DOCUMENT.read_text().partition("```toml\n")[2].partition("```")[0])
    settings = load(home)
    assert settings.profiles["poet"].params == Parameters(temperature=0.9)
    assert settings.timeouts == Timeouts()
    assert len(settings.providers["work"].keys) == 3


@pytest.mark.parametrize(
    ("text", "value"),
    [("40", 40), ("true", True), ("auto", "auto"), ('{"ttl": "1h"}', {"ttl": "1h"}), ("null", "null")],
)
def test_a_field_of_the_body_is_written_as_the_json_it_spells(home: Path, text: str, value: object) -> None:
    config.config_set(home, "providers.box.extra_body.some_field", text)
    assert load(home).providers["box"].extra_body == {"some_field": value}


@pytest.mark.parametrize("shape", [Settings, Profile, Provider, Timeouts, Parameters])
def test_the_page_about_settings_names_all_that_can_be_set(shape: type[msgspec.Struct]) -> None:
    page = DOCUMENT.read_text()
    for field in msgspec.structs.fields(shape):
        name = f"FORKWOOD_{field.name.upper()}" if field.name in FROM_ENVIRONMENT else field.name
        assert re.search(rf"\b{name}\b", page)
    assert all(variable in page for variable in ("FORKWOOD_MODEL", "FORKWOOD_LOCAL_SERVERS"))


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("/tmp/" + "a" * 300, "too long"),
        ("/" + "b/" * 3_000, "too long"),
        ("/nowhere/\udcff", "not UTF-8"),
        ("~nosuchuser/x", "home directory"),
    ],
)
def test_a_name_that_no_home_can_have_is_told(said: str, why: str) -> None:
    with pytest.raises(StoreUnusable) as failed:
        config.load_settings({"FORKWOOD_HOME": said})
    assert why in failed.value.message and "FORKWOOD_HOME" in failed.value.hint


def test_a_home_below_a_folder_that_was_removed_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(StoreUnusable):
        config.load_settings({"FORKWOOD_HOME": "here"})


def test_a_file_is_as_deep_as_may_be_and_one_more(home: Path) -> None:
    deepest = ".".join(["providers", "p", "extra_body", *["a"] * (limits.config_keys_deep_max - 3)])
    put(home, f"{deepest} = 1")
    assert config.config_get(load(home), "providers.p.extra_body.a")
    put(home, f"{deepest}.a = 1")
    with pytest.raises(Misused, match="nested too deeply"):
        load(home)


@pytest.mark.parametrize("value", ["[" * 5_000 + "]" * 5_000, '{"a":' * 100 + "1" + "}" * 100])
def test_a_value_that_is_nested_too_deeply_is_refused_and_the_file_stays(home: Path, value: str) -> None:
    path = put(home, "# mine\n")
    with pytest.raises(Misused):
        config.config_set(home, "providers.p.extra_body.a", value)
    assert path.read_text() == "# mine\n"


@pytest.mark.parametrize("key", [".".join("a" * 5_000), "[" * 5_000, "a" * 100_000 + "."])
def test_a_key_as_long_as_a_letter_is_told_shortly(home: Path, key: str) -> None:
    with pytest.raises(Misused) as refused:
        config.config_get(load(home), key)
    assert len(refused.value.message) < 2 * limits.key_characters_max + 40


@pytest.mark.parametrize("text", ["{} = 1", "[[{}]]", "[{}]", "system = {{ {} = 1 }}"])
def test_a_file_of_thousands_of_keys_in_one_another_is_refused(home: Path, text: str) -> None:
    put(home, text.format(".".join("a" * 5_000)))
    with pytest.raises(Misused):
        load(home)
