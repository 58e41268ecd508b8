"""Slims the scenes that `export.py` has made, and writes what the arena loads: `panda/`, `libero/`, and their hashes.

    .venv/bin/python scripts/libero/convert.py build/libero/made build/libero/assets

The robot is taken out of the scenes, because it is the same in all of them. What many scenes have is slimmed once.
"""

from __future__ import annotations

import copy
import hashlib
import json
import re
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterable, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import yaml
from PIL import Image

BASE = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(BASE))

from simulation.slimming import slim_spec  # noqa: E402
from simulation.slimming.baking import palette_png  # noqa: E402
from simulation.slimming.surfaces import Surface, slim  # noqa: E402

ROBOT = ("robot0_", "gripper0_")
SHARE, FEWEST, TEXTURE_PX, PICTURE_PX = 0.08, 250, 256, 256
HIDDEN_GEOMS, HIDDEN_SITES = "3", "5"
CAMERAS = ("agentview", "frontview", "sideview")
STEPS = {"libero_spatial": 220, "libero_object": 280, "libero_goal": 300, "libero_10": 520}
CHUNKS_PER_STEP = 4  # control steps of 20 Hz in a fifth of a second
TITLES = {"libero_spatial": "Spatial", "libero_object": "Object", "libero_goal": "Goal", "libero_10": "10"}
LARGEST_PICTURE = 640

Node = ET.Element


def main(made: Path, out: Path) -> None:
    facts = [json.loads(path.read_text()) for path in sorted(made.glob("*.json"))]
    if not facts:
        sys.exit(f"no scenes in {made}; run export.py first")
    facts.sort(key=lambda fact: (list(STEPS).index(fact["suite"]), fact["number"]))
    slimmer = remembering()
    scenes = out / "libero"
    scenes.mkdir(parents=True, exist_ok=True)
    bases = {}
    for fact in facts:
        name = name_of(fact)
        scene, robot, bases[name] = split(ET.parse(made / f"{name}.xml").getroot(), fact)  # noqa: S314 - export.py wrote it
        if not (out / "panda" / "panda.xml").is_file():
            write_model(slimmed(robot, slimmer), out / "panda", "panda.xml")
        if not (scenes / f"{name}.xml").is_file():
            write_model(slimmed(scene, slimmer), scenes, f"{name}.xml")
        np.save(scenes / f"{name}.npy", np.load(made / f"{name}.npy", allow_pickle=False))
        print(f"slimmed {name}", flush=True)
    write_catalogue(scenes, facts, bases)
    for folder in ("panda", "libero"):
        write_sums(out, folder)


def name_of(fact: Mapping[str, Any]) -> str:
    return f"{fact['suite']}_{fact['number']}"


def split(root: Node, fact: Mapping[str, Any]) -> tuple[Node, Node, list[float]]:
    """The scene without the robot, the robot alone, and where it stands [m]."""
    world = found(root, "worldbody")
    base = next(body for body in world.findall("body") if body.get("name") == "robot0_base")
    world.remove(base)
    stand = numbers(base.attrib.pop("pos", "0 0 0"))
    for body in [each for each in base.findall("body") if each.get("name") == "mount0_base"]:
        base.remove(body)
        body.set("pos", text_of(np.add(stand, numbers(body.get("pos", "0 0 0")))))
        world.append(body)
    robot = ET.Element("mujoco", model="panda")
    robot.append(copy.deepcopy(found(root, "compiler")))
    assets, mine = found(root, "asset"), ET.SubElement(robot, "asset")
    for asset in list(assets):
        if (asset.get("name") or asset.get("file") or "").startswith(ROBOT):
            assets.remove(asset)
            mine.append(asset)
    ET.SubElement(robot, "worldbody").append(base)
    for part in ("actuator", "sensor"):
        robot.append(found(root, part))
        root.remove(found(root, part))
    root.set("model", name_of(fact))
    for camera in robot.iter("camera"):
        if camera.get("name") == "robot0_eye_in_hand":
            camera.set("name", "wrist")
    for camera in world.findall("camera"):
        if camera.get("name") not in CAMERAS:
            world.remove(camera)
    visual = found(root, "visual")
    ET.SubElement(visual, "global", offwidth=str(LARGEST_PICTURE), offheight=str(LARGEST_PICTURE))
    rename(world, fact)
    for model in (root, robot):
        merge_meshes(model)
        hide(model)
    return root, robot, stand


def found(root: Node, name: str) -> Node:
    node = root.find(name)
    if node is None:
        raise SystemExit(f"the scene has no {name}")
    return node


def rename(world: Node, fact: Mapping[str, Any]) -> None:
    """Bodies by their things' names, and free joints by their bodies'."""
    bodies = {root: name for name, root in (fact["objects"] | fact["fixtures"]).items()}
    free = {f"{name}_joint0": name for name in fact["objects"]}
    for body in world.iter("body"):
        body.set("name", bodies.get(body.get("name", ""), body.get("name", "")))
    for kind in ("joint", "freejoint"):
        for joint in world.iter(kind):
            joint.set("name", free.get(joint.get("name", ""), joint.get("name", "")))


