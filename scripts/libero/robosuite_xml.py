"""The XML of a scene as robosuite makes it: taken apart into scene and robot, and named as in this arena."""

from __future__ import annotations

import copy
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

ROBOT = ("robot0_", "gripper0_")
HIDDEN_GEOMS, HIDDEN_SITES = "3", "5"
CAMERAS = ("agentview", "frontview", "sideview")
LARGEST_PICTURE = 640

Node = ET.Element


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


def numbers(text: str) -> list[float]:
    return [float(each) for each in text.split()]


def text_of(values: Iterable[float]) -> str:
    return " ".join(f"{value:.9g}" for value in values)
