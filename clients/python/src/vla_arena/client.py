"""Calls to an arena. One object is one visitor: by its cookie, or with a token the owner of the token."""

from __future__ import annotations

import hashlib
import itertools
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Self, cast
from urllib.parse import urlsplit

import httpx2
from websockets.exceptions import WebSocketException
from websockets.sync.client import connect
from websockets.typing import Origin

from vla_arena.episodes import Episode
from vla_arena.errors import Unreachable, refusal
from vla_arena.types import (
    BattleSnapshot,
    Choice,
    Comparison,
    Event,
    OpenedBattle,
    SentTurn,
    Start,
    Study,
    Turn,
    VoteCast,
)

POLL_S = 0.5
WAIT_S = 60
"""The longest that an arena is asked to hold a call."""
LARGEST_EVENT = 8 << 20
ENDED = ("completed", "failed")
STUDY_ENDED = (*ENDED, "cancelled")
STUDY_POLL_S = 3.0


class Arena:
    """Close it, or use it in a `with`. Not for two threads at once.

    Every call raises ArenaError for what the arena refuses, and Unreachable where it does not answer.
    """

    def __init__(self, url: str, token: str = "", timeout_s: float = 90.0) -> None:
        """`url`: such as "https://arena.example.org". `token`: of the profile page, "" for a visitor's cookie."""
        self.url = url.rstrip("/")
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._http = httpx2.Client(base_url=f"{self.url}/api/", headers=self._headers, timeout=timeout_s)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def open_battle(self, **place: str) -> Battle:
        """A new session and its first battle. `place`: `kind`, and for robots `robot_id` and `scene_id`."""
        opened: OpenedBattle = self.call("POST", "sessions/init", place)
        return Battle(self, opened["session_id"], opened["battle_id"])

    def next_battle(self, session_id: str) -> Battle:
        """The session's next battle, which leaves an open one."""
        opened: OpenedBattle = self.call("POST", f"sessions/{session_id}/battles", {})
        return Battle(self, opened["session_id"], opened["battle_id"])

    def sessions(self) -> list[dict[str, Any]]:
        """Own sessions, newest activity first."""
        return list(self.call("GET", "sessions/")["results"])

    def models(self) -> list[dict[str, Any]]:
        return list(self.call("GET", "models")["results"])

    def leaderboard(self, **board: str) -> dict[str, Any]:
        """`board`: `kind`, `robot_id`, `scene_id`, `task`, and others that /api/docs/ lists."""
        return dict(self.call("GET", "leaderboard", query=board))

    def episode(self, episode_id: str) -> Episode:
        return Episode.of(self.call("GET", f"episodes/{episode_id}"))

    def ask_for_study(self, a: str, b: str, tasks: Sequence[str], seeds: int, **more: Any) -> Study:
        """Let two policies play the same tasks from the same first states; needs a token of the scope `studies`.

        `seeds`: pairs per task. `more`: `robot_id`, `scene_id`, `first_seed`, `margin` and `play_all`.
        """
        body = {"a": a, "b": b, "tasks": list(tasks), "seeds": seeds, **more}
        return cast(Study, self.call("POST", "studies", body))

    def studies(self) -> list[Study]:
        """Own ones, newest first."""
        return list(self.call("GET", "studies")["results"])

    def study(self, study_id: str) -> Study:
        return cast(Study, self.call("GET", f"studies/{study_id}"))

    def wait_for_study(self, study_id: str, within_s: float = 86_400.0) -> Study:
        """The study once it has ended. Raises TimeoutError when it takes longer; it goes on then."""
        until = time.monotonic() + within_s
        while True:
            study = self.study(study_id)
            if study["state"] in STUDY_ENDED:
                return study
            if time.monotonic() > until:
                raise TimeoutError(f"{study_id} has not ended within {within_s:g} s")
            time.sleep(STUDY_POLL_S)

    def cancel_study(self, study_id: str) -> Study:
        """What was played is kept."""
        return cast(Study, self.call("POST", f"studies/{study_id}/cancel", {}))

    def resume_study(self, study_id: str) -> Study:
        """Go on with one that was cancelled or has failed."""
        return cast(Study, self.call("POST", f"studies/{study_id}/resume", {}))

    def delete_study(self, study_id: str) -> None:
        self.call("DELETE", f"studies/{study_id}")

    def study_report(self, study: Study) -> str:
        """The HTML of its report, which needs no other file. Raises Unreachable, and ValueError while there is none."""
        if study["report_url"] is None:
            raise ValueError(f"{study['study_id']} has no report yet: it is {study['state']}")
        try:
            answer = self._http.get(f"{self.url}{study['report_url']}")
        except httpx2.HTTPError as error:
            raise Unreachable(f"the report: {error or type(error).__name__}") from error
        if not answer.is_success:
            raise Unreachable(f"the report: status {answer.status_code}")
        return str(answer.text)

    def call(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        query: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        """The JSON of any call below /api/. A challenge of a crowded network is answered once."""
        answer = self._send(method, path, body, query, headers)
        if answer.status_code == 428:
            solved = {"Challenge-Answer": _solved(answer.json()["challenge"])}
            answer = self._send(method, path, body, query, {**(headers or {}), **solved})
        if answer.is_success:
            return answer.json() if answer.content else None
        try:
            told = answer.json()
        except ValueError:
            raise Unreachable(f"{method} {path}: status {answer.status_code} without JSON") from None
        raise refusal(answer.status_code, told, answer.headers.get("Retry-After"))

    def _send(self, method: str, path: str, body: Any, query: Any, headers: Any) -> httpx2.Response:
        try:
            return self._http.request(method, path, json=body, params=query, headers=headers)
        except httpx2.HTTPError as error:
            raise Unreachable(f"{method} {path}: {error or type(error).__name__}") from error

    @contextmanager
    def _socket(self, battle_id: str) -> Iterator[Any]:
        parts = urlsplit(self.url)
        scheme = {"http": "ws", "https": "wss"}[parts.scheme]
        cookies = "; ".join(f"{name}={value}" for name, value in self._http.cookies.items())
        headers = {**self._headers, **({"Cookie": cookies} if cookies else {})}
        try:
            with connect(
                f"{scheme}://{parts.netloc}{parts.path}/ws/battles/{battle_id}/",
                origin=Origin(f"{parts.scheme}://{parts.netloc}"),
                additional_headers=headers,
                max_size=LARGEST_EVENT,
            ) as socket:
                yield socket
        except (OSError, WebSocketException) as error:
            raise Unreachable(f"the socket of {battle_id}: {error}") from error


class Battle:
    """A battle of two hidden models, of the visitor who opened it."""

    def __init__(self, arena: Arena, session_id: str, battle_id: str) -> None:
        self.arena, self.session_id, self.battle_id = arena, session_id, battle_id

    def snapshot(self) -> BattleSnapshot:
        return cast(BattleSnapshot, self.arena.call("GET", f"battles/{self.battle_id}"))

    def send(self, instruction: str, start: Start = "continue") -> SentTurn:
        """Begin a turn, and do not wait for it."""
        body = {"instruction": instruction, "start": start}
        return cast(SentTurn, self.arena.call("POST", f"battles/{self.battle_id}/turns", body))

    def play(self, instruction: str, start: Start = "continue", within_s: float = 600.0) -> Turn:
        """Begin a turn and wait for its end. Look at its `status`: a turn that failed may be sent again.

        Raises TimeoutError when it takes longer; it goes on then.
        """
        return self.wait_for(self.send(instruction, start)["turn_id"], within_s)

    def wait_for(self, turn_id: str, within_s: float = 600.0) -> Turn:
        """The turn once it has ended. Raises TimeoutError."""
        until = time.monotonic() + within_s
        while True:
            turn: Turn = self.arena.call("GET", f"turns/{turn_id}")
            if turn["status"] in ENDED:
                return turn
            if time.monotonic() > until:
                raise TimeoutError(f"{turn_id} has not ended within {within_s:g} s")
            time.sleep(POLL_S)

    def events(self) -> Iterator[Event]:
        """A snapshot, then whatever happens, until the battle is voted on or left. Raises Unreachable."""
        with self.arena._socket(self.battle_id) as socket:
            for text in socket:
                event: Event = json.loads(text)
                yield event
                if event["type"] in ("battle.voted", "battle.abandoned"):
                    return

    def episodes(self, turn: Turn) -> tuple[Episode, Episode]:
        """Of the left and the right side of a completed turn."""
        left, right = (self.arena.episode(turn[side]["episode_id"]) for side in ("left", "right"))
        return left, right

    def vote(self, choice: Choice, reasons: Mapping[str, Comparison] | None = None) -> VoteCast:
        """Ends the battle and reveals the models. `reasons`: which side was closer, smoother, safer or faster."""
        body = {"battle_id": self.battle_id, "vote": choice, "reasons": dict(reasons or {})}
        return cast(VoteCast, self.arena.call("POST", "votes", body))


def _solved(challenge: Mapping[str, Any]) -> str:
    """The answer to a proof of work: a number whose hash begins with so many zero bits. Raises Unreachable for other
    challenges."""
    if challenge.get("kind") != "proof-of-work":
        raise Unreachable(f"the arena asks for what only people can answer: {challenge.get('kind')}")
    token, bits = str(challenge["token"]), int(challenge["bits"])
    for count in itertools.count():
        digest = hashlib.sha256(f"{token}.{count}".encode()).digest()
        if int.from_bytes(digest) >> (256 - bits) == 0:
            return f"{token}.{count}"
    raise AssertionError("there is always a number")
