"""Asking a model server of vla-evaluation-harness: a websocket, and messages with a type and a number in msgpack.

The client says hello first. The start of an episode is told and not answered; an observation is answered by an action
with its number.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import closing
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policies.base import PolicyCard
from policies.remote import codec, metadata
from policies.remote.connection import Connection
from policies.remote.contract import Contract
from policies.remote.errors import BadFrame, RemoteError, ServerAway, ServerLate, ServerRefused

CONNECT_S, HELLO_S = 5.0, 5.0
VERSION = 1
ACTIONS = "actions"
GROUP = "images/"
"""Begins the names of pictures, which are sent as one map, `images`."""
POSITIONS = {"delta_xyz": {"pose": "delta"}, "absolute_xyz": {"pose": "absolute"}}
ROTATIONS = {"euler_xyz": {"rotation": "euler"}, "axis_angle": {"rotation": "axis_angle"}}
GRIPPERS = {
    "binary_close_positive": {"opened": -1.0, "closed": 1.0},
    "binary_close_negative": {"opened": 1.0, "closed": -1.0},
    "binary_close_01": {"opened": 0.0, "closed": 1.0},
    "continuous_01": {},
    "raw": {},
}
FORMS: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    "position": POSITIONS,
    "rotation": ROTATIONS,
    "gripper": GRIPPERS,
}


class HarnessTalk:
    """A connection for one episode."""

    def __init__(self, card: PolicyCard, contract: Contract) -> None:
        self.card, self.contract = card, contract
        self._channel: _Channel | None = None

    def greet(self, key: str) -> None:
        """Connect and compare what the server declares with the card. Raises RemoteError."""
        try:
            self._channel = _Channel(self.contract.url, key)
            told = _declared(self._channel.hello(), self.card.network.get(ACTIONS, {}))
            metadata.check(told, self.card, self.contract)
        except RemoteError:
            self.close()
            raise

    def begin(self, instruction: str, seed: int) -> None:
        """Tell the start of an episode. Raises RemoteError."""
        self._open().tell("episode_start", {"task": {"name": instruction, "seed": seed}}, self.contract.infer_s)

    def actions(self, message: Mapping[str, Any]) -> NDArray[np.generic]:
        """What the server answers to what it is shown. Raises RemoteError."""
        payload = self._open().ask("observation", _grouped(message), "action", self.contract.infer_s)
        answer = payload.get(ACTIONS)
        if not isinstance(answer, np.ndarray):
            raise BadFrame(f"the actions are of type {type(answer).__name__}; expected an array of floats")
        return answer

    def close(self) -> None:
        channel, self._channel = self._channel, None
        if channel is not None:
            channel.close()

    def _open(self) -> _Channel:
        if self._channel is None:
            raise ServerAway("there is no connection to the server")
        return self._channel


def ask(url: str, key: str) -> Mapping[str, Any]:
    """What a server says of itself, with the contract that follows from it. Raises RemoteError."""
    with closing(_Channel(url, key)) as channel:
        return _declared(channel.hello(), {})


class _Channel:
    """Numbered messages, of which each answer has the number of its question."""

    def __init__(self, url: str, key: str) -> None:
        self._connection = Connection(url, key, CONNECT_S)
        self._number = 0

    def hello(self) -> Mapping[str, Any]:
        """What the server says of itself. Raises RemoteError."""
        try:
            told = self.ask("hello", {"harness_version": "0", "protocol_version": VERSION}, "hello", HELLO_S)
        except ServerLate:
            raise ServerLate("the server did not answer to hello, with which its dialect begins") from None
        if told.get("protocol_version") != VERSION:
            raise BadFrame(f"the server does not speak version {VERSION} of its protocol")
        return told

    def ask(self, kind: str, payload: Mapping[str, Any], expected: str, seconds: float) -> Mapping[str, Any]:
        """The payload of the answer."""
        came = self._connection.ask(self._packed(kind, payload), seconds)
        if isinstance(came, str):
            raise ServerRefused("the server reports an error of its own", came)
        return _payload(codec.unpack(came), expected, self._number)

    def tell(self, kind: str, payload: Mapping[str, Any], seconds: float) -> None:
        """A message without an answer."""
        self._connection.send(self._packed(kind, payload), seconds)

    def close(self) -> None:
        self._connection.close()

    def _packed(self, kind: str, payload: Mapping[str, Any]) -> bytes:
        self._number += 1
        message = {"type": kind, "payload": payload, "seq": self._number, "timestamp": time.time()}
        return codec.pack(message, text_keys=True)


def _payload(message: Any, expected: str, number: int) -> Mapping[str, Any]:
    """Of a message of this kind and number; that of an error may have any number."""
    if not isinstance(message, dict) or not isinstance(message.get("payload"), dict):
        raise BadFrame("the answer is no message of vla-evaluation-harness, which has a type and a payload")
    kind, payload = message.get("type"), dict(message["payload"])
    if kind == "error":
        raise ServerRefused("the server reports an error of its own", str(payload.get("error", "")))
    if kind != expected:
        raise BadFrame(f"the answer is of another type than {expected!r}")
    if message.get("seq") != number:
        raise BadFrame("the answer belongs to another message")
    return payload


def _grouped(message: Mapping[str, Any]) -> dict[str, Any]:
    """With the pictures in a map of their own."""
    images = {name.removeprefix(GROUP): value for name, value in message.items() if name.startswith(GROUP)}
    return {"images": images, **{name: value for name, value in message.items() if not name.startswith(GROUP)}}


def _declared(hello: Mapping[str, Any], actions: Mapping[str, Any]) -> Mapping[str, Any]:
    """A server's hello with its contract under the arena's name: what it has there, and the form of its actions.

    `actions`: of the card, which says what the harness has no words for.
    """
    spec = hello.get("action_spec") or {}
    if not isinstance(spec, dict):
        raise BadFrame(f"action_spec: expected a map, got {type(spec).__name__}")
    told = dict(metadata.declared(hello))
    if foreign := _foreign(spec):
        told["action_space"] = foreign
    elif spec:
        told[ACTIONS] = {**actions, **_forms(spec)}
    return {metadata.DECLARED: told}


def _foreign(spec: Mapping[str, Any]) -> str:
    """What no arm here takes, "" for a pose and a gripper in known forms."""
    return ", ".join(f"{name} {_format(row)}" for name, row in spec.items() if _format(row) not in FORMS.get(name, {}))


def _forms(spec: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, row in spec.items():
        found |= FORMS[name][_format(row)]
    return found


def _format(row: Any) -> str:
    told = row.get("format") if isinstance(row, dict) else None
    return told if isinstance(told, str) else ""
