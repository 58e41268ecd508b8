"""What is computed of both calls of a battle once it is voted on: first what the recordings tell, then their words."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

from celery import current_app
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from arena import actions
from arena.models import Vote
from arena.queue.dispatch import NOT_SENT
from voice.agents.base import AgentFailed
from voice.calls.caller import Noted, Said
from voice.calls.holding import Held
from voice.calls.keeping import columns_of, compress, held_again
from voice.calls.notes import judged, speech_in
from voice.evaluation.transcript import Role
from voice.models import VOICE, Conversation
from voice.scenarios.model import Scenario
from voice.speech.audio import RATE, SAMPLE_BYTES
from voice.speech.parts import Speech
from voice.speech.turns import Span

log = logging.getLogger(__name__)
TASK = "voice.evaluate"
EXPIRES_S = 3600
"""A message that no worker has taken by then; another one was sent meanwhile."""
PAUSE_MS = 800.0
"""A shorter pause of the caller is no end of an utterance."""
LATE, HOPELESS = timedelta(minutes=20), timedelta(days=2)
"""After the vote: an evaluation that has not ended is asked for again, until then."""
NO_JUDGE = "This site has no judge by a language model."
JUDGE_FAILED = "The judge did not answer, or not as it was asked to."
States = Conversation.Evaluation


def ask_to_evaluate(vote: Vote, **_: Any) -> None:
    """Have both calls of a voted battle evaluated, once the vote is stored. A message that is lost, as with its worker,
    is sent again by `ask_again`."""
    if vote.kind == VOICE:
        Conversation.objects.filter(call__battle_id=vote.battle_id).update(evaluation=States.COMPUTING)
        transaction.on_commit(partial(ask, vote.battle_id), robust=True)


def ask(battle_id: str) -> None:
    try:
        current_app.send_task(
            TASK, args=[battle_id], queue=settings.DRAWINGS_QUEUE, retry=False, ignore_result=True, expires=EXPIRES_S
        )
    except NOT_SENT as error:
        log.warning("The calls of %s are not evaluated yet: %r", battle_id, error)


def ask_again(older_than: timedelta = LATE, younger_than: timedelta = HOPELESS) -> list[str]:
    """Have those battles evaluated whose vote is so old and whose evaluation has not ended. Answers their ids. Asking
    twice does no harm."""
    now = timezone.now()
    unfinished = Conversation.objects.filter(evaluation__in=(States.COMPUTING, States.PARTIAL))
    late = unfinished.filter(
        call__battle__vote__voted_at__lt=now - older_than, call__battle__vote__voted_at__gt=now - younger_than
    )
    found = sorted({str(battle_id) for battle_id in late.values_list("call__battle_id", flat=True)})
    for battle_id in found:
        ask(battle_id)
    return found


def evaluate_battle(battle_id: str) -> None:
    """Evaluate both calls: partial once latencies, slots and criteria are computed, complete with the words that a
    recogniser hears. May be repeated. Pages are told after each step."""
    from voice.speech.models import load_speech

    calls = Conversation.objects.filter(call__battle_id=battle_id).exclude(evaluation=States.COMPLETE)
    held = list(calls.select_related("scenario").order_by("pk"))
    for conversation in held:
        _step(conversation, _measure)
    actions.tell_evaluation(battle_id)
    measured = [each for each in held if each.evaluation == States.PARTIAL]
    if measured:
        speech = load_speech()
        for conversation in measured:
            _step(conversation, partial(_transcribe, speech=speech))
            _compress(conversation)
        actions.tell_evaluation(battle_id)


def _step(conversation: Conversation, work: Any) -> None:
    """What fails for one call is noted, and the other one is evaluated."""
    try:
        work(conversation)
    except Exception as error:  # the edge of each call's evaluation: its state has to end
        log.exception("the conversation %s was not evaluated", conversation.pk)
        conversation.evaluation = States.FAILED
        conversation.evaluation_error = f"{type(error).__name__}: {error}"[:500]
        conversation.save(update_fields=["evaluation", "evaluation_error"])


def _compress(conversation: Conversation) -> None:
    """Nothing reads the recordings again but people. Where it fails they stay as they are."""
    if conversation.evaluation == States.COMPLETE:
        try:
            compress(conversation)
        except (OSError, ValueError):
            log.exception("the recordings of %s stay WAV", conversation.pk)


def _measure(conversation: Conversation) -> None:
    from voice.speech.models import new_detector

    held = held_again(conversation)
    scenario = conversation.scenario.read()
    caller, agent = speech_in(held, new_detector)
    transcript, metrics = judged(scenario, by_utterances(held, utterances(caller), scenario), caller, agent)
    _save(conversation, States.PARTIAL, **columns_of(metrics), turns=transcript.json()["turns"])


def utterances(found: Sequence[Span]) -> list[Span]:
    """Stretches of speech with the short pauses within them."""
    joined: list[Span] = []
    for span in found:
        if joined and span.start_ms - joined[-1].end_ms < PAUSE_MS:
            joined[-1] = Span(joined[-1].start_ms, span.end_ms)
        else:
            joined.append(span)
    return joined


def by_utterances(held: Held, found: Sequence[Span], scenario: Scenario) -> Held:
    """The call with the caller's lines where the recording has speech. While it was held, they were where the agent
    took a turn; what it understood is put beside the utterance that had ended by then."""
    if not found:
        return held
    lines = [Said("", span.start_ms, span.end_ms) for span in found][: scenario.max_turns]
    notes = [Noted(max(line.end_ms, lines[0].start_ms + 1), line.text) for line in held.caller_lines]
    for line, until in zip(lines, [*(each.start_ms for each in lines[1:]), float("inf")], strict=True):
        line.text = " ".join(note.text for note in notes if line.start_ms < note.at_ms <= until)
    return replace(held, caller_lines=lines, understood=notes)


def _transcribe(conversation: Conversation, speech: Speech) -> None:
    """Put the words that a recogniser hears into the transcript: alike for every agent, whatever it understood."""
    held = held_again(conversation)
    turns = [{**turn, **_words(turn, held, speech)} for turn in conversation.turns]
    verdict, missing = judged_by_model(conversation, turns)
    _save(conversation, States.COMPLETE, turns=turns, judge=verdict, judge_missing=missing)


def judged_by_model(conversation: Conversation, turns: list[dict[str, Any]]) -> tuple[dict[str, Any] | None, str]:
    """The verdict of the judge that the settings name, or None and why there is none."""
    from voice.agents.judge import judge
    from voice.agents.language import Server  # loads openai, which takes half a second of every command's start

    about = settings.VOICE
    if not about["judge_url"]:
        return None, NO_JUDGE
    server = Server(about["judge_url"], about["judge_model"], about["judge_key"])
    try:
        return asyncio.run(judge(conversation.scenario.read(), turns, conversation.tools, server)), ""
    except AgentFailed as failure:
        log.warning("the conversation %s was not judged: %s", conversation.pk, failure)
        return None, JUDGE_FAILED


def _words(turn: dict[str, Any], held: Held, speech: Speech) -> dict[str, str]:
    is_caller = turn["role"] == Role.CALLER
    audio = bytes(held.caller_audio if is_caller else held.agent_audio)
    text = asyncio.run(_text_of(speech, _cut(audio, turn["start_ms"] - 200, turn["end_ms"] + 200)))
    if is_caller:
        return {"heard": turn["text"] or turn["heard"], "text": text or turn["text"]}
    return {"heard": text}


async def _text_of(speech: Speech, audio: bytes) -> str:
    return await speech.text_of(audio)


def _cut(audio: bytes, start_ms: float, end_ms: float) -> bytes:
    first, last = (max(0, int(ms * RATE / 1000)) * SAMPLE_BYTES for ms in (start_ms, end_ms))
    return audio[first:last]


def _save(conversation: Conversation, state: str, **columns: Any) -> None:
    for name, value in {**columns, "evaluation": state, "evaluation_error": ""}.items():
        setattr(conversation, name, value)
    conversation.save(update_fields=[*columns, "evaluation", "evaluation_error"])
