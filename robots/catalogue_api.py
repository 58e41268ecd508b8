"""The HTTP API of robots, scenes and tasks, and the files from which a browser builds a scene."""

from __future__ import annotations

import mimetypes
from dataclasses import asdict
from typing import Any

from django.conf import settings
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from arena.api.schema import refusals
from arena.errors import NotFound, UnknownName
from robots import published_tasks
from robots.kind import Robots
from robots.scene_files import address_of, addressed, content_of, file_of, manifest_of
from simulation import catalogue
from simulation.catalogue import Robot, Scene
from simulation.catalogue_tasks import Task

FOR_EVER = "public, max-age=31536000, immutable"


class RobotList(APIView):
    @extend_schema(operation_id="list_robots", summary="Robots and their scenes", responses={200: OpenApiTypes.OBJECT})
    def get(self, request: Request) -> Response:
        published_tasks.refresh()
        told = map(_robot_json, catalogue.robots())
        return Response({"results": [robot for robot in told if robot["scenes"]]})


class SceneList(APIView):
    @extend_schema(operation_id="list_scenes", summary="Scenes and their cameras", responses={200: OpenApiTypes.OBJECT})
    def get(self, request: Request) -> Response:
        published_tasks.refresh()
        return Response({"results": [_scene_json(scene) for scene in catalogue.offered_scenes()]})


class TaskList(APIView):
    @extend_schema(
        operation_id="list_tasks",
        summary="Tasks and their instructions",
        description="Instructions that physics can judge, suggestions to offer beside the input, suggestions that have "
        "no verdict, and how long an instruction may be. Of one scene, or of all; then suggestions are of the default.",
        parameters=[OpenApiParameter("scene_id", str)],
        responses={200: OpenApiTypes.OBJECT, **refusals(422)},
    )
    def get(self, request: Request) -> Response:
        published_tasks.refresh()
        scene_id = request.query_params.get("scene_id", "")
        scene = _offered(scene_id)
        return Response(
            {
                "results": [
                    _task_json(task)
                    for task in catalogue.meant_tasks()
                    if catalogue.is_offered(task.scene_id) and scene_id in ("", task.scene_id)
                ],
                "suggestions": scene.suggestions,
                "free_suggestions": scene.free_suggestions,
                "most_words": Robots.most_words,
                "most_characters": settings.INSTRUCTION_MAX_LENGTH,
            }
        )


class SceneBundle(APIView):
    authentication_classes = []

    @extend_schema(
        operation_id="get_scene",
        summary="The files of a scene",
        description="All that a browser loads to show a scene, with addresses that never change their content.",
        responses={200: OpenApiTypes.OBJECT, **refusals(404, 503)},
    )
    def get(self, request: Request, robot_id: str, scene_id: str) -> Response:
        manifest = manifest_of(robot_id, scene_id)
        shown = addressed(manifest, address_of(robot_id, scene_id, manifest))
        return Response(shown, headers={"Cache-Control": "no-cache"})


class SceneFile(APIView):
    # Authentication would add `Vary: Cookie`, and a browser with a new cookie would fetch everything again.
    authentication_classes = []

    @extend_schema(
        operation_id="get_scene_file",
        summary="One file of a scene",
        responses={(200, "*/*"): OpenApiTypes.BINARY, **refusals(404, 503)},
    )
    def get(self, request: Request, robot_id: str, scene_id: str, scene_hash: str, name: str) -> HttpResponse:
        manifest = manifest_of(robot_id, scene_id)
        known = {manifest["xml"], *(file_of(asset) for asset in manifest["assets"] if "url" not in asset)}
        if scene_hash != manifest["scene_hash"] or name not in known:
            raise NotFound
        kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
        content = content_of(robot_id, scene_id, name)
        return HttpResponse(content, content_type=kind, headers={"Cache-Control": FOR_EVER})


def _offered(scene_id: str) -> Scene:
    """The scene; for "" the default one. Raises UnknownName for one that is not offered."""
    known = {scene.id: scene for scene in catalogue.offered_scenes()}
    if scene_id and scene_id not in known:
        raise UnknownName("scene", known)
    return known.get(scene_id or settings.DEFAULT_SCENE) or next(iter(known.values()))


def _task_json(task: Task) -> dict[str, Any]:
    row = asdict(task)
    return {
        "task_id": row.pop("id"),
        "name": row.pop("name"),
        "description": row.pop("description"),
        "instruction_template": task.instruction_template,
        "values": row.pop("slots"),
        **row,
    }


def _robot_json(robot: Robot) -> dict[str, Any]:
    offered = {scene.id for scene in catalogue.offered_scenes()}
    return _with_id_first("robot_id", robot) | {"scenes": [name for name in robot.scenes if name in offered]}


def _scene_json(scene: Scene) -> dict[str, Any]:
    return _with_id_first("scene_id", scene)


def _with_id_first(name: str, entry: Robot | Scene) -> dict[str, Any]:
    row = asdict(entry)
    del row["assets"]  # a folder on the server
    return {name: row.pop("id"), **row}
