"""How a reply was made, as a person reads it: the verdict first, then what went in and what stayed out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from forkwood.domain.ids import ending
from forkwood.domain.interaction import Interaction, answer_words
from forkwood.domain.prompt import ToolSpec
from forkwood.domain.response import Why
from forkwood.surfaces.cli.glyphs import Inks
from forkwood.surfaces.cli.screen_text import cropped, indented, visible, visible_line
from forkwood.surfaces.cli.show_memory import held_words
from forkwood.surfaces.cli.words import count_of, dollars, part_words

SYSTEM_WIDTH = 80


def draw_why(why: Why, inks: Inks) -> str:
    """WHY in lines."""
    lines = [_verdict(why, inks)]
    if why.run:
        lines.append(f"run      {ending(why.run)}, turn {why.turn}")
    lines += [f"asked by {_asker(why)}"] if why.door else []
    lines += _manifest(why)
    lines.append(f"entries  {count_of(len(why.entries), 'message')}: {' '.join(map(ending, why.entries))}")
    lines += _summary(why)
    lines += [f"note     {held_words(one)}" for one in why.memories]
    lines += [f"left out {ending(left.id)}: {visible(left.reason)}" for left in why.left_out]
    if why.prompt_digest:
        lines.append(inks.dim(f"prompt   {why.prompt_digest}"))
    if why.request_digest:
        lines.append(inks.dim(f"request  {why.request_digest}"))
    lines += [f"asked    {_asked(one)}" for one in why.interactions]
    lines += [f"granted  {visible_line(one.tool)} by {ending(one.id)}, in this {one.scope}" for one in why.grants]
    lines += _spent(why)
    return "\n".join(lines)


def draw_prompt(why: Why, inks: Inks) -> str:
    """The prompt of WHY in words, all that was sent: system prompt, each message under its role, the tools offered."""
    if why.prompt is None:
        return "The prompt cannot be built again."
    said = [("system", visible(why.prompt.system))] if why.prompt.system else []
    said += [(message.role, "\n".join(map(part_words, message.parts))) for message in why.prompt.messages]
    said += [("tools offered", "\n".join(map(_offered, why.prompt.tools)))] if why.prompt.tools else []
    return "\n\n".join(f"{inks.bold(role)}\n{indented(words)}" for role, words in said)


def _offered(tool: ToolSpec) -> str:
    schema = visible_line(json.dumps(tool.schema, ensure_ascii=False))
    return f"{visible_line(tool.name)}: {visible(tool.description)}\n{indented(schema)}"


def _verdict(why: Why, inks: Inks) -> str:
    reason = f": {visible(why.reason)}" if why.reason else ""
    if why.verified:
        return f"{inks.mark('verified')}  built again from the books, the prompt has the digest it was sent with"
    if why.verified is None:
        return f"{inks.bold('not verifiable')}{reason}"
    return f"{inks.alarm('differs')}{reason or ': the prompt built again has another digest'}"


def _manifest(why: Why) -> list[str]:
    sealed = why.manifest or {}
    lines = [f"model    {visible_line(str(sealed['model']))}"] if sealed.get("model") else []
    if sealed.get("system"):
        lines.append(f"system   {cropped(visible_line(str(sealed['system'])), SYSTEM_WIDTH)}")
    if sealed.get("parameters"):
        said = ", ".join(f"{name} {value}" for name, value in sealed["parameters"].items())
        lines.append(f"params   {visible_line(said)}")
    return lines + _allowed(sealed)


def _asker(why: Why) -> str:
    """The door, the client and the key of the command that asked for the run."""
    client = f", client {visible_line(why.client)}" if why.client and why.client != why.door else ""
    return f"{why.door}{client}{f', key {visible_line(why.key)}' if why.key else ''}"


def _allowed(sealed: Mapping[str, Any]) -> list[str]:
    """Which tools the model was offered, which were switched off, and what the policy said of them."""
    names = [visible_line(str(tool["spec"]["name"])) for tool in sealed.get("tools", ())]
    off = [visible_line(str(name)) for name in sealed.get("tools_off", ())]
    lines = [f"tools    {', '.join(names)}"] if names else []
    lines += [f"off      {', '.join(off)}"] if off else []
    policy = sealed.get("policy") or {}
    if names and policy.get("mode"):
        denied = ", ".join(visible_line(str(name)) for name in policy.get("denied", ()))
        never = f", never {denied}" if denied else ""
        lines.append(f"policy   {policy['mode']}{never}")
    return lines


def _summary(why: Why) -> list[str]:
    if why.summary is None:
        return []
    covers, words = why.summary.covers, cropped(visible_line(why.summary.text), SYSTEM_WIDTH)
    first = f"the first {count_of(len(covers), 'message')}, {ending(covers[0])} to {ending(covers[-1])}"
    lines = [f"summary  {ending(why.summary.id)} stands for {first}: {words}"]
    whole, used = why.summary.tokens_without, why.summary.tokens_with
    if whole is not None and used is not None:
        lines.append(f"         about {used:,} tokens in place of {whole:,}")
    return lines


def _asked(one: Interaction) -> str:
    about = visible_line(one.call.name) if one.call else "the prompt"
    said = answer_words(one.answer)
    how = f"{visible_line(said)}, by {one.by} via {one.via}" if said else one.status
    return f"{one.kind} {ending(one.id)} of {about}: {how}"


def _spent(why: Why) -> list[str]:
    if not why.usage:
        return []
    tokens = f"{why.usage.get('input', 0):,} tokens in, {why.usage.get('output', 0):,} out"
    cost = dollars(why.cost)
    return [f"used     {tokens}{f', {cost}' if cost else ''}"]
