"""Comparing what a policy declares (action space, rate, proprioception, chunk, cameras) with a robot in a scene."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from policies.base import PolicySpec, WrongEmbodiment
from simulation.contracts import CameraSpec, Embodiment


def mismatches(spec: PolicySpec, world: Embodiment) -> list[str]:
    """Everything that the policy declares and the world lacks, each with what the world has."""
    found = []
    if spec.action_space != world.action_space:
        found.append(f"{world.robot_id} takes the action space {world.action_space!r}, not {spec.action_space!r}")
    if spec.rate_hz != world.rate_hz:
        found.append(f"{world.robot_id} is controlled at {world.rate_hz} Hz, not {spec.rate_hz} Hz")
    if spec.proprioception not in ("", world.proprioception):
        found.append(f"{world.robot_id} feels {world.proprioception!r}, not {spec.proprioception!r}")
    if spec.chunk > world.longest_chunk:
        found.append(f"{world.robot_id} takes at most {world.longest_chunk} actions at once, not {spec.chunk}")
    return found + list(_missing_cameras(spec.cameras, world))


def fitting(spec: PolicySpec, worlds: Iterable[Embodiment]) -> list[Embodiment]:
    """The worlds that the policy fits. Raises WrongEmbodiment when there is none."""
    compared = [(world, mismatches(spec, world)) for world in worlds]
    if found := [world for world, reasons in compared if not reasons]:
        return found
    distinct = dict.fromkeys(reason for _, reasons in compared for reason in reasons)
    raise WrongEmbodiment("; ".join(distinct) or "there is no world to play in")


def _missing_cameras(cameras: Iterable[CameraSpec], world: Embodiment) -> Iterator[str]:
    largest = {camera.name: camera for camera in world.cameras}
    for wanted in cameras:
        offered = largest.get(wanted.name)
        if offered is None:
            yield f"{world.scene_id} has the cameras {', '.join(largest)}, not {wanted.name!r}"
        elif wanted.height > offered.height or wanted.width > offered.width:
            most, size = f"{offered.height} x {offered.width}", f"{wanted.height} x {wanted.width}"
            yield f"{world.scene_id} renders the camera {wanted.name!r} at up to {most} pixels, not {size}"
