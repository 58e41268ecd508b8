"""What a card says of a server: where it is, which dialect it speaks, and in which form it is asked and answers.

It is the `network` of a policy.json of the family "remote":

    {"url": "ws://gpu-3:8000", "dialect": "openpi", "key_variable": "LAB_API_KEY", "infer_s": 10.0,
     "images": {"workspace": {"key": "observation/image", "height": 224, "width": 224, "crop": 0.9, "turn": 180}},
     "state": {"observation/state": "pose_euler_gripper"}, "prompt": "prompt", "session": false, "coding": "openpi",
     "actions": {"pose": "delta", "rotation": "axis_angle", "opened": -1.0, "closed": 1.0, "horizon": 10}}

An address with http or https is one of OpenVLA's dialect, "act", which is sent the card's statistics_key as unnorm_key.
"vla_eval" is the dialect of model servers of vla-evaluation-harness, where names of pictures begin with "images/".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, fields
from typing import Any, TypeVar
from urllib.parse import urlsplit

from policies.base import MAX_SIDE, BadCard, PolicySpec
from policies.remote.actions import AS_IT_IS, POSES, ActionForm
from policies.remote.poses import FRAMES, READERS
from policies.remote.sights import FITS, PLAIN, STATES, TURNS, PictureForm
from simulation.contracts import ACTION_SPACE, LIBERO_ACTIONS, LIBERO_STATE, MAX_CHUNK, PROPRIOCEPTION_SPACE

OPENPI, ROBOARENA, ACT, VLA_EVAL = "openpi", "roboarena", "act", "vla_eval"
ENCODED = "encoded"
CODINGS = {
    OPENPI: ("openpi", "text"),
    ROBOARENA: ("openpi", "text"),
    ACT: ("json_numpy", ENCODED),
    VLA_EVAL: ("text",),
}
"""Of arrays that are sent, by dialect; the first is the usual one."""
KEY_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]*_API_KEY")
"""Whoever writes a card chooses the variable and the server that gets its value: it must be able to name no other
secret."""
FIRST_IMAGES = {
    OPENPI: "observation/image",
    ROBOARENA: "observation/exterior_image_0_left",
    ACT: "image",
    VLA_EVAL: "images/primary",
}
OTHER_IMAGES = {
    OPENPI: "observation/{}_image",
    ROBOARENA: "observation/{}_image",
    ACT: "{}_image",
    VLA_EVAL: "images/{}",
}
PROMPTS = {OPENPI: "prompt", ROBOARENA: "prompt", ACT: "instruction", VLA_EVAL: "task_description"}
USUAL_STATE: dict[str, dict[str, str]] = {
    OPENPI: {"observation/state": "proprioception"},
    ROBOARENA: {"observation/cartesian_position": "pose_euler", "observation/gripper_position": "gripper"},
    ACT: {},
    VLA_EVAL: {"states": "pose_axis_angle_gripper"},
}
SPACES = {ACTION_SPACE: PROPRIOCEPTION_SPACE, LIBERO_ACTIONS: LIBERO_STATE}
"""What a server may answer in -> what it is told of the arm. Only the first is made from and into other forms."""
LONGEST_KEY, MOST_INFER_S = 100, 30.0
Read = TypeVar("Read")


@dataclass(frozen=True)
class Contract:
    """`images`: by camera. `state`: names in the message -> source (sights.STATES). `prompt`: the instruction's name.

    `session`: whether a random id of the episode is sent. `coding`: of arrays that are sent (policies.remote.codec).
    `infer_s`: the most seconds of one answer.
    """

    url: str
    dialect: str
    key_variable: str
    infer_s: float
    images: Mapping[str, PictureForm]
    state: Mapping[str, str]
    prompt: str
    session: bool
    coding: str
    actions: ActionForm

    @classmethod
    def of(cls, spec: PolicySpec, network: Mapping[str, Any]) -> Contract:
        """Raises BadCard, which says what would have been right."""
        known = {field.name for field in fields(cls)}
        _refuse_unknown(network, known, "network")
        if spec.action_space not in SPACES:
            spaces = " or ".join(map(repr, SPACES))
            raise BadCard(f"policy.json: a server's actions become {spaces}, not {spec.action_space!r}")
        if spec.proprioception not in ("", SPACES[spec.action_space]):
            feels = SPACES[spec.action_space]
            raise BadCard(f"policy.json: a server is told {feels!r}, not {spec.proprioception!r}")
        url = _text(network, "url", None)
        dialect = checked_dialect(network, url)
        if dialect in (ROBOARENA, VLA_EVAL) and spec.action_space != ACTION_SPACE:
            raise BadCard(f"policy.json: the dialect {dialect!r} has no form for {spec.action_space!r}; use {OPENPI!r}")
        actions = _actions(_table(network, "actions", {}), spec)
        usual = USUAL_STATE[dialect] if spec.proprioception else {}
        return cls(
            url=url,
            dialect=dialect,
            key_variable=checked_key_variable(network.get("key_variable", "")),
            infer_s=_number(network, "infer_s", 10.0, 0.01, MOST_INFER_S),
            images=_images(_table(network, "images", {}), spec, dialect),
            state=_state(_table(network, "state", usual), spec),
            prompt=_text(network, "prompt", PROMPTS[dialect]),
            session=_session(network, dialect),
            coding=_choice(network, "coding", CODINGS[dialect], CODINGS[dialect][0]),
            actions=actions,
        )


def dialect_of(url: str) -> str:
    """The usual dialect at an address: over HTTP that of OpenVLA, over a websocket that of openpi."""
    return ACT if urlsplit(url).scheme in ("http", "https") else OPENPI


def checked_dialect(network: Mapping[str, Any], url: str) -> str:
    """The one that is asked for, or the usual one. Raises BadCard for one that is not spoken at such an address."""
    usual = dialect_of(url)
    known = (ACT,) if usual == ACT else (OPENPI, ROBOARENA, VLA_EVAL)
    dialect = network.get("dialect", usual)
    if dialect in (*CODINGS,) and dialect not in known:
        scheme = "http:// or https://" if dialect == ACT else "ws:// or wss://"
        raise BadCard(f"policy.json: the dialect {dialect!r} is spoken at addresses with {scheme}, not at {url!r}")
    return _choice(network, "dialect", known, usual)


def _session(network: Mapping[str, Any], dialect: str) -> bool:
    asked = _flag(network, "session")
    if asked and dialect in (ACT, VLA_EVAL):
        raise BadCard(f"policy.json: session: the dialect {dialect!r} has no place for a session_id; expected false")
    return asked


def _images(rows: Mapping[str, Any], spec: PolicySpec, dialect: str) -> dict[str, PictureForm]:
    """Of every camera of the card. The first one has a usual name in the message; others are named after themselves."""
    _refuse_unknown(rows, {camera.name for camera in spec.cameras}, "images")
    found = {}
    for number, camera in enumerate(spec.cameras):
        row = _table(rows, camera.name, {})
        _refuse_unknown(row, {field.name for field in fields(PictureForm)}, f"images.{camera.name}")
        usual = FIRST_IMAGES[dialect] if number == 0 else OTHER_IMAGES[dialect].format(camera.name)
        found[camera.name] = PictureForm(
            key=_text(row, "key", usual),
            height=_count(row, "height", camera.height, MAX_SIDE),
            width=_count(row, "width", camera.width, MAX_SIDE),
            crop=_number(row, "crop", 1.0, 0.01, 1.0),
            turn=_choice(row, "turn", TURNS, 0),
            fit=_choice(row, "fit", FITS, "pad"),
        )
    return found


def _state(rows: Mapping[str, Any], spec: PolicySpec) -> dict[str, str]:
    if rows and not spec.proprioception:
        raise BadCard('policy.json: state: the card says that it reads nothing of the arm ("proprioception": "")')
    known = tuple(STATES) if spec.action_space == ACTION_SPACE else (PLAIN,)
    return {key: _choice(rows, key, known, "") for key in rows}


def _actions(row: Mapping[str, Any], spec: PolicySpec) -> ActionForm:
    if spec.action_space == ACTION_SPACE:
        form = _converted(row, spec)
    else:
        _refuse_unknown(row, {"horizon"}, f"actions, which are played as they are in {spec.action_space},")
        form = ActionForm(pose=AS_IT_IS, horizon=_horizon(row, spec))
    if form.horizon is not None and form.horizon < spec.chunk:
        raise BadCard(f"policy.json: actions: a horizon of {form.horizon} has no chunk of {spec.chunk}")
    return form


def _horizon(row: Mapping[str, Any], spec: PolicySpec) -> int | None:
    return _or_none(_count, row, "horizon", spec.chunk, MAX_CHUNK)


def _converted(row: Mapping[str, Any], spec: PolicySpec) -> ActionForm:
    _refuse_unknown(row, {field.name for field in fields(ActionForm)}, "actions")
    usual = ActionForm()
    form = ActionForm(
        pose=_choice(row, "pose", POSES, usual.pose),
        rotation=_choice(row, "rotation", tuple(READERS), usual.rotation),
        frame=_choice(row, "frame", tuple(FRAMES), usual.frame),
        signs=_signs(row, usual.signs),
        opened=_number(row, "opened", usual.opened, -1e3, 1e3),
        closed=_number(row, "closed", usual.closed, -1e3, 1e3),
        threshold=_or_none(_number, row, "threshold", None, 0.0, 1.0),
        horizon=_horizon(row, spec),
    )
    if abs(form.opened - form.closed) < 1e-6:
        raise BadCard("policy.json: actions: opened and closed are the same number")
    if form.pose == "absolute" and spec.chunking.ensemble:
        raise BadCard('policy.json: absolute poses cannot be averaged: "ensembling" must be null')
    return form


def _signs(row: Mapping[str, Any], usual: tuple[int, ...]) -> tuple[int, ...]:
    signs = row.get("signs", usual)
    if not isinstance(signs, list | tuple) or len(signs) != len(usual) or not all(sign in (1, -1) for sign in signs):
        raise BadCard(f"policy.json: signs: expected six of 1 or -1, got {signs!r}")
    return tuple(int(sign) for sign in signs)


def checked_key_variable(name: Any) -> str:
    """The name itself. Raises BadCard for one that could be of another secret."""
    if name != "" and not (isinstance(name, str) and KEY_VARIABLE.fullmatch(name)):
        raise BadCard(f"policy.json: key_variable: expected a name that ends in _API_KEY, got {name!r}")
    return str(name)


def _refuse_unknown(row: Mapping[str, Any], known: Collection[str], where: str) -> None:
    if unknown := sorted(set(row) - set(known)):
        raise BadCard(
            f"policy.json: {where} has unknown fields {', '.join(unknown)}; known: {', '.join(sorted(known))}"
        )


def _table(row: Mapping[str, Any], name: str, usual: Mapping[str, Any]) -> Mapping[str, Any]:
    value = row.get(name, usual)
    if not isinstance(value, Mapping) or not all(isinstance(key, str) and 0 < len(key) <= LONGEST_KEY for key in value):
        raise BadCard(f"policy.json: {name}: expected an object, got {value!r}")
    return value


def _text(row: Mapping[str, Any], name: str, usual: str | None) -> str:
    value = row.get(name, usual)
    if not isinstance(value, str) or not 0 < len(value) <= 500 or not value.isprintable():
        raise BadCard(f"policy.json: {name}: expected a text, got {value!r}")
    return value


def _choice(row: Mapping[str, Any], name: str, known: Collection[Read], usual: Read) -> Read:
    value = row.get(name, usual)
    if isinstance(value, bool) or value not in known:
        raise BadCard(f"policy.json: {name}: expected one of {', '.join(map(str, known))}, got {value!r}")
    found: Read = value
    return found


def _number(row: Mapping[str, Any], name: str, usual: float, least: float, most: float) -> float:
    value = row.get(name, usual)
    if not isinstance(value, int | float) or isinstance(value, bool) or not least <= value <= most:
        raise BadCard(f"policy.json: {name}: expected a number, {least:g}..{most:g}, got {value!r}")
    return float(value)


def _count(row: Mapping[str, Any], name: str, usual: int, most: int) -> int:
    value = row.get(name, usual)
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
        raise BadCard(f"policy.json: {name}: expected a whole number, 1..{most}, got {value!r}")
    return value


def _or_none(read: Callable[..., Read], row: Mapping[str, Any], name: str, usual: Any, *bounds: float) -> Read | None:
    if row.get(name, usual) is None:
        return None
    return read(row, name, usual, *bounds)


def _flag(row: Mapping[str, Any], name: str) -> bool:
    value = row.get(name, False)
    if not isinstance(value, bool):
        raise BadCard(f"policy.json: {name}: expected true or false, got {value!r}")
    return value
