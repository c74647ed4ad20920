"""The corpus on searching: rows D8 and D9, and pain 15. Each by its own words, and by others of its kind."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from forkwood.domain.message import Text, ToolCall, ToolResult
from forkwood.domain.tree import Spot
from forkwood.store import append, marks
from forkwood.store.db import Store
from tests.store.said import ME, NOW, ask, found, new_id, said, say, talk


@pytest.fixture
def store() -> Iterator[Store]:
    made = Store.in_memory()
    yield made
    made.close()


@pytest.mark.parametrize(
    "word",
    [
        *("foo-bar", 'a"b', "AND", "c++", "NEAR("),
        *("OR", "NOT", "-foo", "foo*bar", "^foo", "foo:bar", "{a b}", "'", '"', '""', "(", ")", "a'b", "%", "\\", "@x"),
        *("--", "/*", ";DROP", "NEAR(a b, 3)", "words:x", "$1", "?1", ".env", "C#", "f(x)", "<tag>", "a\\nb"),
    ],
)
def test_d8_what_fts5_reads_as_syntax_is_literal(store: Store, word: str) -> None:
    said(store, f"before {word} after", "foo bar a b c AN D near nothing of it")
    assert found(store, word) == [f"before {word} after"]


@pytest.mark.parametrize("term", ["数", "据", "数据", "据库", "数据库", "讨论数据库", "我们讨论数据库设计"])
def test_d9_a_term_of_any_length_is_found_in_running_text(store: Store, term: str) -> None:
    said(store, "我们讨论数据库设计", "其他内容")
    (hit,) = ask(store, term).hits
    assert hit.snippet == "我们讨论数据库设计"
    ((start, end),) = hit.marks
    assert hit.snippet[start:end] == term


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("東京都庁へ行く", "京都"),
        ("データベース設計を学ぶ", "設計"),
        ("ﾃﾞｰﾀﾍﾞｰｽ", "データ"),
        ("ひらがなもカタカナも", "もカタ"),
        ("데이터베이스를 설계하다", "베이스"),
        ("데이터베이스를 설계하다", "설계"),
        ("𠮷野家で食べる", "𠮷野"),
        ("使用SQLite数据库v3", "sqlite数据"),
        ("ＳＱＬｉｔｅを使う", "sqlite"),
        ("ขอบคุณมากครับ", "คุณ"),
        ("ສະບາຍດີ", "ບາຍ"),
        ("ကျေးဇူးတင်ပါတယ်", "တင်"),
        ("សូមអរគុណ", "អរ"),
    ],
)
def test_d9_so_is_one_of_any_script_without_spaces(store: Store, text: str, term: str) -> None:
    said(store, text, "nothing")
    assert len(found(store, term)) == 1


def test_pain_15_any_branch_tool_output_and_tombstones_are_found_and_flagged(store: Store) -> None:
    with store.write() as tx:
        conversation = talk(tx)
        root = say(tx, conversation, "root")
        left = say(tx, conversation, "a finding 发现 on the left", at=Spot(root))
        say(tx, conversation, "a finding on the right", at=Spot(root))
        wish = ToolCall(call="1", name="read", arguments={})
        call = say(tx, conversation, wish, role="assistant", at=Spot(root))
        result = ToolResult(call="1", name="read", outcome="ok", parts=(Text(text="a finding in tool output"),))
        append.add_results(tx, id=new_id(tx), at=Spot(call), parts=(result,), origin=ME, now_ms=NOW)
        marks.hide(tx, [left], 1)
    hits = {hit.snippet: (hit.role, hit.hidden) for hit in ask(store, "finding").hits}
    assert hits == {
        "a finding 发现 on the left": ("user", True),
        "a finding on the right": ("user", False),
        "a finding in tool output": ("tool", False),
    }
    assert [hit.hidden for hit in ask(store, "发现").hits] == [True]
