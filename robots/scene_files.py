"""The files from which a browser builds a scene. `manage.py build_scenes` writes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from django.conf import settings

from arena.errors import NotFound, SceneNotBuilt
from robots.models import PublishedScene
from simulation import catalogue

MANIFEST = "manifest.json"


def manifest_of(robot_id: str, scene_id: str) -> dict[str, Any]:
    """The manifest of a scene. Raises NotFound for an unknown scene, SceneNotBuilt when its files are missing."""
    if row := published(scene_id):
        return with_meshes(row.manifest)
    if not any(robot.id == robot_id and scene_id in robot.scenes for robot in catalogue.robots()):
        raise NotFound
    try:
        manifest: dict[str, Any] = json.loads((folder_of(robot_id, scene_id) / MANIFEST).read_text("utf-8"))
    except FileNotFoundError:
        raise SceneNotBuilt from None
    return manifest


def folder_of(robot_id: str, scene_id: str) -> Path:
    return Path(settings.SCENE_BUNDLES) / robot_id / scene_id


def published(scene_id: str) -> PublishedScene | None:
    """The row of a scene that moderators composed, and that was ever published."""
    if any(each.id == scene_id for each in catalogue.shipped_scenes()):
        return None
    states = PublishedScene.State
    return PublishedScene.objects.filter(scene_id=scene_id).exclude(state=states.DRAFT).first()


def with_meshes(manifest: dict[str, Any]) -> dict[str, Any]:
    """A composed scene has no files but its XML: the robot's meshes are those of the default scene, with its addresses,
    so that a browser that has been there fetches none again."""
    robot_id, scene_id = manifest["robot_id"], settings.DEFAULT_SCENE
    default = manifest_of(robot_id, scene_id)
    return {**manifest, "assets": addressed(default, address_of(robot_id, scene_id, default))["assets"]}


def address_of(robot_id: str, scene_id: str, manifest: dict[str, Any]) -> str:
    """Where a scene's files are."""
    return f"/api/scenes/{robot_id}/{scene_id}/{manifest['scene_hash']}"


def addressed(manifest: dict[str, Any], base: str) -> dict[str, Any]:
    """The manifest with the addresses of its files, which are under `base` unless they have their own."""
    assets = [{**asset, "url": asset.get("url", f"{base}/{file_of(asset)}")} for asset in manifest["assets"]]
    return {**manifest, "xml_url": f"{base}/{manifest['xml']}", "assets": assets}


def content_of(robot_id: str, scene_id: str, name: str) -> bytes:
    """A file of a scene whose manifest names it."""
    if row := published(scene_id):
        return row.xml.encode()
    return (folder_of(robot_id, scene_id) / name).read_bytes()


def file_of(asset: dict[str, Any]) -> str:
    """The name of the asset's file in the bundle. Its `name` is the one in the XML."""
    return str(asset.get("file", asset["name"]))
