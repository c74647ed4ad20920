"""ask_user: the model asks the person up to three questions, and the run waits for the answers."""

from __future__ import annotations

from forkwood.domain import limits
from forkwood.domain.message import ToolCall
from forkwood.domain.tool import Occasion, ToolOutcome, ToolSealed
from forkwood.tools.shapes import spec, strict, text

_OPTIONS = {
    "type": "array",
    "description": "Answers to choose from, where there are likely ones. The person may always answer in other words.",
    "items": text("One possible answer, in a few words.", limits.question_characters_max),
    "minItems": 1,
    "maxItems": limits.question_options_max,
}
_QUESTIONS = {
    "type": "array",
    "description": "One to three questions; the person sees them together.",
    "items": strict(
        {"text": text("The question, as the person reads it.", limits.question_characters_max), "options": _OPTIONS},
        required=("text",),
    ),
    "minItems": 1,
    "maxItems": limits.questions_max,
}
_DESCRIPTION = (
    "Ask the person you work for, and wait for the answer. Use it when you cannot go on without something that only "
    "they can tell: a decision, a preference, a fact you cannot look up. Do not use it for what you can find out "
    "yourself, nor to ask whether you may use another tool: they are asked that anyway. Ask all you need in one call."
)


class AskUser:
    """A question is an interaction of its run: no code of a tool ever runs for it."""

    sealed = ToolSealed(
        spec=spec("ask_user", _DESCRIPTION, {"questions": _QUESTIONS}, required=("questions",)),
        effect="read",
        after_crash="again",
        question=True,
    )

    async def use(self, call: ToolCall, at: Occasion) -> ToolOutcome:
        """Never: the machine asks the person instead."""
        raise AssertionError(f"{call.name} in run {at.run}: a question is asked, not used")

    async def inspect(self, call: ToolCall, at: Occasion) -> ToolOutcome | None:  # noqa: ARG002 - the protocol's
        """Nothing is left of a question but its interaction."""
        return None
