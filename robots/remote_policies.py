"""Registering a policy behind a server, once it has played an episode that counts nowhere. Loads physics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from policies.base import BadCard, PolicyCard, PolicyError
from policies.embodiment import fitting
from policies.entering import Added, enter
from policies.models import Policy
from policies.names import training_data
from policies.registry import REMOTE
from policies.remote.card import card_from
from policies.remote.errors import RemoteError
from policies.remote.metadata import declared
from policies.remote.policy import RemotePolicy, ask_metadata, open_card
from simulation import catalogue
from simulation.contracts import EpisodeResult, Floats, Limits, Listener, PolicyFailure, StepRecord
from simulation.environment import Environment
from simulation.runner import run_episode

INSTRUCTION = "pick up the red cube"
STEPS, WALL_S = 20, 60.0


class BadServer(PolicyError):
    """A server that does not do what its contract says."""

    code = "bad_server"


@dataclass(frozen=True)
class Entered:
    """What was added, and how long the server took: median and longest [ms] of an inference in the dry episode."""

    added: Added
    median_ms: float
    longest_ms: float


@dataclass
class _Played(Listener):
    actions: list[Floats] = field(default_factory=list)
    infer_ms: list[float] = field(default_factory=list)

    def on_step(self, record: StepRecord) -> None:
        self.actions.append(record.action)
        if record.infer_s > 0.0:
            self.infer_ms.append(record.infer_s * 1e3)


def add_remote(model_id: str, url: str, contract: Mapping[str, Any], columns: Mapping[str, str]) -> Entered:
    """Ask the server for its contract, complete it by `contract`, play a dry episode, and add or update the row.

    `columns`: registry columns that override the contract where not empty. Raises PolicyError and changes no row then.
    """
    return add_card(model_id, _card(model_id, url, contract), columns)


def add_card(model_id: str, card: PolicyCard, columns: Mapping[str, str]) -> Entered:
    """Likewise of a card that is complete: the policy.json of a folder of the family "remote"."""
    _check_id(model_id)
    worlds = fitting(card.spec, catalogue.embodiments())
    played = dry_episode(card, worlds)
    fields = {**row_fields(card), **{name: text for name, text in columns.items() if text}}
    return Entered(enter(model_id, fields, worlds, []), float(np.median(played.infer_ms)), max(played.infer_ms))


def row_fields(card: PolicyCard) -> dict[str, Any]:
    """Columns of a registry row. The row holds the whole card: every worker can open it without a folder."""
    return {
        "name": card.spec.name,
        "family": REMOTE,
        "adapter": REMOTE,
        "description": card.description,
        "organization": card.organization,
        "license": card.license,
        "provenance": card.provenance,
        "training_data": training_data(card.training),
        "source": str(card.training.get("source", ""))[:500],
        "parameters": None,
        "weights_bytes": None,
        "revision": card.revision,
        "statistics_key": card.spec.statistics_key,
        "model_path": str(card.network["url"]),
        "card": card.to_json(),
    }


def dry_episode(card: PolicyCard, worlds: Iterable[Any]) -> _Played:
    """Play in the first of the worlds whose assets are here. Raises PolicyError, which says what the server did."""
    here = next((each for each in worlds if not catalogue.missing_assets(each.robot_id, each.scene_id)), None)
    if here is None:
        raise BadCard("the assets of no world that it fits are on this machine: it cannot be tried here")
    environment, played = Environment(here.robot_id, here.scene_id), _Played()
    with closing(open_card(card)) as policy:
        try:
            _play(environment, policy, played)
        except PolicyFailure as failure:
            raise BadServer(_story(failure)) from failure
    _check_plausible(np.array(played.actions), environment)
    return played


def _play(environment: Environment, policy: RemotePolicy, played: _Played) -> EpisodeResult:
    environment.reset(0)
    limits = Limits(max_steps=STEPS, wall_s=WALL_S, until_success=False)
    chunking, cameras = policy.spec.chunking, policy.spec.cameras
    return run_episode(environment, policy, INSTRUCTION, 0, (played,), limits, chunking, cameras)


def _check_plausible(actions: Floats, environment: Environment) -> None:
    """Raise BadServer for actions most of which are longer than any that the robot takes: another action space."""
    numbers = environment.world.robot.ACTION
    if not numbers.high or not len(actions):
        return
    beyond = (actions > np.array(numbers.high) + 1e-6) | (actions < np.array(numbers.low) - 1e-6)
    for number in np.flatnonzero(beyond.mean(axis=0) > 0.5):
        longest, unit = np.abs(actions[:, number]).max(), numbers.units[number]
        raise BadServer(
            f"the server does not answer in {numbers.id}: {numbers.names[number]} reaches {longest:.3g} {unit}, and "
            f"the robot moves at most {numbers.high[number]:g} in a step; are its poses absolute "
            '("actions": {"pose": "absolute"})?'
        )


def _card(model_id: str, url: str, contract: Mapping[str, Any]) -> PolicyCard:
    _check_id(model_id)
    try:
        told = declared(ask_metadata(url, contract))
    except RemoteError as error:
        raise BadServer(_words_of(error)) from error
    return card_from(model_id, url, told, contract)


def _check_id(model_id: str) -> None:
    if Policy.objects.filter(id=model_id).exclude(adapter=REMOTE).exists():
        raise BadCard(f"{model_id} is registered with weights on this machine; a remote policy needs an id of its own")


def _story(failure: PolicyFailure) -> str:
    """For who registers it: also what the server said."""
    cause = failure.__cause__
    if isinstance(cause, RemoteError):
        return _words_of(cause)
    return f"{failure}: {cause}" if cause else str(failure)


def _words_of(error: RemoteError) -> str:
    return f"{error}: {error.words}" if error.words else str(error)
