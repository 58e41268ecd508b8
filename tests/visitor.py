"""A visitor without a browser: calls the API of a running arena, and keeps its cookie."""

from __future__ import annotations

import http.cookiejar
import json
import time
import urllib.error
import urllib.request
from typing import Any

Json = dict[str, Any]


class Visitor:
    def __init__(self, url: str) -> None:
        self._url = url.rstrip("/")
        self.cookies = http.cookiejar.CookieJar()
        self._opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self.cookies))

    def get(self, path: str) -> tuple[int, Json]:
        return self._call("GET", path, None, {})

    def post(self, path: str, body: Json | None = None, **headers: str) -> tuple[int, Json]:
        return self._call("POST", path, {} if body is None else body, headers)

    def open_battle(self, robot_id: str = "widowx", scene_id: str = "table") -> str:
        status, body = self.post("/api/sessions/init", {"robot_id": robot_id, "scene_id": scene_id})
        assert status == 201, (status, body)
        return str(body["battle_id"])

    def send_turn(self, battle_id: str, instruction: str, **more: str) -> str:
        status, body = self.post(f"/api/battles/{battle_id}/turns", {"instruction": instruction, **more})
        assert status == 202, (status, body)
        return str(body["turn_id"])

    def wait_for_turn(self, turn_id: str, seconds: float = 60.0) -> Json:
        """Wait until the turn is completed or failed."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            _, turn = self.get(f"/api/turns/{turn_id}")
            if turn["status"] in {"completed", "failed"}:
                return turn
            time.sleep(0.1)
        raise AssertionError(f"turn {turn_id} is still {turn['status']} after {seconds} s")

    def _call(self, method: str, path: str, body: Json | None, headers: dict[str, str]) -> tuple[int, Json]:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            self._url + path, data=data, method=method, headers={"Content-Type": "application/json", **headers}
        )
        try:
            with self._opener.open(request, timeout=90) as response:
                return response.status, json.loads(response.read() or b"{}")
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.loads(error.read() or b"{}")
