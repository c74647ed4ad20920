"""Lists as a person reads them: conversations, branches, versions, hits, runs, events, hidden things, profiles."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from forkwood.domain import limits
from forkwood.domain.conversation import Conversation
from forkwood.domain.event import Event
from forkwood.domain.hit import Hit
from forkwood.domain.ids import Id, ending
from forkwood.domain.response import Branch, NodeShown, ToolListed, Trash
from forkwood.domain.run import Run
from forkwood.domain.settings import Parameters, Profile
from forkwood.domain.tree import Node
from forkwood.surfaces.cli.glyphs import Inks, Pen
from forkwood.surfaces.cli.screen_text import cropped, visible, visible_line
from forkwood.surfaces.cli.show_path import draw_node
from forkwood.surfaces.cli.words import ago, count_of, one_line, role_of, short

TITLE_WIDTH = 50
VERDICTS = {"allow": "does not ask", "ask": "asks", "deny": "never runs"}
ACT_WORDS = {
    "conversation.created": "the new conversation",
    "conversation.forked": "the fork",
    "conversation.hidden": "moving the conversation to the trash",
    "conversation.shown": "taking the conversation out of the trash",
    "setting.changed": "a changed setting",
    "label.changed": "a label",
    "message.sent": "a message",
    "message.queued": "a queued message",
    "queue.edited": "a changed message in the queue",
    "queue.removed": "taking a message out of the queue",
    "message.edited": "an edit",
    "reply.retried": "a retry",
    "entry.dropped": "a drop",
    "entries.carried": "a carry",
    "head.switched": "a switch",
    "node.hidden": "hiding a message",
    "node.shown": "showing a message",
    "run.resumed": "a resumed run",
}


def conversation_line(conversation: Conversation, now_ms: int) -> str:
    """One conversation in one line: its name, title, model, and when it last moved."""
    title = cropped(visible_line(conversation.title) or "untitled", TITLE_WIDTH)
    words = [
        ending(conversation.id),
        title,
        visible_line(conversation.model or ""),
        ago(conversation.updated_ms, now_ms),
    ]
    words += [word for word, holds in (("pinned", conversation.pinned), ("archived", conversation.archived)) if holds]
    words += [f"#{visible_line(tag)}" for tag in conversation.tags]
    return "  ".join(word for word in words if word)


def draw_conversations(found: Sequence[Conversation], current: Id | None, pen: Pen, now_ms: int) -> str:
    """All of them, newest first; the current one is marked."""
    mark = pen.inks.mark(pen.glyphs.reply)
    return "\n".join(
        f"{mark if row.id == current else ' '} {_fitting(conversation_line(row, now_ms), pen)}" for row in found
    )


def _fitting(line: str, pen: Pen) -> str:
    """LINE in one row of a screen; whole for a program."""
    return cropped(line, pen.wraps) if pen.wraps else line


def draw_branches(
    found: Sequence[Branch],
    pen: Pen,
    now_ms: int,
    *,
    on_path: Collection[Id] = (),
    left_at: Mapping[str, Node | None] | None = None,
) -> str:
    """Each leaf with how long its path is, its last words and their age; the head is marked.

    ON_PATH: messages of the head's path. A leaf among them is named by its place, `ID~0`: its id alone is read there.
    LEFT_AT: by leaf the last message that its branch shares with the head's path, None for the beginning.
    """
    if not found:
        return "Nothing is said here yet."
    known = left_at or {}
    lines = ((_branch(branch, pen, now_ms, exact=branch.node in on_path), branch.leaf) for branch in found)
    return "\n".join(line + (f"\n{_left(known[leaf], pen)}" if leaf in known else "") for line, leaf in lines)


def _branch(branch: Branch, pen: Pen, now_ms: int, *, exact: bool) -> str:
    name = short(branch.leaf) + ("~0" if exact and not branch.head and "~" not in branch.leaf else "")
    mark = f"  {pen.inks.mark(pen.glyphs.head)}" if branch.head else ""
    beside = f"{count_of(branch.length, 'message')}, {ago(branch.created_ms, now_ms)}{', hidden' * branch.hidden}"
    words = cropped(visible_line(branch.text), max(8, pen.width - len(beside) - 24))
    return f"{name}  {words}  {pen.inks.dim(beside)}{mark}"


def _left(at: Node | None, pen: Pen) -> str:
    """Where a branch left the head's path."""
    if at is None:
        return pen.inks.dim("  from the beginning")
    return pen.inks.dim(f"  from #{at.seq} '{cropped(one_line(at), max(8, pen.width - len(str(at.seq)) - 12))}'")


