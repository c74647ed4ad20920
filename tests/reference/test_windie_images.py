"""Promises 22 to 29 of an earlier program: pictures and files that go with messages, by our rules."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path

import pytest

from forkwood.domain import limits
from forkwood.domain.errors import Misused, NotFound
from forkwood.domain.message import Attachment, Origin, Part, Text
from forkwood.domain.tree import ROOT, Spot
from forkwood.runtime import Runtime
from forkwood.store import append, blobs, conversations
from tests.reference.houses import again, asked, entered, prompted, words_of
from tests.runtime.doors import NOON
from tests.surfaces.cli.desks import given, run_cli, succeed

PNG = b"\x89PNG\r\n\x1a\n" + b"one"
JPEG = b"\xff\xd8\xff\xe0" + b"two"


@pytest.fixture
def runtime(home: Path) -> Runtime:
    runtime = entered(home)
    runtime.new(title="t")
    return runtime


def written(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def kept_bytes(runtime: Runtime, node: str) -> list[bytes]:
    """The bytes of what goes with a message, in its order."""
    parts = runtime.show(node).node.parts
    with runtime.house.store.read() as tx:
        return [blobs.get(tx, part.blob) for part in parts if isinstance(part, Attachment)]


def blobs_kept(runtime: Runtime) -> set[str]:
    with runtime.house.store.read() as tx:
        return {digest for (digest,) in tx.rows("SELECT hash FROM blob")}


def test_windie_22_text_and_picture_keep_order_type_and_bytes(runtime: Runtime, tmp_path: Path) -> None:
    node = runtime.send("look", attach=[written(tmp_path, "a.png", PNG)], run=False).node
    runtime = again(runtime)
    text, picture = runtime.show(node.id).node.parts
    assert text == Text(text="look")
    assert isinstance(picture, Attachment)
    assert (picture.mime, picture.media, picture.name, picture.size) == ("image/png", "image", "a.png", len(PNG))
    assert kept_bytes(runtime, node.id) == [PNG]


def test_windie_23_several_pictures_keep_their_order_and_equal_ones_are_kept_once(
    runtime: Runtime, tmp_path: Path
) -> None:
    files = [written(tmp_path, name, content) for name, content in (("a", PNG), ("b", JPEG), ("c", PNG))]
    node = runtime.send("look", attach=files, run=False).node
    assert kept_bytes(runtime, node.id) == [PNG, JPEG, PNG]
    assert [part.name for part in node.parts if isinstance(part, Attachment)] == ["a", "b", "c"]
    assert blobs_kept(runtime) == {sha256(PNG).hexdigest(), sha256(JPEG).hexdigest()}


def test_windie_24_text_and_pictures_in_turn_stay_so_up_to_the_prompt(runtime: Runtime, tmp_path: Path) -> None:
    with runtime.house.store.write() as tx:
        seen = tuple(
            Attachment(blob=blobs.put(tx, content), media="image", name="x", mime=mime, size=len(content))
            for content, mime in ((PNG, "image/png"), (JPEG, "image/jpeg"))
        )
        parts: tuple[Part, ...] = (Text(text="this"), seen[0], Text(text="or"), seen[1], Text(text="that?"))
        name, by = runtime.house.new_id(), Origin(by="user", via="cli")
        node = append.add_message(
            tx, id=name, conversation=1, at=ROOT, role="user", parts=parts, origin=by, now_ms=NOON
        )
        conversations.move_head(tx, 1, Spot(node), NOON)
    assert again(runtime).show(name).node.parts == parts
    answer = asked(entered(Path(runtime.house.settings.home)), tmp_path, "well?")
    sent = prompted(entered(Path(runtime.house.settings.home)), answer)
    assert sent == [("user", "this\n<attachment>\nor\n<attachment>\nthat?\n\nwell?")]


def test_windie_25_26_an_edit_replaces_the_text_keeps_the_pictures_and_is_never_empty(
    runtime: Runtime, tmp_path: Path
) -> None:
    """Ours: empty words are refused, so an edit cannot remove the text part; send the picture alone instead."""
    sent = runtime.send("look", attach=[written(tmp_path, "a.png", PNG)], run=False).node
    edited = runtime.edit(sent.id, "see", run=False).node
    assert (words_of(edited.parts), kept_bytes(runtime, edited.id)) == (["see", "Attachment"], [PNG])
    with pytest.raises(Misused, match="empty"):
        runtime.edit(edited.id, "", run=False)
    assert runtime.history(sent.id)[-1] == edited
    alone = runtime.send("", attach=[tmp_path / "a.png"], run=False).node
    assert words_of(alone.parts) == ["Attachment"]


def test_windie_27_a_picture_goes_only_where_its_message_stands_on_the_path(runtime: Runtime, tmp_path: Path) -> None:
    """Ours: one person's store; what keeps a picture from where it was not shown is the path."""
    first = asked(runtime, tmp_path, "q1")
    runtime.send("look", attach=[written(tmp_path, "a.png", PNG)], run=False)
    with_it = asked(runtime, tmp_path, "well?")
    without = asked(runtime, tmp_path, "other", at=first)
    assert "<attachment>" in prompted(runtime, with_it)[-1][1]
    assert "<attachment>" not in str(prompted(runtime, without))


