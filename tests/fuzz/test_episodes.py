"""What the episode store may hold, and what states.bin may be: read as an episode, or refused as none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from simulation.contracts import StartState
from simulation.episode_format import EpisodeFormatError, actions_of, state_at, to_float32, to_float64
from tests.fuzz.damage import damaged
from tests.fuzz.effort import fuzz
from tests.states_bin import from_float32

NQ, NV, STEPS = 3, 2, 3
GOOD: dict[str, Any] = {
    "actions": [[0.1 * step] * 7 for step in range(STEPS)],
    "states": [{"time": step / 5, "qpos": [1.0] * NQ, "qvel": [2.0] * NV} for step in range(STEPS + 1)],
    "qacc_warmstart": [[0.0] * NV] * (STEPS + 1),
    "control": [[0.5] * 14] * (STEPS + 1),
}


@fuzz("episodes", 400, content=st.binary(max_size=400), nq=st.integers(0, 12), nv=st.integers(0, 12))
def test_bytes_are_a_whole_number_of_rows_or_refused(content: bytes, nq: int, nv: int) -> None:
    try:
        table = from_float32(content, nq, nv)
    except EpisodeFormatError:
        assert not content or len(content) % (4 * (1 + nq + nv))
        return
    assert table.tobytes() == content
    assert table.shape[1] == 1 + nq + nv


@pytest.mark.filterwarnings("ignore:overflow encountered")
@fuzz("episodes", 500, document=damaged(GOOD), index=st.integers(-6, 6))
def test_a_spoilt_document_is_an_episode_or_refused(document: Any, index: int) -> None:
    if not isinstance(document, dict):
        return
    for read in (to_float32, to_float64, actions_of, lambda found: state_at(found, index)):
        try:
            found = read(document)
        except EpisodeFormatError:
            continue
        if isinstance(found, StartState):
            assert found.hash("", "")
        elif isinstance(found, np.ndarray):
            assert found.ndim == 2
            assert len(found) == len(document["actions"])
        else:
            assert len(found) % (4 * len(document["states"])) == 0


@pytest.mark.parametrize("spoil", ["states", "actions", "qacc_warmstart", "control"])
def test_a_document_that_lacks_a_part_is_refused_in_words(spoil: str) -> None:
    document = {name: value for name, value in GOOD.items() if name != spoil}
    with pytest.raises(EpisodeFormatError, match=spoil):
        to_float64(document)
    with pytest.raises(EpisodeFormatError, match="dimensions"):
        state_at({**GOOD, "control": [[[0.5]]] * (STEPS + 1)}, 0)