def draw_shown(shown: NodeShown, pen: Pen) -> str:
    """One node with where it hangs and the digests of its path."""
    node, inks = shown.node, pen.inks
    facts = [
        f"id      {node.id}",
        f"at      {node.at or 'the beginning'}",
        f"made    {_made(node)}",
        f"path    {count_of(node.length, 'message')}, digest {shown.digest}",
    ]
    if node.kind == "graft":
        facts.insert(2, f"carries {count_of(node.count or 0, 'message')} up to {node.source}")
        return "\n".join(facts)
    return "\n".join((draw_node(node, pen), "", *(inks.dim(fact) for fact in facts)))


def draw_history(versions: Sequence[Node], pen: Pen, clients: Mapping[Id, str] | None = None) -> str:
    """Every version under its heading, oldest first, with when and by whom it was made. CLIENTS: by run, if known."""
    known, total = clients or {}, len(versions)
    headings = (
        f"version {number} of {total}, {_made(node, known.get(node.origin.run or ''))}"
        for number, node in enumerate(versions, 1)
    )
    drawn = zip(headings, versions, strict=True)
    return "\n\n".join(f"{pen.inks.dim(heading)}\n{draw_node(node, pen)}" for heading, node in drawn)


def _made(node: Node, client: str | None = None) -> str:
    asked = f", asked for by {visible_line(client)}" if client and client != node.origin.via else ""
    return f"{moment(node.created_ms)}, by {node.origin.by} via {node.origin.via}{asked}"


def draw_hits(hits: Sequence[Hit], inks: Inks) -> str:
    """Each hit with its place to go to, what matched made bold."""
    if not hits:
        return "Nothing found."
    return "\n".join(f"{ending(hit.node)}  {inks.dim(_where(hit))}\n  {_marked(hit, inks)}" for hit in hits)


def _where(hit: Hit) -> str:
    """Whose words a hit is, when they were said, and in which conversation: its title last, for it can be long."""
    title = cropped(visible_line(hit.title) or "untitled", TITLE_WIDTH)
    whose = visible_line(hit.from_tool) or hit.role
    return f"{whose}{', hidden' * hit.hidden}, {moment(hit.created_ms)[:10]}, in {ending(hit.conversation)} {title}"


def _marked(hit: Hit, inks: Inks) -> str:
    pieces, at = [], 0
    for start, end in hit.marks:
        pieces += [_inner(hit.snippet[at:start]), inks.bold(_inner(hit.snippet[start:end]))]
        at = end
    return "".join([*pieces, _inner(hit.snippet[at:])])


def _inner(text: str) -> str:
    """A piece of a snippet on one line; its blanks stay, for words end there."""
    return visible(text.replace("\r", " ").replace("\n", " ").replace("\t", " "))


def draw_trash(found: Trash, pen: Pen, now_ms: int) -> str:
    """Hidden conversations and messages."""
    if not found.conversations and not found.nodes:
        return "Nothing is hidden."
    whole = [f"conversation  {conversation_line(row, now_ms)}" for row in found.conversations]
    nodes = [f"message  {_hidden(node, pen.width)}" for node in found.nodes]
    return "\n".join((*whole, *nodes))


def _hidden(node: Node, width: int) -> str:
    return f"{ending(node.id)}  {role_of(node)}  {cropped(one_line(node), width - 30)}  in {ending(node.conversation)}"


