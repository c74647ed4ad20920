"""Verbs that keep conversations: new, ls, use, set, trash, and profiles as they stand."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from msgspec.structs import replace

from forkwood.domain import choices, policy
from forkwood.domain.act import ConversationCreated, SettingSet, TrashChanged
from forkwood.domain.conversation import Conversation, ConversationSettings, TitledBy
from forkwood.domain.errors import NotFound
from forkwood.domain.event import ConversationUsed
from forkwood.domain.policy import Grant, Policy
from forkwood.domain.response import Affects, SettingChange, ToolListed, Trash
from forkwood.domain.settings import Profile
from forkwood.domain.tool import ToolSealed
from forkwood.runtime import naming
from forkwood.runtime.acts import Acting, OpenAct
from forkwood.store import conversations, grants, log, nodes
from forkwood.store.db import Tx


class Keeping(Acting):
    """new, begin_first, listed, conversation, use, set, tools, trash, profiles."""

    def new(
        self,
        *,
        title: str | None = None,
        model: str | None = None,
        system: str | None = None,
        profile: str | None = None,
        key: str | None = None,
    ) -> Conversation:
        """A new conversation, made current. What is given here counts before what the profile says."""

        def prepare() -> Callable[[Tx], Conversation]:
            settings = begun_with(self.house.settings.system, self._profile(profile), profile, model, system)
            if settings.tools_off:
                _refuse_unknown(settings.tools_off, self.house.tools)
            named = None if title is None else choices.parse("title", title)
            if settings.model:
                settings = replace(settings, model=self.house.known_model(settings.model))
            return lambda tx: self._made(tx, named, settings)

        arguments = {"title": title, "model": model, "system": system, "profile": profile}
        return self._once_ready("new", arguments, Conversation, prepare, key=key)

    def begin_first(self) -> None:
        """Begin a conversation where there is no current one: the first words need no ceremony. Of several processes
        that come at once, one does."""
        with self.house.store.read() as tx:
            if conversations.current(tx) is not None:
                return
        settings = begun_with(self.house.settings.system, Profile(), None, None, None)
        with self.house.store.write() as tx:
            if conversations.current(tx) is None:
                self._made(tx, None, settings)

    def _made(self, tx: Tx, title: str | None, settings: ConversationSettings) -> Conversation:
        new_id, now_ms = self.house.new_id(), self.house.clock()
        titled_by: TitledBy = "rule" if title is None else "user"
        seq = conversations.create(tx, new_id, now_ms, title=title or "", titled_by=titled_by, settings=settings)
        conversations.make_current(tx, seq)
        act = OpenAct(tx, self.house, seq)
        act.effects.append(TrashChanged(conversation=new_id, hidden=False))
        act.record(ConversationCreated, settings=conversations.settings(tx, seq))
        return conversations.row(tx, seq)

    def listed(self, *, archived: bool = False) -> list[Conversation]:
        """Conversations that are not in the trash, newest first; the archived ones where ARCHIVED."""
        with self.house.store.read() as tx:
            return conversations.listed(tx, archived=archived)

    def conversation(self, name: str | None = None) -> Conversation:
        """One conversation; None is the current one. Raises NotFound."""
        with self.house.store.read() as tx:
            return conversations.row(tx, naming.conversation(tx, name))

    def use(self, name: str, *, key: str | None = None) -> Conversation:
        """Make a conversation the one that commands mean when they name none."""

        def do(tx: Tx) -> Conversation:
            seq = naming.conversation(tx, name)
            conversations.make_current(tx, seq)
            log.write(tx, ConversationUsed(), who=self.house.who, now_ms=self.house.clock(), conversation=seq)
            return conversations.row(tx, seq)

        return self._once("use", {"name": name}, Conversation, do, key=key)

    def set(
        self, setting: str, value: str, *, conversation: str | None = None, key: str | None = None
    ) -> SettingChange:
        """Change a setting of a conversation, for every head alike. The value before stays readable in the log."""

        def prepare(here: int) -> Callable[[OpenAct], SettingChange]:  # noqa: ARG001 - the same model everywhere
            model = choices.parse("model", value) if setting == "model" else None
            known = model and self.house.known_model(model)
            return lambda act: _changed(act, setting, value, known)

        return self._act_ready(
            "set", {"setting": setting, "value": value}, SettingChange, prepare, conversation=conversation, key=key
        )

    def tools(self, *, conversation: str | None = None) -> list[ToolListed]:
        """Every tool as it stands in a conversation (None: the current one, or a new one where there is none)."""
        with self.house.store.read() as tx:
            named = conversation is not None or conversations.current(tx) is not None
            row = conversations.row(tx, naming.conversation(tx, conversation)) if named else None
            held = grants.listed(tx, naming.conversation(tx, conversation)) if named else []
        given = tuple(
            Grant(id=one.id, tool=one.tool, scope=one.scope, of=one.of) for one in held if row and one.of == row.id
        )
        now = Policy(mode=row.approvals if row else "ask", denied=self.house.settings.deny, grants=given)
        off = row.tools_off if row else ()
        return [_listed(tool.sealed, now, off) for tool in self.house.tools.values()]

    def trash(self, *, conversation: str | None = None) -> Trash:
        """What is hidden: conversations in the trash, and messages (None: of all conversations)."""
        with self.house.store.read() as tx:
            only = None if conversation is None else naming.conversation(tx, conversation)
            whole = conversations.trashed(tx) if only is None else []
            return Trash(conversations=tuple(whole), nodes=tuple(nodes.hidden(tx, only)))

    def profiles(self) -> dict[str, Profile]:
        """The profiles of `config.toml` by name."""
        return dict(self.house.settings.profiles)

    def _profile(self, name: str | None) -> Profile:
        profiles = self.house.settings.profiles
        if name is None:
            return Profile()
        if name not in profiles:
            known = ", ".join(sorted(profiles)) or "there are none yet"
            raise NotFound(
                f"there is no profile '{name}'", hint=f"profiles in config.toml: {known}", candidates=sorted(profiles)
            )
        return profiles[name]


def begun_with(
    default_system: str | None, profile: Profile, name: str | None, model: str | None, system: str | None
) -> ConversationSettings:
    """The settings a conversation begins with: what was given, else the profile's, else the program's."""
    given_system = None if system is None else choices.parse("system", system)
    return ConversationSettings(
        model=profile.model if model is None else choices.parse("model", model),
        system=given_system if system is not None else profile.system or default_system,
        tools_off=tuple(sorted(profile.tools_off)),
        params=profile.params,
        profile=name,
    )


def _listed(tool: ToolSealed, now: Policy, off: Collection[str]) -> ToolListed:
    return ToolListed(
        name=tool.spec.name,
        on=tool.spec.name not in off,
        effect=tool.effect,
        verdict=policy.judge(now, tool),
        arguments=tool.spec.schema,
        description=tool.spec.description,
    )


def _refuse_unknown(wanted: Collection[str], tools: Collection[str]) -> None:
    """Raises NotFound where one of WANTED is none of TOOLS: nobody believes a tool to be off that has another name."""
    unknown = sorted(set(wanted) - set(tools))
    if unknown:
        raise NotFound(
            f"there is no tool '{unknown[0]}'", hint=f"tools: {', '.join(sorted(tools))}", candidates=sorted(tools)
        )


def _changed(act: OpenAct, setting: str, value: str, model: str | None) -> SettingChange:
    column, new = _parsed(act, setting, value, model)
    before = act.write_setting(column, new)
    if act.effects:
        act.record(SettingSet)
    row = conversations.row(act.tx, act.conversation)
    return SettingChange(conversation=row, key=setting, before=before, affects=_reach(act, setting, row.id))


def _parsed(act: OpenAct, setting: str, value: str, model: str | None) -> tuple[str, Any]:
    """The column a setting stands in, and its new value; MODEL is that value where the setting is the model."""
    row = conversations.row(act.tx, act.conversation)
    new = choices.parse(setting, value, row.tools_off)
    if setting == "tools":
        _refuse_unknown(set(choices.tools_named(value)) - set(row.tools_off), act.house.tools)
    match setting:
        case "model":
            return setting, model
        case "title":
            return "title", new or ""
        case "tools":
            return "tools_off", new
        case parameter if parameter in choices.PARAMETERS:
            return "params", replace(row.params, **{parameter: new})
        case _:
            return setting, new


def _reach(act: OpenAct, setting: str, conversation: str) -> Affects | None:
    """A changed system prompt or tool switch counts on every branch: how many those are."""
    if setting not in {"system", "tools"}:
        return None
    branches = nodes.count_leaves(act.tx, act.conversation)
    return Affects(
        branches=branches, conversations=(conversation,), note="it counts on every branch, from the next turn"
    )
