"""A policy in a process of its own, here or elsewhere, that is asked in the dialect of openpi or RoboArena."""

from __future__ import annotations

import logging
import os
import uuid
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, NoReturn, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from arena.addresses import AddressRefused
from policies.base import BadCard, PolicyCard, PolicySpec
from policies.remote import codec, metadata
from policies.remote.addresses import check_address
from policies.remote.connection import Connection
from policies.remote.contract import ROBOARENA, Contract, checked_key_variable
from policies.remote.errors import BadFrame, RemoteError, ServerAway, ServerLate, ServerRefused
from policies.remote.sights import state
from simulation.contracts import Floats, Observation, PolicyTooSlow

log = logging.getLogger(__name__)
REMOTE = "remote"
"""The family, which is also the adapter in the registry."""
CONNECT_S, METADATA_S, RESET_S = 5.0, 5.0, 10.0
ACTIONS = "actions"
Answer = TypeVar("Answer")


class RemotePolicy:
    """Every episode has a connection of its own, made by `reset`: so one that was lost is made again, and a server of
    openpi, whose dialect knows no reset, can tell episodes apart.
    """

    def __init__(self, card: PolicyCard, contract: Contract) -> None:
        self.card, self.contract = card, contract
        self.metadata: Mapping[str, Any] = {}
        self._connection: Connection | None = None
        self._session = ""

    @property
    def spec(self) -> PolicySpec:
        return self.card.spec

    def reset(self, instruction: str, seed: int) -> None:
        """Connect, compare what the server declares with the card, and begin an episode.

        `seed` is told to servers that take it. Raises RemoteError, and PolicyTooSlow for one that is late.
        """
        self._guarded(lambda: self._begin(instruction, seed))

    def infer(self, observation: Observation) -> Floats:
        """float64 (n, 7), n up to the card's chunk. Raises RemoteError, PolicyTooSlow, and SpecError for pictures that
        the card does not declare."""
        for camera in self.spec.cameras:
            camera.array_spec().check(observation.images[camera.name])
        message = self._message(observation)
        return self._guarded(lambda: self._actions(message, observation))

    def rest(self) -> None:
        """End the connection. The next `reset` makes another."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def close(self) -> None:
        self.rest()

    def greet(self) -> None:
        """Connect and compare what the server declares with the card. Raises RemoteError."""
        self.rest()
        try:
            self._connect()
            metadata.check(self.metadata, self.card, self.contract)
        except RemoteError:
            self.rest()
            raise

    def _begin(self, instruction: str, seed: int) -> None:
        self.greet()
        needed = self.contract.session or metadata.needs_session(self.metadata)
        self._session = uuid.uuid4().hex if needed else ""
        if self.contract.dialect == ROBOARENA or metadata.declared(self.metadata).get(metadata.RESET) is True:
            message = {"endpoint": "reset", self.contract.prompt: instruction, "seed": seed, **self._named()}
            _unfailed(self._ask(message, RESET_S))

    def _connect(self) -> None:
        try:
            check_address(self.contract.url)
        except AddressRefused:
            raise ServerRefused("the address of the server is not allowed any more") from None
        self._connection = Connection(self.contract.url, _key(self.contract.key_variable), CONNECT_S)
        self.metadata = _metadata_of(self._connection)

    def _message(self, observation: Observation) -> dict[str, Any]:
        contract, felt = self.contract, observation.proprioception
        pictures = {form.key: form.adapted(observation.images[name]) for name, form in contract.images.items()}
        told = {key: state(source, felt, contract.actions.frame) for key, source in contract.state.items()}
        endpoint = {"endpoint": "infer"} if contract.dialect == ROBOARENA else {}
        return {**pictures, **told, contract.prompt: observation.instruction, **endpoint, **self._named()}

    def _named(self) -> dict[str, str]:
        return {"session_id": self._session} if self._session else {}

    def _actions(self, message: dict[str, Any], observation: Observation) -> Floats:
        return self.contract.actions.adapted(self._answer_to(message), observation.proprioception, self.spec.chunk)

    def _answer_to(self, message: dict[str, Any]) -> NDArray[np.generic]:
        answer = _unfailed(self._ask(message, self.contract.infer_s))
        if isinstance(answer, dict):
            if ACTIONS not in answer:
                raise BadFrame(f"the answer has no {ACTIONS!r}")
            answer = answer[ACTIONS]
        if not isinstance(answer, np.ndarray):
            raise BadFrame(f"the actions are of type {type(answer).__name__}; expected an array of floats")
        return answer

    def _ask(self, message: dict[str, Any], seconds: float) -> bytes | str:
        if self._connection is None:
            raise ServerAway("there is no connection to the server")
        return self._connection.ask(codec.pack(message, text_keys=self.contract.coding == "text"), seconds)

    def _guarded(self, act: Callable[[], Answer]) -> Answer:
        """Whatever fails ends the connection: an answer that comes later belongs to no question."""
        try:
            return act()
        except RemoteError as error:
            self.rest()
            log.warning("%s: %s%s", self.spec.id, error, f": {error.words}" if error.words else "")
            _raise(error)


def _metadata_of(connection: Connection) -> Mapping[str, Any]:
    """What openpi's dialect begins with."""
    try:
        came = connection.receive(METADATA_S)
    except ServerLate:
        raise ServerLate("the server sent no metadata, with which openpi's dialect begins") from None
    found = _unfailed(came)
    metadata.declared(found)
    return cast(Mapping[str, Any], found)


def _unfailed(came: bytes | str) -> Any:
    """What a message says. A text is an error, but for the one that RoboArena answers to a reset."""
    if isinstance(came, bytes):
        return codec.unpack(came)
    if came.startswith("reset successful"):
        return came
    raise ServerRefused("the server reports an error of its own", came)


def _raise(error: RemoteError) -> NoReturn:
    if isinstance(error, ServerLate):
        raise PolicyTooSlow(str(error)) from error
    raise error


def _key(variable: str) -> str:
    key = os.environ.get(variable, "") if variable else ""
    if variable and not (key and key.isascii() and key.isprintable()):
        raise ServerRefused("the key for the server is not set where the worker runs", variable)
    return key


def ask_metadata(url: str, key_variable: str = "") -> Mapping[str, Any]:
    """What a server says of itself, for making a card of it. Raises BadCard for an address that is not allowed, and
    RemoteError."""
    try:
        check_address(url)
    except AddressRefused as refused:
        raise BadCard(str(refused)) from None
    key = _key(checked_key_variable(key_variable))
    with closing(Connection(url, key, CONNECT_S)) as connection:
        return _metadata_of(connection)


def open_card(card: PolicyCard) -> RemotePolicy:
    """The policy of a card of this family, without a connection. Raises BadCard."""
    contract = Contract.of(card.spec, card.network)
    try:
        check_address(contract.url)
    except AddressRefused as refused:
        raise BadCard(str(refused)) from None
    return RemotePolicy(card, contract)


def open_remote(folder: Path, card: PolicyCard, device: str | None) -> RemotePolicy:
    """Open a folder that holds a policy.json alone. The device is the server's affair."""
    return open_card(card)
