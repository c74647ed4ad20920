"""What a provider says when it fails, as ProviderFailed: its kind, status, code and words, cleaned and bounded."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from forkwood.domain import limits
from forkwood.domain.errors import FailureKind, ProviderFailed
from forkwood.domain.masking import echoable, settled
from forkwood.domain.text import storable
from forkwood.models.masking import masked

SHOWN_CHARACTERS_MAX = 300
"""How much is shown of a response that is no error report at all."""
READ_BYTES_MAX = 8 * limits.KIB
"""How much of such a response is looked at for words."""

_UNSEEN = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_TAGS = re.compile(r"<(script|style)\b.*?</\1>|<[^>]*>", re.DOTALL | re.IGNORECASE)
_PER_TIME = re.compile(r"per (minute|second|hour|day)|\b[rt]p[md]\b|try again in|rate limit", re.IGNORECASE)
_QUOTA = re.compile(
    r"quota|billing|credit balance|credits\b|insufficient (balance|funds)|payment required|(spend\w*|usage) limit",
    re.IGNORECASE,
)
_CONTEXT = re.compile(
    r"context.?(length|window|size|limit)|maximum context|exceed\w* (the |this )?(model'?s? )?context|n_ctx"
    r"|(prompt|input|request|conversation) (is |are )?too (long|large)|too many (input |prompt )?tokens"
    r"|input (token count|length|tokens) .{0,40}exceed|exceeds the (maximum|available) .{0,30}(tokens|context)"
    r"|reduce the length|too long for (this|the) model|maximum (input|prompt) (length|tokens)",
    re.IGNORECASE,
)
_BUSY = re.compile(r"server busy|maximum pending requests", re.IGNORECASE)
_COUNTS = (
    re.compile(r"(?P<got>\d{1,15}) tokens > (?P<most>\d{1,15})"),
    re.compile(r"maximum context length (?:is|of) (?P<most>\d{1,15}) tokens.*?(?P<got>\d{1,15}) tokens", re.DOTALL),
    re.compile(r"\((?P<got>\d{1,15}) tokens\) exceeds the available context size \((?P<most>\d{1,15})"),
    re.compile(r"token count \((?P<got>\d{1,15})\) exceeds .*?\((?P<most>\d{1,15})\)"),
)

_KINDS: dict[FailureKind, str] = {
    "overloaded": "overloaded_error overloaded server_is_overloaded slow_down engine_overloaded",
    "rate_limit": "rate_limit_error rate_limit_exceeded rate_limited too_many_requests resource_exhausted tokens"
    " requests",
    "unavailable": "api_error server_error internal_server_error internal internal_error unavailable aborted"
    " service_unavailable unavailable_error bad_gateway",
    "timeout": "timeout_error timeout deadline_exceeded request_timeout gateway_timeout",
    "auth": "authentication_error invalid_api_key permission_error permission_denied unauthenticated api_key_invalid"
    " unauthorized forbidden",
    "quota": "insufficient_quota billing_error payment_required billing_hard_limit_reached usage_limit_reached",
    "context_overflow": "context_length_exceeded exceed_context_size_error context_window_exceeded request_too_large",
    "refused": "content_filter content_policy_violation refusal moderation invalid_prompt safety",
    "not_found": "not_found_error model_not_found not_found",
}
_KIND_OF_CODE = {code: kind for kind, codes in _KINDS.items() for code in codes.split()}
_KIND_OF_STATUS: dict[int, FailureKind] = {
    401: "auth",
    402: "quota",
    403: "auth",
    404: "not_found",
    408: "timeout",
    413: "context_overflow",
    425: "unavailable",
    429: "rate_limit",
    504: "timeout",
    529: "overloaded",
}
_HINTS: dict[FailureKind, str] = {
    "auth": "check the key: `forkwood models key {provider}` stores another one",
    "rate_limit": "wait a little, or choose another model",
    "overloaded": "wait a little, or choose another model",
    "unavailable": "try again later, or choose another model",
    "timeout": "try again, or raise [timeouts] in config.toml",
    "transport": "check the connection and try again",
    "context_overflow": "choose a model with a longer context, or branch from an earlier message;"
    " Ollama gives as much as it is asked for: `forkwood set context N`",
    "quota": "the account at {provider} is used up: look there, or choose another model",
    "refused": "edit the message, or choose another model",
    "not_found": "`forkwood models` lists what can be reached",
    "invalid_request": "a setting may not suit this model: `forkwood set` changes it",
    "protocol": "check the address of {provider}: what answers there may not be a model server",
    "unreachable": "check that {provider} runs and its address is right: `forkwood models` lists what can be reached",
}


class Peer(Struct, frozen=True, kw_only=True):
    """The other side of a call: its name for people, and the secrets that must not come back from it."""

    provider: str
    secrets: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"Peer(provider={self.provider!r})"


class Told(Struct, frozen=True, kw_only=True):
    """What an error report says in the fields that are known. Not yet cleaned."""

    message: str = ""
    codes: tuple[str, ...] = ()
    status: int | None = None
    prompt_tokens: int | None = None
    context: int | None = None
    retry_after: float | None = None


def from_response(peer: Peer, status: int, headers: Mapping[str, str], body: bytes, now: float) -> ProviderFailed:
    """The failure that a response with an error STATUS reports. HEADERS have lower-case names; NOW is Unix seconds."""
    told = told_of(parsed(body))
    if not told.message:
        told = msgspec.structs.replace(told, message=_visible(body, peer))
    wait = retry_after(headers, now)
    return _failed(peer, told, status, told.retry_after if wait is None else wait)


def from_frame(peer: Peer, value: Any) -> ProviderFailed:
    """The failure that VALUE, found inside a stream that began well, reports."""
    told = told_of(value)
    if not told.message:
        told = msgspec.structs.replace(told, message=str(value))
    return _failed(peer, told, told.status, told.retry_after)


def unexpected(peer: Peer, status: int, content_type: str, body: bytes) -> ProviderFailed:
    """The failure of a response that said all is well and held no reply: an error report, a page, or nothing."""
    value = parsed(body)
    if isinstance(value, dict | list) and (told := told_of(value)).message:
        return _failed(peer, told, told.status, told.retry_after)
    kind = clean(content_type.partition(";")[0], peer) or "no content type"
    came = f"{kind} instead of a reply: {shown(body, peer)}" if body.strip() else "nothing at all"
    return failure(peer, "protocol", f"{peer.provider} answered {status} with {came}", status=status)


def failure(
    peer: Peer, kind: FailureKind, message: str, *, retry_after: float | None = None, **facts: Any
) -> ProviderFailed:
    """A failure of KIND with the hint that goes with it. MESSAGE is already clean."""
    hint = _HINTS.get(kind, "").format(provider=peer.provider)
    return ProviderFailed(kind, message, hint=hint, retry_after=retry_after, provider=peer.provider, **facts)


def clean(text: str, peer: Peer) -> str:
    """TEXT on one line, storable, without control characters and secrets, cut to its bound."""
    most = limits.error_body_bytes_max
    plain = _UNSEEN.sub("", storable(text if len(text) <= most else _before_cut(text[:most], peer)))
    return _cut(masked(" ".join(plain.split()), peer.secrets), limits.error_characters_max)


def parsed(body: bytes) -> Any:
    """The JSON value BODY holds, or None."""
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError):
        return None


def shown(body: bytes, peer: Peer) -> str:
    """The words at the beginning of BODY, clean and without mark-up, for a person to see what came."""
    return _cut(clean(_visible(body, peer), peer), SHOWN_CHARACTERS_MAX)


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds to wait, as the response asks: in milliseconds, in seconds, or until a date by the server's own clock."""
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after", "").strip()
    seconds = _number(value)
    if seconds is not None:
        return seconds
    until = _date(value)
    if until is None:
        return None
    said = _date(headers.get("date", ""))
    return max(0.0, until - (now if said is None else said))


