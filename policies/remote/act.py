"""Asking a server in the dialect of OpenVLA's deployment script: POST of JSON to /act, an action as the answer.

The dialect has no handshake, no metadata and no reset. What it calls an error is the text "error" with status 200.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from http import HTTPStatus
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policies.base import PolicyCard
from policies.remote import json_codec
from policies.remote.contract import ENCODED, Contract
from policies.remote.errors import ServerAway, ServerRefused
from policies.remote.http import HttpAnswer, HttpConnection

CONNECT_S, GREET_S = 5.0, 5.0
UNNORM_KEY, DOUBLY = "unnorm_key", "encoded"
ALIVE = {HTTPStatus.METHOD_NOT_ALLOWED, HTTPStatus.NOT_IMPLEMENTED, HTTPStatus.UNPROCESSABLE_ENTITY}
"""What servers answer to a GET where they take a POST alone; FastAPI, on which OpenVLA's runs, the first."""


class ActTalk:
    """A connection, which is kept from action to action where the server keeps it."""

    def __init__(self, card: PolicyCard, contract: Contract) -> None:
        self.contract = contract
        self._added = {UNNORM_KEY: card.spec.statistics_key} if card.spec.statistics_key else {}
        self._connection: HttpConnection | None = None

    def greet(self, key: str) -> None:
        """Connect and see that requests are taken there. Raises RemoteError."""
        self._connection = HttpConnection(self.contract.url, key, CONNECT_S)
        try:
            _check_alive(self._connection)
        except BaseException:
            self.close()
            raise

    def begin(self, instruction: str, seed: int) -> None:
        """Nothing: the dialect knows no episodes."""

    def actions(self, message: Mapping[str, Any]) -> NDArray[np.generic]:
        """What the server answers to what it is shown. Raises RemoteError."""
        if self._connection is None:
            raise ServerAway("there is no connection to the server")
        doubly, body = self.contract.coding == ENCODED, json_codec.pack({**message, **self._added})
        if doubly:
            body = json_codec.pack({DOUBLY: body.decode()})
        return _numbers_of(self._connection.post(body, self.contract.infer_s), doubly)

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()


def ask(url: str, key: str) -> Mapping[str, Any]:
    """What a server says of itself: nothing. Raises RemoteError unless it takes requests there."""
    with closing(HttpConnection(url, key, CONNECT_S)) as connection:
        _check_alive(connection)
    return {}


def _check_alive(connection: HttpConnection) -> None:
    status = connection.get(GREET_S).status
    if status != HTTPStatus.OK and status not in ALIVE:
        raise ServerRefused(f"the server takes no actions' requests at its address (status {status})")


def _numbers_of(answer: HttpAnswer, doubly: bool) -> NDArray[np.generic]:
    if answer.status != HTTPStatus.OK:
        raise ServerRefused(f"the server answers with status {answer.status}", answer.body.decode(errors="replace"))
    told = json_codec.unpack(answer.body)
    if isinstance(told, str) and doubly and told != "error":
        told = json_codec.unpack(told)
    if isinstance(told, str):
        raise ServerRefused("the server reports an error of its own", told)
    return json_codec.numbers_of(told)
