"""What a policy says about itself, and how opening one can fail. Needs neither Django nor torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, runtime_checkable

from simulation.contracts import MAX_CHUNK, Actor, CameraSpec, Chunking, Floats, Observation

ACTION_SPACE = "eef_delta_bridge7"
MAX_SIDE = 4096  # of a camera picture [pixels]
MAX_RATE_HZ = 1000


class PolicyError(Exception):
    """A policy folder that cannot be opened. The message says what would have been right."""

    code = "policy_error"


class UnknownFamily(PolicyError):
    code = "unknown_family"


class MissingFile(PolicyError):
    code = "missing_file"


class HashMismatch(PolicyError):
    code = "hash_mismatch"


class BadCard(PolicyError):
    code = "bad_card"


class WrongEmbodiment(PolicyError):
    """Made for another robot: another action space, control rate or cameras."""

    code = "wrong_embodiment"


class BadTensors(PolicyError):
    """A missing, unexpected or misshapen tensor, or a weight that is not a finite number."""

    code = "bad_tensors"


class MissingStatistics(PolicyError):
    code = "missing_statistics"


class DatasetError(PolicyError):
    """Demonstrations that cannot be trained on."""

    code = "dataset_error"


class CheckpointError(PolicyError):
    """A training run that cannot be resumed as asked."""

    code = "checkpoint_error"


@dataclass(frozen=True)
class PolicySpec:
    """What a runner must know. `chunk`: actions per inference; `chunking`: how they are used; `rate_hz`: of control."""

    id: str
    name: str
    family: str
    cameras: tuple[CameraSpec, ...]
    action_space: str
    rate_hz: int
    chunk: int
    chunking: Chunking
    statistics_key: str


class OpenedPolicy(Actor, Protocol):
    """A policy that also knows its own spec."""

    @property
    def spec(self) -> PolicySpec: ...


State = TypeVar("State")


@runtime_checkable
class BatchPolicy(Protocol[State]):
    """A policy that infers for several independent rollouts in one forward.

    A rollout's memory (frames seen, noise to come) is its state: made by `begin`, changed by `infer_batch` alone, let
    go by forgetting it. `reset` and `infer` play one rollout on a state of the policy's own, so they and `infer_batch`
    may take turns. One call at a time: the caller keeps two threads apart.
    """

    @property
    def best_batch(self) -> int:
        """The most rollouts that are worth inferring together on this device; 1: waiting for others never pays."""
        ...

    def begin(self, instruction: str, seed: int) -> State:
        """The state of a new rollout. Whatever the arena lets in as an instruction is read, or its beginning."""
        ...

    def infer_batch(self, observations: Sequence[Observation], states: Sequence[State]) -> list[Floats]:
        """Each rollout's next actions, (n, 7) as `infer` answers them: the same numbers up to rounding.

        observations[i] belongs to states[i]; no state twice. All observations are checked before any state changes, so
        after an error (SpecError) the batch can be asked again one by one to find whose it is.
        """
        ...


@dataclass(frozen=True)
class PolicyCard:
    """All of policy.json. `network`: sizes for the family; `training`, `measured`: what was done and how it went."""

    spec: PolicySpec
    description: str
    organization: str
    license: str
    provenance: str
    revision: str
    network: Mapping[str, Any]
    training: Mapping[str, Any]
    measured: Mapping[str, Any]

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> PolicyCard:
        """Raises BadCard naming the first field that is missing or unusable."""
        try:
            cameras = tuple(
                CameraSpec(_text(c, "name"), _count(c, "height", MAX_SIDE), _count(c, "width", MAX_SIDE))
                for c in data["cameras"]
            )
            spec = PolicySpec(
                id=_text(data, "id"),
                name=_text(data, "name"),
                family=_text(data, "family"),
                cameras=cameras,
                action_space=_text(data, "action_space"),
                rate_hz=_count(data, "rate_hz", MAX_RATE_HZ),
                chunk=_count(data, "chunk", MAX_CHUNK),
                chunking=Chunking(_count(data, "execute", MAX_CHUNK), data["ensembling"]),
                statistics_key=_text(data, "statistics_key"),
            )
            return cls(
                spec,
                description=_text(data, "description"),
                organization=_text(data, "organization"),
                license=_text(data, "license"),
                provenance=_text(data, "provenance"),
                revision=_text(data, "revision"),
                network=_object(data, "network"),
                training=_object(data, "training"),
                measured=_object(data, "measured"),
            )
        except KeyError as error:
            raise BadCard(f"policy.json: field {error.args[0]!r} is missing") from None
        except (TypeError, ValueError) as error:
            raise BadCard(f"policy.json: {error}") from None

    def to_json(self) -> dict[str, Any]:
        """The inverse of `from_json`, in the order that people read."""
        spec = self.spec
        return {
            "id": spec.id,
            "name": spec.name,
            "family": spec.family,
            "description": self.description,
            "organization": self.organization,
            "license": self.license,
            "provenance": self.provenance,
            "revision": self.revision,
            "cameras": [{"name": c.name, "height": c.height, "width": c.width} for c in spec.cameras],
            "action_space": spec.action_space,
            "rate_hz": spec.rate_hz,
            "chunk": spec.chunk,
            "execute": spec.chunking.execute,
            "ensembling": spec.chunking.ensemble,
            "statistics_key": spec.statistics_key,
            "network": dict(self.network),
            "training": dict(self.training),
            "measured": dict(self.measured),
        }


def _text(data: Mapping[str, Any], name: str) -> str:
    value = data[name]
    if not isinstance(value, str) or "\0" in value:
        raise TypeError(f"{name}: expected a text, got {value!r}")
    value.encode()  # a lone surrogate can be neither stored nor sent
    return value


def _count(data: Mapping[str, Any], name: str, most: int) -> int:
    value = data[name]
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
        raise ValueError(f"{name}: expected a whole number, 1..{most}, got {value!r}")
    return value


def _object(data: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = data[name]
    if not isinstance(value, dict):
        raise TypeError(f"{name}: expected an object, got {value!r}")
    return value
