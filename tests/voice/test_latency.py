"""How long callers waited, from the utterances of both recordings."""

from __future__ import annotations

import numpy as np
import pytest

from voice.evaluation.latency import Latency, latency, percentile, waits
from voice.speech.turns import Span


def test_a_wait_is_from_the_end_of_speech_to_the_first_speech() -> None:
    caller = [Span(1000, 2000), Span(6000, 7000)]
    agent = [Span(0, 500), Span(3500, 4000), Span(4200, 5500), Span(8200, 9000)]
    assert waits(caller, agent) == [1500, 1200]


def test_an_utterance_without_an_answer_counts_for_nothing() -> None:
    assert waits([Span(1000, 2000), Span(5000, 6000)], [Span(6900, 8000)]) == [900]
    assert waits([Span(1000, 2000)], []) == []


def test_an_agent_that_talks_over_the_caller_has_no_wait() -> None:
    assert waits([Span(1000, 3000)], [Span(2500, 4000)]) == []


@pytest.mark.parametrize("share", [0.0, 0.05, 0.5, 0.95, 1.0])
@pytest.mark.parametrize("count", [1, 2, 7, 20])
def test_percentiles_are_those_of_numpy(count: int, share: float) -> None:
    values = list(np.random.default_rng(count).uniform(200, 4000, count))
    assert percentile(values, share) == pytest.approx(np.percentile(values, share * 100))


@pytest.mark.parametrize(("values", "share"), [([], 0.5), ([1.0], 1.5), ([1.0], -0.1)])
def test_a_percentile_of_nothing_is_refused(values: list[float], share: float) -> None:
    with pytest.raises(ValueError, match="expected values and a share from 0 to 1"):
        percentile(values, share)


def test_the_three_figures() -> None:
    assert latency([1000, 2000, 1200]) == Latency(1400, 1200, pytest.approx(1920))  # type: ignore[arg-type]
    assert latency([]) == Latency(None, None, None)
