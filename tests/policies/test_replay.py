"""Recording on CUDA, with torch's part of it replaced: no card is needed, and none was at hand."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from typing import Any

import pytest
import torch
from torch import Tensor

from policies import memory
from policies.base import PolicyError
from policies.networks import replay
from policies.networks.replay import KEEP, Replay

CUDA = torch.device("cuda")


class FakeStream:
    def wait_stream(self, other: FakeStream) -> None:
        pass


class FakeCard:
    """What torch.cuda does for recording. `error`: what a recording raises at its end, as torch does."""

    def __init__(self) -> None:
        self.default = FakeStream()
        self.now = threading.local()
        self.streams: list[FakeStream] = []
        self.recorded_on: list[FakeStream] = []
        self.recording = self.together = self.emptied_while_recording = self.replays = 0
        self.error: Exception | None = None

    def make_stream(self, device: torch.device) -> FakeStream:
        self.streams.append(FakeStream())
        return self.streams[-1]

    def current(self) -> FakeStream:
        return getattr(self.now, "stream", self.default)

    def set_current(self, stream: FakeStream) -> None:
        self.now.stream = stream

    @contextmanager
    def on(self, stream: FakeStream) -> Iterator[None]:
        before = self.current()
        self.set_current(stream)
        yield
        self.set_current(before)

    @contextmanager
    def record(self, graph: Any, pool: Any, stream: FakeStream, capture_error_mode: str) -> Iterator[None]:
        before = self.current()
        self.recorded_on.append(stream)
        self.recording += 1
        self.together = max(self.together, self.recording)
        self.set_current(stream)
        time.sleep(0.05)
        yield
        self.recording -= 1
        if self.error:
            raise self.error  # and the stream stays, as torch leaves it
        self.set_current(before)

    def empty(self) -> None:
        self.emptied_while_recording += self.recording

    def replay(self) -> None:
        self.replays += 1


@pytest.fixture
def card(monkeypatch: pytest.MonkeyPatch) -> FakeCard:
    card = FakeCard()
    fakes = {
        "Stream": card.make_stream,
        "current_stream": card.current,
        "set_stream": card.set_current,
        "stream": card.on,
        "device": nullcontext,
        "graph": card.record,
        "graph_pool_handle": object,
        "CUDAGraph": lambda: card,
        "empty_cache": card.empty,
    }
    for name, fake in fakes.items():
        monkeypatch.setattr(torch.cuda, name, fake)
    monkeypatch.setattr(replay, "_moved", lambda tensor, device, copy=False: tensor.clone() if copy else tensor)
    monkeypatch.setattr(replay, "_sides", {})
    return card


def double(x: Tensor) -> tuple[Tensor]:
    return (2 * x,)


def answer(work: Replay, size: int = 1) -> list[float]:
    (found,) = work(torch.ones(size))
    return found.tolist()


def test_work_is_recorded_once_per_shapes_on_one_stream_of_the_device(card: FakeCard) -> None:
    works = [Replay(double, CUDA), Replay(double, CUDA)]
    for work in works:
        assert [answer(work, size) for size in (1, 2, 1)] == [[2.0], [2.0, 2.0], [2.0]]
    assert len(card.streams) == 1
    assert card.recorded_on == card.streams * 4
    assert card.replays == 6
    assert card.current() is card.default


def test_no_two_threads_record_at_once_nor_is_memory_freed_meanwhile(card: FakeCard) -> None:
    together = threading.Barrier(5)

    def play(number: int) -> list[float]:
        together.wait(10)
        if number == 4:
            time.sleep(0.02)
            memory.release("cuda")
            return [2.0]
        return answer(Replay(double, CUDA))

    with ThreadPoolExecutor(5) as threads:
        assert list(threads.map(play, range(5))) == [[2.0]] * 5
    assert len(card.recorded_on) == 4
    assert card.together == 1
    assert card.emptied_while_recording == 0


def test_where_recording_fails_the_work_is_done_without_it(card: FakeCard, caplog: pytest.LogCaptureFixture) -> None:
    card.error = RuntimeError("operation failed due to a previous error during capture")
    work = Replay(double, CUDA)
    assert [answer(work), answer(work, 3)] == [[2.0], [2.0, 2.0, 2.0]]
    assert len(card.recorded_on) == 1
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "could not be recorded" in caplog.text
    assert card.current() is card.default


def test_a_failed_recording_leaves_others_a_stream_of_their_own(card: FakeCard) -> None:
    card.error = RuntimeError("capture")
    answer(Replay(double, CUDA))
    card.error = None
    answer(Replay(double, CUDA))
    assert card.recorded_on[0] is not card.recorded_on[1]
    assert card.replays == 1


def test_a_lack_of_memory_is_not_taken_for_a_failed_recording(card: FakeCard) -> None:
    card.error = torch.OutOfMemoryError("CUDA out of memory")
    work = Replay(double, CUDA)
    with pytest.raises(torch.OutOfMemoryError):
        answer(work)
    card.error = RuntimeError("capture ended badly")
    card.error.__context__ = torch.OutOfMemoryError("CUDA out of memory")
    with pytest.raises(RuntimeError) as caught:
        answer(work)
    assert memory.is_out_of_memory(caught.value)
    card.error = None
    assert answer(work) == [2.0]
    assert card.replays == 1


def test_recording_can_be_switched_off(card: FakeCard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(replay.SWITCH, "0")
    assert answer(Replay(double, CUDA)) == [2.0]
    assert not card.recorded_on


def test_a_switch_of_another_value_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(replay.SWITCH, "never")
    with pytest.raises(PolicyError, match="ARENA_CUDA_GRAPHS='never' is neither 1"):
        Replay(double, CUDA)


def test_the_least_recently_used_graph_is_let_go(card: FakeCard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    work = Replay(double, CUDA)
    for size in [*range(1, KEEP + 2), 1]:
        answer(work, size)
    assert len(card.recorded_on) == KEEP + 2
