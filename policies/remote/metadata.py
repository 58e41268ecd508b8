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
    found = [*_differences(declared(metadata), card, contract)]
    if contract.dialect == ROBOARENA:
        found += _roboarena_differences(metadata, contract)
    if found:
        raise ContractBroken(f"the server declares {'; '.join(found)}")


def needs_session(metadata: Mapping[str, Any]) -> bool:
    return metadata.get("needs_session_id") is True


def _differences(told: Mapping[str, Any], card: PolicyCard, contract: Contract) -> Iterator[str]:
    registered = card.to_json() | {"proprioception": card.spec.proprioception}
    for name in COMPARED:
        if name in told and told[name] != registered[name]:
            yield f"{name} {_short(told[name])}, the card {_short(registered[name])}"
    if "cameras" in told and told["cameras"] != registered["cameras"]:
        yield f"cameras {_short(told['cameras'])}, the card {_short(registered['cameras'])}"
    forms = {name: told[name] for name in FORMS if name in told}
    try:
        theirs = Contract.of(card.spec, {**card.network, **forms})
    except BadCard as error:
        yield f"a form that cannot be read: {error}"
        return
    for name in forms:
        if getattr(theirs, name) != getattr(contract, name):
            yield f"{name} {_short(told[name])}, the card {_short(card.network.get(name, 'the usual'))}"


def _roboarena_differences(metadata: Mapping[str, Any], contract: Contract) -> Iterator[str]:
    missing = [name for name in ROBOARENA_NAMES if name not in metadata]
    if missing:
        yield f"no {', '.join(missing)}, which RoboArena's dialect needs"
        return
    spaces = ROBOARENA_SPACES[contract.actions.pose]
    if metadata["action_space"] not in spaces:
        yield f"action_space {_short(metadata['action_space'])}, the card {' or '.join(spaces)}"
    sent = {form.key: [form.height, form.width] for form in contract.images.values()}
    count = metadata["n_external_cameras"]
    if not isinstance(count, int) or not 0 <= count <= 2:
        yield f"n_external_cameras {_short(count)}, expected 0, 1 or 2"
        return
    wanted = [EXTERNAL.format(number) for number in range(count)] + [WRIST] * bool(metadata["needs_wrist_camera"])
    yield from (f"the picture {name}, the card has {', '.join(sent)}" for name in wanted if name not in sent)
    size = metadata["image_resolution"]
    if size is not None:
        yield from (f"pictures of {_short(size)}, the card {each}" for each in sent.values() if each != size)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 120 else f"{text[:120]}..."
