"""Whether a policy was made for a robot in a scene: its declared action space, control rate and cameras, compared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from policies.base import PolicySpec, WrongEmbodiment
from simulation.contracts import CameraSpec, Embodiment


def mismatches(spec: PolicySpec, world: Embodiment) -> list[str]:
    """Everything that the policy declares and the world does not have, each with what would have been right."""
    found = []
    if spec.action_space != world.action_space:
        found.append(f"{world.robot_id} takes the action space {world.action_space!r}, not {spec.action_space!r}")
    if spec.rate_hz != world.rate_hz:
        found.append(f"{world.robot_id} is controlled at {world.rate_hz} Hz, not {spec.rate_hz} Hz")
    return found + list(_missing_cameras(spec.cameras, world))


def fits(spec: PolicySpec, world: Embodiment) -> bool:
    return not mismatches(spec, world)


def fitting(spec: PolicySpec, worlds: Iterable[Embodiment]) -> list[Embodiment]:
    """Those of the worlds that the policy fits. Raises WrongEmbodiment when it fits none of them."""
    asked = list(worlds)
    if found := [world for world in asked if fits(spec, world)]:
        return found
    told = dict.fromkeys(line for world in asked for line in mismatches(spec, world))
    raise WrongEmbodiment("; ".join(told) or "there is no world to play in")


def _missing_cameras(cameras: Iterable[CameraSpec], world: Embodiment) -> Iterator[str]:
    largest = {camera.name: camera for camera in world.cameras}
    for asked in cameras:
        offered = largest.get(asked.name)
        if offered is None:
            yield f"{world.scene_id} has the cameras {', '.join(largest)}, not {asked.name!r}"
        elif asked.height > offered.height or asked.width > offered.width:
            most, size = f"{offered.height} x {offered.width}", f"{asked.height} x {asked.width}"
            yield f"{world.scene_id} renders the camera {asked.name!r} at up to {most} pixels, not {size}"
