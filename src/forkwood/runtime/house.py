"""The house: what every verb needs, wired once. Store, settings, and where times, ids, chance and models come from."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from forkwood.domain.act import Who
from forkwood.domain.errors import ProviderFailed
from forkwood.domain.ids import Id, make_id
from forkwood.domain.masking import SECRET_CHARACTERS_MIN
from forkwood.domain.message import Via
from forkwood.domain.settings import Settings
from forkwood.store.db import Store

if TYPE_CHECKING:
    from forkwood.domain.model import Model
    from forkwood.domain.tool import Tool
    from forkwood.engine.showing import Engine
    from forkwood.models.registry import Chosen

T = TypeVar("T")


def wall_clock() -> int:
    """Now, in Unix milliseconds."""
    return time.time_ns() // 1_000_000


def ended(work: Coroutine[Any, Any, T]) -> T:
    """The result of WORK, waited for: also where a loop runs already, on a thread of its own then."""
    import asyncio

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(max_workers=1) as aside:
        return aside.submit(asyncio.run, work).result()


def _here() -> str:
    """The folder this process stands in; none where it was removed: a script named from there is not found then."""
    try:
        return str(Path.cwd())
    except FileNotFoundError:
        return ""


class House:
    """One store, one door, one client. Handed to every verb; holds no rule. What loads slowly is loaded when wanted."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        environ: Mapping[str, str],
        via: Via,
        *,
        clock: Callable[[], int] = wall_clock,
        chance: Callable[[int], bytes] = os.urandom,
        tools: Mapping[str, Tool] | None = None,
    ) -> None:
        self.store = store
        self._settings = settings
        self.environ = environ
        self.who = Who(by="user", via=via)
        self.clock = clock
        self.chance = chance
        self.notices: list[str] = []
        """What the next response should say besides: it concerns the store, not what was asked."""
        self._engine: Engine | None = None
        self._tools = tools
        self._models: dict[str, Model] = {}
        self._chosen: Chosen | None = None

    def new_id(self) -> Id:
        """A fresh name for something made now."""
        return make_id(self.clock(), self.chance(10))

    @property
    def settings(self) -> Settings:
        """What is set outside the store, as of now."""
        return self._settings

    @settings.setter
    def settings(self, now: Settings) -> None:
        """Another choice may follow from other settings: what was chosen and opened under the old ones is forgotten."""
        self._settings = now
        self._chosen = None
        self._models = {}

    @property
    def tools(self) -> Mapping[str, Tool]:
        """The tools there are, by name: the program's own, unless others were handed in."""
        if self._tools is None:
            from forkwood.tools.offered import offered

            self._tools = offered(self.store, self.clock, self.new_id)
        return self._tools

    @property
    def beside(self) -> Path:
        """The folder in which the store itself lies, wherever a link in the home leads: what several homes share of it,
        backups, what was set aside and the locks of drivers, lies there."""
        path = Path(self.store.path)
        return path.parent if path.is_absolute() else Path(self.settings.home)

    @property
    def begun_engine(self) -> Engine | None:
        """The engine, where something has been driven already: who only asks about runs needs none."""
        return self._engine

    @property
    def engine(self) -> Engine:
        """What drives runs: one for this process, which others know by its lock."""
        if self._engine is None:
            from forkwood.engine import driver
            from forkwood.engine.showing import Engine
            from forkwood.engine.supplies import Supplies

            self._engine = Engine(
                Supplies(
                    store=self.store,
                    clock=self.clock,
                    new_id=self.new_id,
                    open_model=self.open_model,
                    drivers=self.beside / driver.FOLDER,
                    settings=lambda: self.settings,
                    tools=self.tools,
                    secrets=lambda: tuple(self.secrets().values()),
                )
            )
        return self._engine

    async def open_model(self, name: str) -> Model:
        """The model of that name, opened once: what it keeps running is kept. Raises as `registry.open_model`."""
        if name not in self._models:
            from forkwood.models import registry

            self._models[name] = await registry.open_model(name, self.settings, self.environ)
        return self._models[name]

    def known_model(self, name: str) -> str:
        """NAME as it is kept (a script's path absolute). Raises Misused, and NotFound for a provider nobody knows."""
        from forkwood.models import names, registry

        settled = names.settled(name, _here())
        if not registry.is_known(settled, self.settings):
            raise ended(registry.nobody_knows(name, self.settings, self.environ))
        return settled

    def model_to_ask(self, name: str) -> str:
        """As `known_model`, for one that is to reply now. Raises NotFound too for a script whose file is not there."""
        from forkwood.models import registry

        settled = self.known_model(name)
        registry.check_script(settled)
        return settled

    def default_model(self) -> Chosen:
        """The model that answers where nobody chose one, and why it does. Looked for once. Raises ProviderFailed."""
        if self._chosen is None:
            from forkwood.models import registry

            self._chosen = ended(registry.default_model(self.settings, self.environ))
        return self._chosen

    def secrets(self) -> dict[str, str]:
        """Values that must not get about, by where they are found: credential-named variables, and keys in use.

        A keyring may ask its person, so it is asked only for the keys of models that were opened.
        """
        from forkwood.models import keys

        found, resolve = keys.credentials(self.environ), keys.Keys(self.environ)
        set_up = {key for one in self.settings.providers.values() for key in one.keys if not key.startswith("keyring:")}
        opened = {key for model in self._models.values() for key in model.binding.credentials}
        for reference in sorted(set_up | opened):
            with suppress(ProviderFailed):
                found.setdefault(reference.removeprefix("env:"), resolve(reference))
        return {name: value for name, value in found.items() if len(value) >= SECRET_CHARACTERS_MIN}

    def close(self) -> None:
        """Let go of the runs and the store; child processes end with this one. Not from inside an event loop."""
        if self._engine is not None:
            import asyncio

            asyncio.run(self._engine.close())
        self.store.close()
