"""What the arena's catalogue says of LIBERO's scenes and tasks, and what the scenes' plug-in reads."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml
from robosuite_xml import LARGEST_PICTURE, name_of

STEPS = {"libero_spatial": 220, "libero_object": 280, "libero_goal": 300, "libero_10": 520}
CHUNKS_PER_STEP = 4  # control steps of 20 Hz in a fifth of a second
TITLES = {"libero_spatial": "Spatial", "libero_object": "Object", "libero_goal": "Goal", "libero_10": "10"}


def write_catalogue(folder: Path, facts: Iterable[Mapping[str, Any]], bases: Mapping[str, list[float]]) -> None:
    """Rows for the catalogue (simulation.catalogue), and what the scenes' plug-in reads."""
    facts = list(facts)
    rows = {"scenes": [scene_row(fact) for fact in facts], "tasks": [task_row(fact) for fact in facts]}
    for name, content in rows.items():
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=118))
    told = {
        name_of(fact): {
            "base": bases[name_of(fact)],
            "objects": list(fact["objects"]),
            "fixtures": list(fact["fixtures"]),
            "joints": [[renamed(fact, joint), first] for joint, first in fact["joints"]],
            "settled": fact["settled"],
            "home": fact["home"],
        }
        for fact in facts
    }
    (folder / "scenes.json").write_text(json.dumps(told, indent=1))


def renamed(fact: Mapping[str, Any], joint: str) -> str:
    """The name of a joint in our worlds; the robot's have its prefix there."""
    return joint.removesuffix("_joint0") if joint.removesuffix("_joint0") in fact["objects"] else joint


def scene_row(fact: Mapping[str, Any]) -> dict[str, Any]:
    things = {name: thing_row(fact, name, "object") for name in fact["objects"]}
    things |= {name: thing_row(fact, name, "target") for name in fact["fixtures"]}
    sites = {part["names"][-1]: part["parent"] for part in fact["goal"] if part["is_site"]}
    row = {
        "id": name_of(fact),
        "name": f"LIBERO {TITLES[fact['suite']]} {fact['number'] + 1}",
        "description": f"Task {fact['number'] + 1} of 10 of LIBERO-{TITLES[fact['suite']]}, with its 50 start states.",
        "robots": ["panda"],
        "cameras": [{"name": "agentview", "height": LARGEST_PICTURE, "width": LARGEST_PICTURE}],
        "assets": "libero",
        "things": things,
        "suggestions": [fact["language"]],
        "free_suggestions": ["wave hello"],
    }
    regions = {site: {"of": parent} if parent else {} for site, parent in sites.items()}
    joints: dict[str, dict[str, float]] = {joint: {} for part in fact["goal"] for joint in part.get("joints", ())}
    return row | ({"regions": regions} if regions else {}) | ({"joints": joints} if joints else {})


def thing_row(fact: Mapping[str, Any], name: str, kind: str) -> dict[str, Any]:
    """Things of one kind are told apart by their numbers."""
    here = fact["objects"] | fact["fixtures"]
    category = fact["categories"][name]
    alike = [each for each in here if fact["categories"][each] == category]
    number = f" {alike.index(name) + 1}" if len(alike) > 1 else ""
    return {"kind": kind, "nouns": [{"text": category.replace("_", " ") + number}]}


def task_row(fact: Mapping[str, Any]) -> dict[str, Any]:
    parts = [goal_of(part) for part in fact["goal"]]
    template, slots = slotted(fact)
    return {
        "id": name_of(fact),
        "name": f"LIBERO {TITLES[fact['suite']]} {fact['number'] + 1}",
        "description": f"{fact['language'].capitalize()}.",
        "environment": {"robot": "panda", "scene": name_of(fact)},
        "instruction_templates": [{"text": template}],
        "values": [slots],
        "goal": parts[0] if len(parts) == 1 else {"all": parts},
        "max_steps": STEPS[fact["suite"]] // CHUNKS_PER_STEP,
        "hold_steps": 1,
        "timeout_s": 600,
    }


def slotted(fact: Mapping[str, Any]) -> tuple[str, dict[str, str]]:
    """The instruction with a slot for each thing that it calls as the catalogue does, and what fills them."""
    text, slots = str(fact["language"]), dict[str, str]()
    called = {thing_row(fact, name, "")["nouns"][0]["text"]: name for name in fact["objects"] | fact["fixtures"]}
    for noun in sorted(called, key=len, reverse=True):
        slot = f"thing_{len(slots) + 1}"
        text, count = re.subn(rf"\b{re.escape(noun)}\b", f"{{{slot}}}", text)
        if count:
            slots[slot] = called[noun]
    return text, slots


def goal_of(part: Mapping[str, Any]) -> dict[str, Any]:
    """The term in the project's predicates (simulation.goals.benchmark, simulation.goals.joints)."""
    thing, last = part["names"][0], part["names"][-1]
    verb = part["verb"]
    if verb == "in" and part["is_site"]:
        return {"within_region": {"thing": thing, "region": last}}
    if verb == "on" and part["is_site"] and part["judged_above"]:
        of = {"of": part["parent"]} if part["parent"] else {}
        return {"over_region": {"thing": thing, "region": last, **of}}
    if verb == "on" and not part["is_site"]:
        return {"rests_over": {"thing": thing, "support": last}}
    if verb in ("open", "close", "turnon", "turnoff"):
        terms = [joint_term(part, joint) for joint in part["joints"]]
        joined = "any" if verb in ("open", "turnon") else "all"
        return terms[0] if len(terms) == 1 else {joined: terms}
    raise SystemExit(f"expected on, in, open, close, turnon or turnoff as a goal, got {part}")


def joint_term(part: Mapping[str, Any], joint: str) -> dict[str, Any]:
    """LIBERO's threshold [m, rad]; articulated_objects.py compares with the range's nearer end."""
    verb, ranges = part["verb"], part["ranges"]
    if verb in ("turnon", "turnoff"):
        value = min(ranges["default_turnon_ranges"]) if verb == "turnon" else max(ranges["default_turnoff_ranges"])
        return {"past": {"joint": joint, "value": value, "side": "above" if verb == "turnon" else "below"}}
    opens_down = max(ranges["default_open_ranges"]) < 0
    if verb == "open":
        value = max(ranges["default_open_ranges"]) if opens_down else min(ranges["default_open_ranges"])
        return {"past": {"joint": joint, "value": value, "side": "below" if opens_down else "above"}}
    value = min(ranges["default_close_ranges"]) if opens_down else max(ranges["default_close_ranges"])
    return {"past": {"joint": joint, "value": value, "side": "above" if opens_down else "below"}}
