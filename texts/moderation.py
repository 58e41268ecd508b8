"""Whether a prompt or an answer may be shown: by a list of words, by a moderation endpoint, by both or by nothing."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

from django.conf import settings

from arena.errors import ArenaError
from texts.models import LanguageModel


class PromptRefused(ArenaError):
    status, code = 422, "prompt_refused"
    detail = "This prompt is against the rules of this site. The models did not get it, and it is not stored."


class ModerationUnavailable(ArenaError):
    status, code = 503, "moderation_unavailable"
    detail = "Prompts cannot be checked right now. Nothing was started: send it again later."
    retry_after_s = 10


class ModerationFailed(Exception):
    """The endpoint did not judge a text."""


def is_on() -> bool:
    return bool(settings.TEXT["forbidden_words"] or settings.TEXT["moderation_url"])


def check_prompt(prompt: str) -> None:
    """Raises PromptRefused, and ModerationUnavailable where it could not be judged: nothing unjudged is shown."""
    try:
        refused = is_flagged(prompt)
    except ModerationFailed as failure:
        raise ModerationUnavailable from failure
    if refused:
        raise PromptRefused


def is_flagged(text: str) -> bool:
    """Raises ModerationFailed."""
    return has_forbidden_words(text) or (bool(settings.TEXT["moderation_url"]) and _endpoint_flags(text))


def has_forbidden_words(text: str) -> bool:
    path = settings.TEXT["forbidden_words"]
    if not path:
        return False
    try:
        pattern = _forbidden(path, Path(path).stat().st_mtime_ns)
    except (OSError, UnicodeDecodeError) as error:
        raise ModerationFailed(f"ARENA_TEXT_FORBIDDEN_WORDS: {error}") from error
    return pattern is not None and pattern.search(text) is not None


@lru_cache(maxsize=1)
def _forbidden(path: str, _changed_at: int) -> re.Pattern[str] | None:
    """Whole words and phrases, one a line, in any case; lines that begin with # are comments."""
    lines = (line.strip() for line in Path(path).read_text(encoding="utf-8").splitlines())
    phrases = [r"\s+".join(map(re.escape, line.split())) for line in lines if line and not line.startswith("#")]
    return re.compile(rf"(?<!\w)(?:{'|'.join(phrases)})(?!\w)", re.IGNORECASE) if phrases else None


def _endpoint_flags(text: str) -> bool:
    from texts.client import ServerFailed, judged  # the web process needs the client only for this

    about = {name: settings.TEXT[f"moderation_{name}"] for name in ("url", "model", "key_variable")}
    server = LanguageModel(base_url=about["url"], served_name=about["model"], key_variable=about["key_variable"])
    try:
        return judged(server, text)
    except ServerFailed as failure:
        raise ModerationFailed(str(failure)) from failure
