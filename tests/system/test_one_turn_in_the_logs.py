"""From the log files alone: which request sent a turn, and which worker played it."""

from __future__ import annotations

import http.client
import json
import re
from typing import Any

import pytest

from tests.stack import Arena, wait_until

pytestmark = pytest.mark.stack


def call(arena: Arena, address: str, body: Any, cookie: str = "") -> tuple[http.client.HTTPResponse, dict[str, Any]]:
    connection = http.client.HTTPConnection("127.0.0.1", arena.port, timeout=30)
    headers = {"Content-Type": "application/json", **({"Cookie": cookie} if cookie else {})}
    connection.request("POST", f"/api/{address}", json.dumps(body), headers)
    response = connection.getresponse()
    told = json.loads(response.read())
    connection.close()
    return response, told


def test_a_turn_can_be_followed_from_its_request_to_its_worker(arena_stack: Arena) -> None:
    opened, battle = call(arena_stack, "sessions/init", {"robot_id": "widowx", "scene_id": "table"})
    cookie = (opened.getheader("Set-Cookie") or "").partition(";")[0]
    sent, turn = call(
        arena_stack, f"battles/{battle['battle_id']}/turns", {"instruction": "pick up the red cube"}, cookie
    )
    request_id = sent.getheader("X-Request-Id")

    def lines(part: str) -> list[str]:
        text = (arena_stack.folder / "log" / f"{part}.log").read_text(errors="replace")
        return [line for line in text.splitlines() if f"request_id={request_id}" in line]

    assert sent.status == 202
    wait_until(lambda: len(lines("worker")) >= 2)
    for line in (*lines("web"), *lines("worker")):
        assert f"turn_id={turn['turn_id']}" in line
    played = {found[0] for line in lines("worker") if (found := re.search(r"episode_id=\w+", line))}
    assert played == {f"episode_id={turn[f'{side}_episode_id']}" for side in ("left", "right")}
    assert all("policy=" in line for line in lines("worker"))
    assert len(lines("web")) == 1

    everything = "".join((arena_stack.folder / "log" / f"{part}.log").read_text() for part in ("web", "worker"))
    assert cookie.partition("=")[2] not in everything
    assert "127.0.0.1:" not in "".join(line for line in everything.splitlines() if "/api/" in line)
