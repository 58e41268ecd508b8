"""A policy in a process of its own, here or elsewhere, that is asked in the dialect of its contract."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NoReturn, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from arena.addresses import AddressRefused
from policies.base import BadCard, PolicyCard, PolicySpec
from policies.remote import act, harness, openpi
from policies.remote.addresses import check_address
from policies.remote.contract import ACT, VLA_EVAL, Contract, checked_dialect, checked_key_variable
from policies.remote.errors import RemoteError, ServerLate, ServerRefused
from policies.remote.sights import state
from simulation.contracts import Floats, Observation, PolicyTooSlow

log = logging.getLogger(__name__)
REMOTE = "remote"
"""The family, which is also the adapter in the registry."""
Answer = TypeVar("Answer")


class Talk(Protocol):
    """Asking a server in one dialect. Everything raises RemoteError."""

    def greet(self, key: str) -> None:
        """Connect, and see that the server is what the card says as far as the dialect tells. `key`: "" for none."""

    def begin(self, instruction: str, seed: int) -> None:
        """An episode, on a connection that `greet` made."""

    def actions(self, message: Mapping[str, Any]) -> NDArray[np.generic]:
        """The server's answer, not checked yet, to pictures, state and instruction under the contract's names."""

    def close(self) -> None:
        """End the connection, if there is one."""


TALKS: Mapping[str, Callable[[PolicyCard, Contract], Talk]] = {ACT: act.ActTalk, VLA_EVAL: harness.HarnessTalk}
ASKS: Mapping[str, Callable[[str, str], Mapping[str, Any]]] = {ACT: act.ask, VLA_EVAL: harness.ask}
"""By dialect; the others are openpi's."""


class RemotePolicy:
    """Every episode has a connection of its own, made by `reset`: so one that was lost is made again, and a server of
    openpi, whose dialect knows no reset, can tell episodes apart.
    """

    def __init__(self, card: PolicyCard, contract: Contract) -> None:
        self.card, self.contract = card, contract
        self._talk = TALKS.get(contract.dialect, openpi.OpenpiTalk)(card, contract)

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
        self._talk.close()

    def close(self) -> None:
        self.rest()

    def greet(self) -> None:
        """Connect and compare what the server declares with the card. Raises RemoteError."""
        self.rest()
        try:
            check_address(self.contract.url)
        except AddressRefused:
            raise ServerRefused("the address of the server is not allowed any more") from None
        self._talk.greet(_key(self.contract.key_variable))

    def _begin(self, instruction: str, seed: int) -> None:
        self.greet()
        self._talk.begin(instruction, seed)

    def _message(self, observation: Observation) -> dict[str, Any]:
        contract, felt = self.contract, observation.proprioception
        pictures = {form.key: form.adapted(observation.images[name]) for name, form in contract.images.items()}
        told = {key: state(source, felt, contract.actions.frame) for key, source in contract.state.items()}
        return {**pictures, **told, contract.prompt: observation.instruction}

    def _actions(self, message: dict[str, Any], observation: Observation) -> Floats:
        answer = self._talk.actions(message)
        return self.contract.actions.adapted(answer, observation.proprioception, self.spec.chunk)

    def _guarded(self, act: Callable[[], Answer]) -> Answer:
        """Whatever fails ends the connection: an answer that comes later belongs to no question."""
        try:
            return act()
        except RemoteError as error:
            self.rest()
            log.warning("%s: %s%s", self.spec.id, error, f": {error.words}" if error.words else "")
            _raise(error)


def _raise(error: RemoteError) -> NoReturn:
    if isinstance(error, ServerLate):
        raise PolicyTooSlow(str(error)) from error
    raise error


def _key(variable: str) -> str:
    key = os.environ.get(variable, "") if variable else ""
    if variable and not (key and key.isascii() and key.isprintable()):
        raise ServerRefused("the key for the server is not set where the worker runs", variable)
    return key


def ask_metadata(url: str, network: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
    """What a server says of itself, for making a card of it.

    `network`: `dialect` and `key_variable` of the contract, where it has them. Raises BadCard for an address that is
    not allowed, and RemoteError.
    """
    try:
        check_address(url)
    except AddressRefused as refused:
        raise BadCard(str(refused)) from None
    told = network or {}
    key = _key(checked_key_variable(told.get("key_variable") or ""))
    return ASKS.get(checked_dialect(told, url), openpi.ask)(url, key)


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
