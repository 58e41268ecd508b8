"""The files from which a browser builds a scene. `manage.py build_scenes` writes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from django.conf import settings

from arena.errors import NotFound, SceneNotBuilt
from simulation import catalogue

MANIFEST = "manifest.json"


def manifest_of(robot_id: str, scene_id: str) -> dict[str, Any]:
    """The manifest of a scene. Raises NotFound for an unknown scene, SceneNotBuilt when its files are missing."""
    if not any(robot.id == robot_id and scene_id in robot.scenes for robot in catalogue.robots()):
        raise NotFound
    try:
        manifest: dict[str, Any] = json.loads((folder_of(robot_id, scene_id) / MANIFEST).read_text("utf-8"))
    except FileNotFoundError:
        raise SceneNotBuilt from None
    return manifest


def folder_of(robot_id: str, scene_id: str) -> Path:
    return Path(settings.SCENE_BUNDLES) / robot_id / scene_id


def file_of(asset: dict[str, Any]) -> str:
    """The name of the asset's file in the bundle. Its `name` is the one in the XML."""
    return str(asset.get("file", asset["name"]))
