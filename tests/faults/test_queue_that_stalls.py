"""A queue that stalls for a moment is told to the visitor, and works again afterwards."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from celery import Celery

from arena.errors import QueueUnavailable
from arena.queue import dispatch
from tests.faults.link import Line, LineState
from tests.ports import free_port
from vlaarena import bundled


@pytest.fixture
def line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Line]:
    """A line to a queue of our own, through which `dispatch` sends; its client waits half a second for an answer."""
    port = free_port()
    server = subprocess.Popen(bundled.valkey_command(tmp_path, port, "sesame"), stdout=subprocess.DEVNULL)
    assert bundled.wait_for(port)
    line = Line("127.0.0.1", port)
    app = Celery("stalls", broker=bundled.valkey_url(line.port, "sesame"), set_as_current=False)
    app.conf.broker_transport_options = {"socket_timeout": 0.5, "socket_connect_timeout": 0.5}
    monkeypatch.setattr(dispatch, "current_app", app)
    yield line
    app.close()
    line.close()
    server.kill()
    server.wait()


@pytest.mark.parametrize("seconds", [0.2, 0.9, 2.5])
@pytest.mark.parametrize("queue", ["known", "new"])
def test_a_message_is_sent_or_the_queue_is_said_to_be_down_wherever_it_stalls(
    line: Line, seconds: float, queue: str
) -> None:
    _send("ep_1", "known")
    line.set(LineState.STUCK)
    opens = threading.Timer(seconds, line.set, [LineState.OPEN])
    opens.start()
    began = time.monotonic()
    with suppress(QueueUnavailable):
        dispatch.send_to_workers({"ep_2": queue})
    assert time.monotonic() - began < 20
    opens.join()
    _send("ep_3", queue)


def _send(episode_id: str, queue: str) -> None:
    """Within ten seconds: half a second is little where other tests want the processor, too."""
    deadline = time.monotonic() + 10.0
    while time.monotonic() < deadline:
        with suppress(QueueUnavailable):
            dispatch.send_to_workers({episode_id: queue})
            return
    raise AssertionError("the queue took no message for ten seconds")
