"""What a server says of itself when it is connected, compared with the card of the policy.

openpi leaves the map free. What an arena wants to know may stand in it under `arena_contract`, with the names of
policy.json; every name that is there must say what the card says. RoboArena's map has names of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policies.base import BadCard, PolicyCard
from policies.remote.contract import ROBOARENA, Contract
from policies.remote.errors import BadFrame, ContractBroken

DECLARED = "arena_contract"
RESET = "reset"
"""In the contract of a server: it takes `{"endpoint": "reset", "prompt", "seed"}` and answers with a text."""
COMPARED = ("action_space", "rate_hz", "proprioception", "chunk", "statistics_key", "revision")
FORMS = ("images", "state", "actions", "prompt", "coding", "dialect", "session")
ROBOARENA_NAMES = ("image_resolution", "n_external_cameras", "needs_wrist_camera", "action_space")
ROBOARENA_SPACES = {"absolute": ("cartesian_position",), "delta": ("cartesian_velocity", "cartesian_delta")}
EXTERNAL, WRIST = "observation/exterior_image_{}_left", "observation/wrist_image_left"


def declared(metadata: Any) -> Mapping[str, Any]:
    """The arena's part of a server's metadata, {} if there is none. Raises BadFrame for what is no metadata."""
    if not isinstance(metadata, dict):
        raise BadFrame(f"the server's first message is no map of metadata, but {type(metadata).__name__}")
    found = metadata.get(DECLARED, {})
    if not isinstance(found, dict):
        raise BadFrame(f"{DECLARED}: expected a map, got {type(found).__name__}")
    return found


def check(metadata: Any, card: PolicyCard, contract: Contract) -> None:
    """Raise ContractBroken unless the server declares nothing but what the card says; BadFrame for no metadata."""
    found = dict(_differences(declared(metadata), card, contract))
    if contract.dialect == ROBOARENA:
        found |= _roboarena_differences(metadata, contract)
    if found:
        what = f"the server declares something else than the card: {', '.join(found)}"
        raise ContractBroken(what, "; ".join(f"{name}: {details}" for name, details in found.items()))


def needs_session(metadata: Mapping[str, Any]) -> bool:
    return metadata.get("needs_session_id") is True


def _differences(told: Mapping[str, Any], card: PolicyCard, contract: Contract) -> Iterator[tuple[str, str]]:
    """The fields that differ, and what each of both says."""
    registered = card.to_json() | {"proprioception": card.spec.proprioception}
    for name in (*COMPARED, "cameras"):
        if name in told and told[name] != registered[name]:
            yield name, _both(told[name], registered[name])
    forms = {name: told[name] for name in FORMS if name in told}
    try:
        theirs = Contract.of(card.spec, {**card.network, **forms})
    except BadCard as error:
        yield "forms", f"cannot be read: {error}"
        return
    for name in forms:
        if getattr(theirs, name) != getattr(contract, name):
            yield name, _both(told[name], card.network.get(name, "the usual"))


def _roboarena_differences(metadata: Mapping[str, Any], contract: Contract) -> Iterator[tuple[str, str]]:
    missing = [name for name in ROBOARENA_NAMES if name not in metadata]
    if missing:
        yield "its configuration", f"lacks {', '.join(missing)}, which RoboArena's dialect needs"
        return
    spaces = ROBOARENA_SPACES[contract.actions.pose]
    if metadata["action_space"] not in spaces:
        yield "action_space", _both(metadata["action_space"], " or ".join(spaces))
    if metadata["n_external_cameras"] not in (0, 1, 2):
        yield "n_external_cameras", _both(metadata["n_external_cameras"], "0, 1 or 2")
        return
    sent = {form.key: [form.height, form.width] for form in contract.images.values()}
    if missing := [name for name in _roboarena_pictures(metadata) if name not in sent]:
        yield "cameras", _both(missing, [*sent])
    size = metadata["image_resolution"]
    if size is not None and any(each != size for each in sent.values()):
        yield "image_resolution", _both(size, [*sent.values()])


def _roboarena_pictures(metadata: Mapping[str, Any]) -> list[str]:
    wrist = [WRIST] if metadata["needs_wrist_camera"] else []
    return [EXTERNAL.format(number) for number in range(metadata["n_external_cameras"])] + wrist


def _both(theirs: Any, ours: Any) -> str:
    return f"the server {_short(theirs)}, the card {_short(ours)}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 120 else f"{text[:120]}..."