def merge_meshes(root: Node) -> None:
    """Let things of one kind share meshes and textures, and drop what nothing shows."""
    assets = found(root, "asset")
    first: dict[tuple[str, ...], str] = {}
    same: dict[str, dict[str, str]] = {"mesh": {}, "texture": {}, "material": {}}
    for kind in ("mesh", "texture", "material"):
        for asset in assets.findall(kind):
            if "texture" in asset.attrib:
                asset.set("texture", same["texture"].get(asset.get("texture", ""), asset.get("texture", "")))
            name = asset.get("name", "")
            key = (kind, *(f"{key}={value}" for key, value in sorted(asset.attrib.items()) if key != "name"))
            if kind != "texture" or asset.get("file"):
                same[kind][name] = first.setdefault(key, name)
                if same[kind][name] != name:
                    assets.remove(asset)
    for geom in root.iter("geom"):
        for kind in ("mesh", "material"):
            if geom.get(kind):
                geom.set(kind, same[kind].get(geom.get(kind, ""), geom.get(kind, "")))
    for kind, user in (
        ("mesh", root.iter("geom")),
        ("material", root.iter("geom")),
        ("texture", assets.iter("material")),
    ):
        used = {each.get(kind) for each in user}
        for asset in assets.findall(kind):
            if asset.get("name") and asset.get("name") not in used:
                assets.remove(asset)


def hide(root: Node) -> None:
    """What robosuite does not draw: geoms of group 0, and sites."""
    for geom in root.iter("geom"):
        if geom.get("group", "0") == "0":
            geom.set("group", HIDDEN_GEOMS)
    for site in root.iter("site"):
        site.set("group", HIDDEN_SITES)


def slimmed(root: Node, slimmer: Callable[..., Surface]) -> mujoco.MjSpec:
    """With slim meshes and small pictures, all as assets by names that tell their content."""
    compiler = found(root, "compiler")
    compiler.attrib.pop("meshdir", None)
    assets: dict[str, bytes] = {}
    for asset in found(root, "asset"):
        for key in ("file", "fileright", "fileleft", "fileup", "filedown", "filefront", "fileback"):
            if asset.get(key):
                path = Path(asset.get(key, ""))
                name = f"{hashlib.sha256(str(path).encode()).hexdigest()[:8]}-{path.name}"
                assets[name] = path.read_bytes()
                asset.set(key, name)
    spec = mujoco.MjSpec.from_string(ET.tostring(root, "unicode"), assets=assets)
    spec.assets = assets
    slim_spec(spec, SHARE, FEWEST, TEXTURE_PX, slimmer)
    shown = {geom.meshname for geom in spec.geoms if geom.meshname}
    for mesh in [each for each in spec.meshes if each.name not in shown]:
        spec.delete(mesh)
    worn = {geom.material for geom in spec.geoms if geom.material}
    for material in [each for each in spec.materials if each.name not in worn]:
        spec.delete(material)
    used = {name for each in spec.materials for name in each.textures if name}
    for texture in [each for each in spec.textures if each.name and each.name not in used]:
        spec.delete(texture)
    for texture in spec.textures:
        if texture.file and not texture.file.endswith("-slim.png"):
            spec.assets[texture.file] = small(spec.assets[texture.file])
    return spec


def small(content: bytes) -> bytes:
    """A picture of at most PICTURE_PX in each direction."""
    picture = Image.open(BytesIO(content)).convert("RGB")
    picture.thumbnail((PICTURE_PX, PICTURE_PX), Image.Resampling.LANCZOS)
    return palette_png(np.asarray(picture))


def remembering() -> Callable[..., Surface]:
    """`slim`, which answers at once what it was asked before: things are in many scenes."""
    known: dict[str, Surface] = {}

    def ask(surface: Surface, most_faces: int, texture_px: int) -> Surface:
        digest = hashlib.sha256(f"{most_faces} {texture_px}".encode())
        for part in (surface.vertices, surface.faces, surface.uv, surface.texture):
            digest.update(b"none" if part is None else np.ascontiguousarray(part).tobytes())
        key = digest.hexdigest()
        if key not in known:
            known[key] = slim(surface, most_faces, texture_px)
        return known[key]

    return ask


def write_model(spec: mujoco.MjSpec, folder: Path, name: str) -> None:
    """The XML last, and each file that it names, by its content."""
    folder.mkdir(parents=True, exist_ok=True)
    for each in (*spec.meshes, *spec.textures):
        if each.file:
            content = spec.assets[each.file]
            stem = re.sub(r"[^A-Za-z0-9]+", "-", Path(each.file).stem.removesuffix("-slim"))
            file = f"{stem}.{hashlib.sha256(content).hexdigest()[:12]}{Path(each.file).suffix}"
            spec.assets[file] = content
            each.file = file
            (folder / file).write_bytes(content)
    spec.compile()
    fresh = folder / f"{name}.part"
    fresh.write_text(spec.to_xml(), "utf-8")
    fresh.replace(folder / name)


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


def write_sums(out: Path, folder: str) -> None:
    """The manifest of a folder, as `sha256sum` writes it. Files that nothing names are removed."""
    here = out / folder
    named = {path.name for path in here.glob("*") if path.suffix in (".xml", ".npy", ".yaml", ".json")}
    for path in here.glob("*.xml"):
        named |= set(re.findall(r'file[a-z]*="([^"]+)"', path.read_text("utf-8")))
    for path in here.iterdir():
        if path.name not in named:
            path.unlink()
    lines = [f"{hashlib.sha256((here / name).read_bytes()).hexdigest()}  {name}" for name in sorted(named)]
    (out / f"{folder}.sha256").write_text("\n".join(lines) + "\n")


def numbers(text: str) -> list[float]:
    return [float(each) for each in text.split()]


def text_of(values: Iterable[float]) -> str:
    return " ".join(f"{value:.9g}" for value in values)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
