"""Asking a server in the dialect of openpi or RoboArena: a websocket, messages in msgpack, and metadata first."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from contextlib import closing
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from policies.base import PolicyCard
from policies.remote import codec, metadata
from policies.remote.connection import Connection
from policies.remote.contract import ROBOARENA, Contract
from policies.remote.errors import BadFrame, RemoteError, ServerAway, ServerLate, ServerRefused

CONNECT_S, METADATA_S, RESET_S = 5.0, 5.0, 10.0
ACTIONS = "actions"


class OpenpiTalk:
    """A connection, and the episode that it is for: openpi's dialect knows no reset, so each has one of its own."""

    def __init__(self, card: PolicyCard, contract: Contract) -> None:
        self.card, self.contract = card, contract
        self.metadata: Mapping[str, Any] = {}
        self._connection: Connection | None = None
        self._session = ""

    def greet(self, key: str) -> None:
        """Connect and compare what the server declares with the card. Raises RemoteError."""
        try:
            self._connection = Connection(self.contract.url, key, CONNECT_S)
            self.metadata = metadata_of(self._connection)
            metadata.check(self.metadata, self.card, self.contract)
        except RemoteError:
            self.close()
            raise

    def begin(self, instruction: str, seed: int) -> None:
        """An episode; `seed` is told to servers that take it. Raises RemoteError."""
        needed = self.contract.session or metadata.needs_session(self.metadata)
        self._session = uuid.uuid4().hex if needed else ""
        if self.contract.dialect == ROBOARENA or metadata.declared(self.metadata).get(metadata.RESET) is True:
            message = {"endpoint": "reset", self.contract.prompt: instruction, "seed": seed, **self._named()}
            unfailed(self._ask(message, RESET_S))

    def actions(self, message: Mapping[str, Any]) -> NDArray[np.generic]:
        """What the server answers to what it is shown. Raises RemoteError."""
        endpoint = {"endpoint": "infer"} if self.contract.dialect == ROBOARENA else {}
        answer = unfailed(self._ask({**message, **endpoint, **self._named()}, self.contract.infer_s))
        if isinstance(answer, dict):
            if ACTIONS not in answer:
                raise BadFrame(f"the answer has no {ACTIONS!r}")
            answer = answer[ACTIONS]
        if not isinstance(answer, np.ndarray):
            raise BadFrame(f"the actions are of type {type(answer).__name__}; expected an array of floats")
        return answer

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _named(self) -> dict[str, str]:
        return {"session_id": self._session} if self._session else {}

    def _ask(self, message: dict[str, Any], seconds: float) -> bytes | str:
        if self._connection is None:
            raise ServerAway("there is no connection to the server")
        return self._connection.ask(codec.pack(message, text_keys=self.contract.coding == "text"), seconds)


def ask(url: str, key: str) -> Mapping[str, Any]:
    """A server's metadata. Raises RemoteError."""
    with closing(Connection(url, key, CONNECT_S)) as connection:
        return metadata_of(connection)


def metadata_of(connection: Connection) -> Mapping[str, Any]:
    """What openpi's dialect begins with."""
    try:
        came = connection.receive(METADATA_S)
    except ServerLate:
        raise ServerLate("the server sent no metadata, with which openpi's dialect begins") from None
    found = unfailed(came)
    metadata.declared(found)
    return cast(Mapping[str, Any], found)


def unfailed(came: bytes | str) -> Any:
    """What a message says. A text is an error, but for the one that RoboArena answers to a reset."""
    if isinstance(came, bytes):
        return codec.unpack(came)
    if came.startswith("reset successful"):
        return came
    raise ServerRefused("the server reports an error of its own", came)