def test_windie_28_the_bytes_go_when_the_last_message_that_speaks_of_them_is_purged(
    runtime: Runtime, tmp_path: Path, home: Path
) -> None:
    files = [written(tmp_path, "a.png", PNG + b"marker"), written(tmp_path, "b.jpg", JPEG)]
    one = runtime.send("one", attach=files, run=False).node
    two = runtime.send("two", attach=files[:1], run=False).node
    runtime.hide(one.id)
    assert len(blobs_kept(runtime)) == 2, "what is hidden is kept"
    runtime.purge([one.id])
    assert blobs_kept(runtime) == {sha256(PNG + b"marker").hexdigest()}
    runtime.purge([two.id])
    assert blobs_kept(runtime) == set()
    assert not [path for path in home.rglob("*") if path.is_file() and b"marker" in path.read_bytes()]


def test_windie_29_a_file_is_taken_by_its_path_whole(tmp_path: Path) -> None:
    succeed("new")
    content = bytes(range(256)) * 3
    node = given(["send", "look", "--no-run", "--attach", str(written(tmp_path, "a.bin", content))])
    assert [part["size"] for part in node["parts"] if part["kind"] == "attachment"] == [len(content)]
    assert node["parts"][1]["blob"] == sha256(content).hexdigest()


def test_windie_29_what_a_file_is_is_told_by_its_bytes_not_by_its_name(runtime: Runtime, tmp_path: Path) -> None:
    """Ours: a header that does not match makes it a plain file, which goes along as one; nothing is refused for it."""
    files = [written(tmp_path, "a.png", b"no picture"), written(tmp_path, "b.txt", JPEG)]
    node = runtime.send("look", attach=files, run=False).node
    found = [(part.media, part.mime) for part in node.parts if isinstance(part, Attachment)]
    assert found == [("file", "text/plain"), ("image", "image/jpeg")]
    answer = asked(runtime, tmp_path, "well?")
    assert prompted(runtime, answer) == [("user", "look\na.png:\n```\nno picture\n```\n<attachment>\nwell?")]


def test_windie_29_what_is_missing_special_or_too_large_is_refused_and_nothing_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    succeed("new")
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.setattr(limits, "attachment_bytes_max", 100)
    cases = {"missing": 3, "pipe": 2, written(tmp_path, "large", bytes(101)).name: 6}
    for name, code in cases.items():
        ran = run_cli("send", "look", "--no-run", "--attach", str(tmp_path / name), "--json")
        assert (ran.code, bool(ran.value["error"]["hint"] or ran.value["error"]["bound"])) == (code, True)
    assert given(["tree"]) == []
    with pytest.raises(NotFound):
        entered(Path(os.environ["FORKWOOD_HOME"])).show("@")