def told_of(value: Any) -> Told:
    """What VALUE, the JSON of an error report in any of the known shapes, says."""
    if isinstance(value, list):
        value = value[0] if value else None
    if isinstance(value, str):
        return Told(message=value)
    if not isinstance(value, dict):
        return Told()
    error = next((value[key] for key in ("error", "errors", "detail") if value.get(key)), value)
    if isinstance(error, list):
        error = error[0] if error else None
    if not isinstance(error, dict):
        return Told(message=error if isinstance(error, str) else "", codes=_codes(value, ()))
    details = error.get("details")
    return Told(
        message=_message(error),
        codes=_codes(error, details if isinstance(details, list) else ()),
        status=_status(error) or _status(value),
        prompt_tokens=_whole(error.get("n_prompt_tokens")),
        context=_whole(error.get("n_ctx")),
        retry_after=_delay(details if isinstance(details, list) else ()),
    )


def _failed(peer: Peer, told: Told, status: int | None, wait: float | None) -> ProviderFailed:
    kind = kind_of(told, status)
    words = clean(told.message, peer)
    code = clean(told.codes[0], peer) if told.codes else None
    said = f"{words} ({code})" if code and code.lower() not in words.lower() else words
    opening = f"{peer.provider} reported an error" if status is None else f"{peer.provider} answered {status}"
    got, most = _counts(told) if kind == "context_overflow" else (None, None)
    counts = {"prompt_tokens": got, "context": most} if got is not None and most is not None else {}
    return failure(
        peer,
        kind,
        f"{opening}: {said}" if said else opening,
        retry_after=wait,
        status=status,
        code=code,
        words=words,
        **counts,
    )


