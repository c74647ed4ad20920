"""Verbs about models: which can be reached, which answers here, how the embedded one and keys are got."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from forkwood.domain.errors import Misused
from forkwood.domain.model import ModelListed
from forkwood.domain.response import Answering, Pulled
from forkwood.domain.settings import Provider
from forkwood.runtime import naming
from forkwood.runtime.acts import Acting
from forkwood.runtime.house import ended
from forkwood.store import conversations
from forkwood.store.db import Tx

STRETCHED_ROUNDS = 200_000


class Models(Acting):
    """models, survey, answering, models_use, check_provider, models_key, models_pull."""

    def models(self, *, remote: bool = False) -> list[ModelListed]:
        """What can be reached now, the default marked; with REMOTE providers with keys are asked for their lists."""
        return list(self.survey(remote=remote)[0])

    def survey(self, *, remote: bool = False) -> tuple[tuple[ModelListed, ...], tuple[str, ...]]:
        """What can be reached now, and in words what could not."""
        from forkwood.models import registry

        found = ended(registry.survey(self.house.settings, self.house.environ, remote=remote))
        return found.models, found.notes

    def answering(self, *, conversation: str | None = None) -> Answering:
        """The model that would answer in a conversation now, and why it is that one. Raises ProviderFailed."""
        with self.house.store.read() as tx:
            chosen = conversations.row(tx, naming.conversation(tx, conversation)).model
        if chosen:
            return Answering(model=chosen, why="this conversation says so", notes=())
        found = self.house.default_model()
        return Answering(model=found.name, why=found.why, notes=found.notes)

    def models_use(self, name: str, *, key: str | None = None) -> str:
        """Make a model the default from now on (`model` in config.toml); its name as it is kept. Raises NotFound."""

        def prepare() -> Callable[[Tx], str]:
            settled = self.house.known_model(name)
            return lambda _: self._used(settled)

        return self._once_ready("models_use", {"name": name}, str, prepare, key=key)

    def _used(self, name: str) -> str:
        from forkwood import config

        config.config_set(Path(self.house.settings.home), "model", name)
        self.house.settings = replace(self.house.settings, model=name)
        return name

    def check_provider(self, provider: str) -> None:
        """Raises Misused where no PROVIDER of that name is known: no key need be asked for then."""
        from forkwood.models import catalog

        if provider not in catalog.providers(self.house.settings.providers):
            known = ", ".join(sorted(catalog.providers(self.house.settings.providers)))
            raise Misused(f"no provider is called '{provider}'", hint=f"providers: {known}", provider=provider)

    def models_key(self, provider: str, value: str, *, key: str | None = None) -> str:
        """Keep a key for a provider, away from every setting and log; the reference under which it is found.

        KEY is the command's, as everywhere: its receipt knows VALUE again and has no trace of it that can be guessed.
        """
        arguments = {"provider": provider, "value": "" if key is None else stretched(value.strip(), key)}

        def prepare() -> Callable[[Tx], str]:
            reference = self._kept(provider, value)
            return lambda _: reference

        return self._once_ready("models_key", arguments, str, prepare, key=key)

    def _kept(self, provider: str, value: str) -> str:
        from forkwood import config

        self.check_provider(provider)
        if not value.strip():
            raise Misused("the key is empty", hint="type or pipe the provider's key")
        settings = self.house.settings
        reference = config.keep_key(Path(settings.home), provider, value.strip())
        before = settings.providers.get(provider, Provider())
        now = replace(before, keys=(reference, *(other for other in before.keys if other != reference)))
        self.house.settings = replace(settings, providers={**settings.providers, provider: now})
        return reference

    def models_pull(self, progress: Callable[[int, int], None], *, key: str | None = None) -> Pulled:
        """Fetch the embedded model's weights into the home, checked; PROGRESS is told bytes done, of all."""

        def prepare() -> Callable[[Tx], Pulled]:
            from forkwood.models import pull

            found = pull.pull(Path(self.house.settings.home), progress)
            return lambda _: Pulled(path=found.path, bytes=found.bytes, already=found.already)

        return self._once_ready("models_pull", {}, Pulled, prepare, key=key)


def stretched(secret: str, salt: str) -> str:
    """What SECRET is known by again and cannot be found by: guessing costs as much as this, for each guess."""
    from hashlib import pbkdf2_hmac

    return pbkdf2_hmac("sha256", secret.encode(), salt.encode(), STRETCHED_ROUNDS).hex()
