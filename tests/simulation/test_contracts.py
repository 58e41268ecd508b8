import numpy as np
import pytest

from simulation.contracts import ACTION_CHUNK, ArraySpec, CameraSpec, Chunking, SpecError, StartState
from simulation.worlds import widowx


def test_an_array_as_declared_passes() -> None:
    ACTION_CHUNK.check(np.zeros((4, 7)))
    CameraSpec("workspace", 128, 128).array_spec().check(np.zeros((128, 128, 3), np.uint8))


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros(6), r"action: expected float64\[7\], got float64\[6\]"),
        (np.zeros(7, np.float32), r"expected float64\[7\], got float32\[7\]"),
        (np.zeros((1, 7)), r"got float64\[1, 7\]"),
        (np.full(7, np.nan), "expected finite numbers"),
        (np.full(7, np.inf), "expected finite numbers"),
        ([0.0] * 7, "got list"),
    ],
)
def test_a_wrong_array_is_refused_with_what_would_have_been_right(array: np.ndarray, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        widowx.ACTION.array_spec("action").check(array)


def test_bounds_are_checked_ends_included() -> None:
    spec = ArraySpec("opening", (None,), "float64", "", low=0.0, high=1.0)
    spec.check(np.array([0.0, 1.0]))
    spec.check(np.zeros(0))
    with pytest.raises(SpecError, match=r"at least 0\.0"):
        spec.check(np.array([-0.1]))
    with pytest.raises(SpecError, match=r"at most 1\.0"):
        spec.check(np.array([1.1]))


def test_impossible_chunking_is_refused() -> None:
    with pytest.raises(SpecError, match="execute"):
        Chunking(execute=0)
    with pytest.raises(SpecError, match="ensemble"):
        Chunking(ensemble=1.5)


def test_the_hash_of_a_start_covers_every_bit_the_engine_and_the_scene() -> None:
    def state(**changed: object) -> StartState:
        parts = {"time": 0.0, "qpos": np.zeros(3), "qvel": np.zeros(3), "qacc_warmstart": np.zeros(3)}
        return StartState(**{**parts, "control": np.zeros(14), **changed})  # type: ignore[arg-type]

    known = state().hash("engine", "scene")
    assert state().hash("engine", "scene") == known
    others = [state(qvel=np.array([0.0, 0.0, 5e-324])), state(time=0.2), state(control=np.ones(14))]
    assert len({known, *(other.hash("engine", "scene") for other in others)}) == 4
    assert state().hash("other", "scene") != known
    assert state().hash("engine", "other") != known