def kind_of(told: Told, status: int | None) -> FailureKind:
    """How this failed: words about money and pace before words about length, the provider's code before its status."""
    kinds = [kind for code in told.codes if (kind := _KIND_OF_CODE.get(code.lower()))]
    words = " ".join((told.message, *told.codes))
    if status == 402 or "quota" in kinds:
        return "quota"
    if status not in {401, 403, 404}:
        if _PER_TIME.search(words):
            return "quota" if "too large" in words.lower() else "rate_limit"
        if _QUOTA.search(words):
            return "quota" if told.retry_after is None else "rate_limit"
        if "context_overflow" in kinds or (status != 429 and _CONTEXT.search(words)):
            return "context_overflow"
    if "refused" in kinds:
        return "refused"
    if kinds:
        return kinds[0]
    if _BUSY.search(words):
        return "overloaded"
    if status is None:
        return "protocol"
    return _KIND_OF_STATUS.get(status, "unavailable" if status >= 500 else "invalid_request")


def _visible(body: bytes, peer: Peer) -> str:
    """The text at the beginning of BODY without mark-up."""
    text = body[:READ_BYTES_MAX].decode("utf-8", "replace")
    return _TAGS.sub(" ", text if len(body) <= READ_BYTES_MAX else _before_cut(text, peer))


def _before_cut(text: str, peer: Peer) -> str:
    """TEXT, which goes on: a secret that the cut goes through is left out whole."""
    return settled(text, echoable(peer.secrets))[0]


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _message(error: dict[str, Any]) -> str:
    said = next((error[key] for key in ("message", "msg", "detail", "error") if isinstance(error.get(key), str)), "")
    metadata = error.get("metadata")
    raw = metadata.get("raw") if isinstance(metadata, dict) else None
    return f"{said}: {raw}" if isinstance(raw, str) and raw and raw not in said else said


def _codes(error: dict[str, Any], details: Any) -> tuple[str, ...]:
    named = [error.get(key) for key in ("code", "status", "type")]
    reasons = [detail.get("reason") for detail in details if isinstance(detail, dict)]
    return tuple(code for code in (*reasons, *named) if isinstance(code, str) and code and code != "error")


def _status(error: dict[str, Any]) -> int | None:
    found = [error.get(key) for key in ("code", "status_code", "status")]
    return next((one for one in found if isinstance(one, int) and 400 <= one <= 599), None)


def _delay(details: Any) -> float | None:
    delays = [detail.get("retryDelay") for detail in details if isinstance(detail, dict)]
    return next((_number(delay.removesuffix("s")) for delay in delays if isinstance(delay, str)), None)


def _counts(told: Told) -> tuple[int | None, int | None]:
    """Tokens of the prompt, and tokens of the model's context, where the report names both."""
    if told.prompt_tokens is not None and told.context is not None:
        return told.prompt_tokens, told.context
    found = next((one for shape in _COUNTS if (one := shape.search(told.message))), None)
    return (int(found["got"]), int(found["most"])) if found else (None, None)


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _number(text: str) -> float | None:
    """TEXT as a finite number of zero or more, or None."""
    return float(text) if re.fullmatch(r"\d{1,9}(\.\d{1,9})?", text.strip()) else None


def _date(text: str) -> float | None:
    """TEXT, an HTTP date, as Unix seconds; None for anything else."""
    from email.utils import parsedate_to_datetime

    try:
        return parsedate_to_datetime(text).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None
