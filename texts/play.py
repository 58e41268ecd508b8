"""Plays one side of a turn: asks the contestant's server, stores the answer, then settles the row. For workers only."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from typing import Any

from django.conf import settings
from structlog.contextvars import bound_contextvars

from arena import actions
from arena.actions import Ending
from arena.documents import identity
from arena.models import Attempt, Battle
from arena.queue.retry import retry_while_busy
from arena.queue.sweeps import worker_name
from arena.shapes import FailureReason
from arena.store import EpisodeSuperseded, get_store
from texts import again, cache, health, moderation
from texts.about import category_of, language_of
from texts.cache import Said
from texts.chunks import count
from texts.client import AnswerStopped, AnswerStream, Message, ServerFailed
from texts.conversation import conversation
from texts.models import Answer, LanguageModel, Prompt
from texts.names import names_itself
from texts.progress import Reporter
from texts.style import style_of

log = logging.getLogger(__name__)
ANSWERED, TOO_LONG = "answered", "length_limit"


class Moderated(Exception):
    """The answer must not be shown."""


def play(episode_id: str) -> None:
    """Play a queued attempt to its end and settle it. A duplicate or late message does nothing."""
    attempt = retry_while_busy(lambda: actions.claim_attempt(episode_id, worker_name()))
    if attempt is None:
        log.info("%s cannot be claimed", episode_id)
        return
    ids = {"battle_id": attempt.turn.battle_id, "turn_id": attempt.turn_id, "episode_id": episode_id}
    with bound_contextvars(**ids, model=attempt.model_id):
        _play_claimed(attempt)


def _play_claimed(attempt: Attempt) -> None:
    model = attempt.model.languagemodel
    try:
        ending, details = _answer(attempt, model)
    except (AnswerStopped, EpisodeSuperseded) as reason:
        log.info("try %s was given up: %r", attempt.tries, reason)
    except ServerFailed as failure:
        _fail(attempt, failure.reason, str(failure))
        health.check(model)
    except Moderated as reason:
        _fail(attempt, "moderated", str(reason))
    except Exception as error:  # the task's edge: the turn must settle with a reason
        log.exception("%s failed", attempt.episode_id)
        _fail(attempt, "internal", f"{type(error).__name__}: {error}")
    else:
        said = attempt.turn.instruction  # what it is about is found before the transaction, which others wait for
        prompt = Prompt(turn_id=attempt.turn_id, category=category_of(said), language=language_of(said))
        retry_while_busy(lambda: actions.finish_attempt(attempt, ending, lambda: _keep(attempt, details, prompt)))


def _answer(attempt: Attempt, model: LanguageModel) -> tuple[Ending, Answer]:
    messages = conversation(attempt, model)
    kept = again.kept_answer(attempt)
    with Reporter(attempt, moderation.is_on(), kept.text if kept else None) as reporter:
        said = _known(attempt, model, messages, reporter) or _asked(model, messages, reporter)
        if kept is None:
            _moderate(said.text)
    if kept is not None:
        return _keep_answer(attempt, reporter, kept)
    cache.keep(model, messages, said)
    reporter.send_rest()
    details = _details(attempt, model, said)
    retry_while_busy(lambda: get_store().save(_document(attempt, said.text, details)))
    return Ending(count(len(said.text)), _ended(said.finish_reason), said.duration_ms), details


def _known(attempt: Attempt, model: LanguageModel, messages: Sequence[Message], reporter: Reporter) -> Said | None:
    """An answer that was given before. Whoever asks again wants another one."""
    said = None if again.repeats(attempt.turn) else cache.recall(model, messages)
    if said is not None:
        reporter.add(said.text)
    return said


def _asked(model: LanguageModel, messages: Sequence[Message], reporter: Reporter) -> Said:
    """What the server answers. Raises ServerFailed and AnswerStopped."""
    longest = settings.TEXT["answer_characters"]
    began, first = time.perf_counter(), None
    with AnswerStream(model, messages, stopped=lambda: reporter.given_up) as answer:
        for piece in answer:
            first = first or time.perf_counter()
            reporter.add(piece[: longest - len(reporter.text)])
            if len(reporter.text) >= longest:
                answer.finish_reason = TOO_LONG
                break
    if first is None:
        raise ServerFailed(f"an empty answer ({answer.finish_reason})")
    return Said(
        text=reporter.text,
        finish_reason=answer.finish_reason,
        prompt_tokens=answer.prompt_tokens,
        answer_tokens=answer.pieces if answer.answer_tokens is None else answer.answer_tokens,
        counted=answer.answer_tokens is not None,
        first_token_ms=(first - began) * 1e3,
        duration_ms=(time.perf_counter() - began) * 1e3,
    )


def _details(attempt: Attempt, model: LanguageModel, said: Said) -> Answer:
    cost = model.cost_of(said.prompt_tokens, said.answer_tokens)
    return Answer(
        attempt_id=attempt.episode_id,
        finish_reason=said.finish_reason,
        prompt_tokens=said.prompt_tokens,
        answer_tokens=said.answer_tokens,
        tokens_counted=said.counted,
        first_token_ms=said.first_token_ms,
        cost=0.0 if said.cached else cost,
        cached=said.cached,
        names_itself=names_itself(said.text, attempt.turn.instruction, LanguageModel.objects.all()),
        **style_of(said.text)._asdict(),
    )


def _keep_answer(attempt: Attempt, reporter: Reporter, kept: again.Kept) -> tuple[Ending, Answer]:
    """Settle with the earlier answer. It was shown at the pace of its model's new one: so it does not tell how quick
    the other side is alone."""
    reporter.send_rest()
    details = kept.answer
    details.attempt_id = attempt.episode_id
    retry_while_busy(lambda: get_store().save(_document(attempt, kept.text, details)))
    return Ending(count(len(kept.text)), _ended(details.finish_reason), kept.duration_ms), details


def _moderate(text: str) -> None:
    """Raises Moderated, also where the answer could not be judged."""
    try:
        if moderation.is_flagged(text):
            raise Moderated("the answer is against the rules of this site")
    except moderation.ModerationFailed as failure:
        raise Moderated(f"not judged: {failure}") from failure


def _ended(finish_reason: str) -> str:
    return TOO_LONG if finish_reason in ("length", TOO_LONG) else ANSWERED


def _document(attempt: Attempt, text: str, details: Answer) -> dict[str, Any]:
    return {
        **identity(attempt),
        "format": "text-1",
        "text": text,
        "finish_reason": details.finish_reason,
        "prompt_tokens": details.prompt_tokens,
        "answer_tokens": details.answer_tokens,
    }


def _keep(attempt: Attempt, details: Answer, prompt: Prompt) -> None:
    """Save the rows, in place of those of an earlier try. An answer that names its model spoils the battle: the visitor
    may vote and learns nothing of it, and the vote does not count."""
    if details.names_itself:
        log.warning("%s names its model or maker", attempt.episode_id)
        Battle.objects.filter(battle_id=attempt.turn.battle_id).update(spoiled=True)
    columns = [field.name for field in Answer._meta.concrete_fields if not field.primary_key]
    Prompt.objects.bulk_create([prompt], ignore_conflicts=True)
    Answer.objects.bulk_create([details], update_conflicts=True, unique_fields=["attempt"], update_fields=columns)


def _fail(attempt: Attempt, reason: FailureReason, story: str) -> None:
    log.warning("%s failed: %s (%s)", attempt.episode_id, reason, story)
    retry_while_busy(lambda: actions.fail_attempt(attempt, reason, story))