def draw_runs(
    runs: Sequence[Run],
    inks: Inks,
    *,
    left: Collection[Id] = (),
    partial: Collection[Id] = (),
    hint: Callable[[str], str] = str,
) -> str:
    """Each run with its model, its state, and how far it came. LEFT: those at work that nobody drives; PARTIAL: those
    whose reply is not whole; HINT spells commands as they are given here."""
    if not runs:
        return "There are no runs."
    return "\n".join(
        run_line(run, inks, left=run.id in left, partial=run.id in partial)
        + (hint(_goes_on(run)) if run.id in left else "")
        for run in runs
    )


def _goes_on(run: Run) -> str:
    return f"  forkwood resume {ending(run.id)} goes on"


def run_line(run: Run, inks: Inks, *, left: bool = False, partial: bool = False) -> str:
    """One run in one line. LEFT: nobody drives it; PARTIAL: it is done, and its last reply is not whole."""
    colours = {"running": inks.mark, "waiting": inks.mark, "failed": inks.alarm}
    state = colours.get(run.status, inks.dim)(f"{run.status}{', cut' * partial}")
    tokens = f"{run.usage.input:,} + {run.usage.output:,} tokens"
    error = f"  {visible_line(str(run.error.get('message', '')))}" if run.error else ""
    shown = inks.alarm("left at work") if left else state
    return f"{ending(run.id)}  {shown}  {visible_line(run.model)}  at {short(run.tip)}  {inks.dim(tokens)}{error}"


def event_line(event: Event, inks: Inks) -> str:
    """One event: its number, time, kind, who, and what it was about."""
    about = [f"{name} {ending(value)}" for name, value in (("node", event.node), ("run", event.run)) if value]
    who = f"{event.by} via {event.via}"
    return (
        f"{event.seq:>6}  {inks.dim(moment(event.at_ms))}  {event.kind}  {inks.dim(who)}  {'  '.join(about)}".rstrip()
    )


def act_words(event: Event) -> str:
    """What an undo or redo was of, in words."""
    kind = str(event.payload.get("kind", event.kind))
    return ACT_WORDS.get(kind, kind)


def draw_profiles(found: Mapping[str, Profile]) -> str:
    """Each profile with what it sets."""
    if not found:
        return "There are no profiles: write [profiles.NAME] into config.toml."
    return "\n".join(f"{visible_line(name)}  {_profile(profile)}" for name, profile in sorted(found.items()))


def _profile(profile: Profile) -> str:
    params = {name: getattr(profile.params, name) for name in Parameters.__struct_fields__}
    words = [
        visible_line(profile.model or ""),
        *(f"{name} {visible_line(str(value))}" for name, value in params.items() if value is not None),
    ]
    words += [f"without {visible_line(tool)}" for tool in profile.tools_off]
    system = cropped(visible_line(profile.system), TITLE_WIDTH) if profile.system else ""
    return "  ".join(word for word in (*words, system) if word)


def draw_tools(found: Sequence[ToolListed]) -> str:
    """Each tool: on or off, its effect, whether it asks; below it `name (required) type` for each argument."""
    return "\n".join(_tool(tool) for tool in found)


def _tool(tool: ToolListed) -> str:
    state = "on" if tool.on else "off"
    return f"{tool.name}  {state}, {tool.effect}, {VERDICTS[tool.verdict]}\n    {shape_words(tool.arguments)}"


def shape_words(schema: Mapping[str, Any]) -> str:
    """A JSON schema of a tool in one line: `{words: string, limit?: integer}`."""
    match schema.get("type"):
        case "object":
            needed = schema.get("required", ())
            inner = schema.get("properties", {}).items()
            spelled = [f"{name}{'' if name in needed else '?'}: {shape_words(one)}" for name, one in inner]
            return f"{{{', '.join(spelled)}}}"
        case "array":
            return f"[{shape_words(schema.get('items', {}))}]"
        case kind:
            return str(kind or "anything")


def moment(at_ms: int) -> str:
    """A time as this place's clock shows it; damage can have made it one that no clock shows."""
    if not 0 <= at_ms <= limits.time_ms_max:
        return f"no time ({at_ms})"
    return datetime.fromtimestamp(at_ms / 1000).astimezone().strftime("%Y-%m-%d %H:%M:%S")
