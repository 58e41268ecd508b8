"""What a policy declares about itself, and how opening one can fail. Needs neither Django nor torch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import partial
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np

from simulation.contracts import (
    ACTION_SPACE,
    CONTROL_HZ,
    MAX_CHUNK,
    PROPRIOCEPTION_DIM,
    PROPRIOCEPTION_SPACE,
    Actor,
    CameraSpec,
    Chunking,
    Floats,
    Observation,
)

MAX_SIDE = 4096  # of a camera picture [pixels]
MAX_RATE_HZ = 1000


class PolicyError(Exception):
    """A policy folder that cannot be opened. The message names what is accepted."""

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
    """Made for another robot: another action space, control rate, proprioception, chunk or cameras."""

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
    """A training run that cannot be resumed."""

    code = "checkpoint_error"


@dataclass(frozen=True)
class PolicySpec:
    """What a runner must know. `chunk`: actions per inference. `chunking`: how they are used. `rate_hz`: of control.

    `proprioception`: the id of what it reads of the robot's, "" for nothing.
    """

    id: str
    name: str
    family: str
    cameras: tuple[CameraSpec, ...]
    chunk: int
    chunking: Chunking
    statistics_key: str
    action_space: str = ACTION_SPACE
    rate_hz: int = CONTROL_HZ
    proprioception: str = PROPRIOCEPTION_SPACE

    def grey_observation(self, instruction: str) -> Observation:
        """Grey pictures from all cameras and an arm at zero, to try the policy with."""
        pictures = {camera.name: np.full((camera.height, camera.width, 3), 128, np.uint8) for camera in self.cameras}
        return Observation(pictures, np.zeros(PROPRIOCEPTION_DIM, np.float32), instruction, 0)


class OpenedPolicy(Actor, Protocol):
    """A policy that also knows its own spec."""

    @property
    def spec(self) -> PolicySpec: ...


@runtime_checkable
class Rests(Protocol):
    """A policy that holds something for each rollout, which it gives back between them."""

    def rest(self) -> None: ...


State = TypeVar("State")


@runtime_checkable
class BatchPolicy(Protocol[State]):
    """A policy that infers for several independent rollouts in one forward pass.

    A rollout's state (frames seen, noise to come) is made by `begin` and changed by `infer_batch` alone. `reset` and
    `infer` play one rollout on a state of the policy's own, so that calls of them and of `infer_batch` may alternate.
    The caller must not call from two threads at once.
    """

    @property
    def best_batch(self) -> int:
        """The most rollouts worth inferring together on this device. With 1, waiting for others never pays."""
        ...

    def begin(self, instruction: str, seed: int) -> State:
        """The state of a new rollout. Of an instruction too long for the network, long words lose their ends."""
        ...

    def infer_batch(self, observations: Sequence[Observation], states: Sequence[State]) -> list[Floats]:
        """Each rollout's next actions, (n, 7), the numbers of `infer` up to rounding.

        observations[i] belongs to states[i], and no state may occur twice. All observations are checked before any
        state changes, so that after an error (SpecError) each rollout of the batch can be inferred alone.
        """
        ...


@dataclass(frozen=True)
class PolicyCard:
    """All of policy.json. `network`: sizes for the family; `training`, `measured`: what was done and how it went."""

    spec: PolicySpec
    description: str
    provenance: str
    revision: str
    organization: str = ""
    license: str = ""
    network: Mapping[str, Any] = field(default_factory=dict)
    training: Mapping[str, Any] = field(default_factory=dict)
    measured: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> PolicyCard:
        """Raises BadCard naming the first field that is missing or unusable."""
        try:
            found = {name: read(data, name) for name, read in _LAYOUT.items()}
            chunking = Chunking(found.pop("execute"), found.pop("ensembling"))
            spec = {each.name: found.pop(each.name) for each in fields(PolicySpec) if each.name in found}
            return cls(PolicySpec(**spec, chunking=chunking), **found)
        except KeyError as error:
            raise BadCard(f"policy.json: field {error.args[0]!r} is missing") from None
        except (TypeError, ValueError) as error:
            raise BadCard(f"policy.json: {error}") from None

    def to_json(self) -> dict[str, Any]:
        """The inverse of `from_json`."""
        spec = asdict(self.spec) | {"cameras": [asdict(camera) for camera in self.spec.cameras]}
        chunking = {"execute": self.spec.chunking.execute, "ensembling": self.spec.chunking.ensemble}
        content = {**vars(self), **spec, **chunking}
        left_out = {name for name, usual in _OPTIONAL.items() if content[name] == usual}
        return {name: content[name] for name in _LAYOUT if name not in left_out}


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


def _cameras(data: Mapping[str, Any], name: str) -> tuple[CameraSpec, ...]:
    return tuple(
        CameraSpec(_text(row, "name"), _count(row, "height", MAX_SIDE), _count(row, "width", MAX_SIDE))
        for row in data[name]
    )


# Field of policy.json that may be left out -> what it says then.
_OPTIONAL: Mapping[str, str] = {"proprioception": PROPRIOCEPTION_SPACE}

# Field of policy.json -> how it is read, in the order in which the file is written.
_LAYOUT: dict[str, Callable[[Mapping[str, Any], str], Any]] = {
    **dict.fromkeys(
        ("id", "name", "family", "description", "organization", "license", "provenance", "revision"), _text
    ),
    "cameras": _cameras,
    "action_space": _text,
    "rate_hz": partial(_count, most=MAX_RATE_HZ),
    "proprioception": lambda data, name: _text({**_OPTIONAL, **data}, name),
    "chunk": partial(_count, most=MAX_CHUNK),
    "execute": partial(_count, most=MAX_CHUNK),
    "ensembling": lambda data, name: data[name],
    "statistics_key": _text,
    **dict.fromkeys(("network", "training", "measured"), _object),
}
