"""Pictures of recorded episodes for people: stills, strips of key moments, frames of a video. Only workers draw them.

The camera looks as the browser's does when a battle opens (`OVERVIEW` in frontend/src/viewer/cameras.js). Policies
never see this look: theirs is `simulation.cameras`, which stays as it is.
"""

from __future__ import annotations

import atexit
import threading
from collections.abc import Iterable, Iterator, Mapping
from io import BytesIO
from typing import Any

import mujoco
import numpy as np
from PIL import Image as Pillow

from simulation.contracts import Floats, Image, SimulationError
from simulation.moments import key_moments
from simulation.picture_format import HEIGHT, WIDTH
from simulation.renderers import Renderer
from simulation.trimming import trim
from simulation.view_format import VIEW_HZ, unpack, view_of
from simulation.worlds import World, load_world

CAMERA, TARGET, FOVY = (-0.55, -0.645, 0.585), (0.235, -0.03, 0.12), 27.5
"""Where the camera stands and what it looks at [m, base frame], and its vertical field of view [degrees]."""
OVERVIEW = "overview"
"""The camera of a scene that needs another first view: the browser's, too (frontend/src/viewer/cameras.js)."""
SIZE = (WIDTH, HEIGHT)
FINER = 2
"""Everything is drawn this many times as large and then reduced: smoother edges than the renderer's own."""
SHADOW_PIXELS = 2048
QUALITY = 82
FRAMES, FRAME, GAP = 4, (256, 320), 4
"""Of a strip: how many frames, their width and height, and what is between them."""
ASIDE = 0.42
"""Where a frame is cut from a picture: 0 at its left, 1 at its right."""
VIDEO = (480, 360)


class NotDrawable(SimulationError):
    """The recording is of a world that has since changed."""


def still(document: Mapping[str, Any], size: tuple[int, int] = SIZE) -> bytes:
    """The end of an episode as WebP."""
    artist = artist_of(document)
    return _webp(artist.draw(rows_of(document)[-1], size))


def still_of(document: Mapping[str, Any], positions: Floats) -> bytes:
    """These positions (nq,) in the document's world (`robot_id`, `scene_id`) as WebP."""
    return _webp(artist_of(document).draw(positions))


def strip(document: Mapping[str, Any]) -> bytes:
    """The key moments of an episode side by side as WebP, the first at the left."""
    artist, rows = artist_of(document), rows_of(document)
    shown = [_cut(artist.draw(rows[moment])) for moment in moments_of(document, rows)]
    row = Pillow.new("RGB", (len(shown) * (FRAME[0] + GAP) - GAP, FRAME[1]), "white")
    for number, frame in enumerate(shown):
        row.paste(frame, (number * (FRAME[0] + GAP), 0))
    return _webp(np.asarray(row))


def video(document: Mapping[str, Any]) -> bytes:
    """The whole episode as MP4, at the robots' own speed, with its end held for a second."""
    from simulation.videos import mp4

    artist, rows = artist_of(document), rows_of(document)
    drawn = (artist.draw(row, VIDEO) for row in rows)
    return mp4(_held(drawn, VIEW_HZ), VIDEO, VIEW_HZ)


def moments_of(document: Mapping[str, Any], rows: Floats) -> list[int]:
    """The rows that a strip shows."""
    world = _world_of(document)
    address = world.model.jnt_qposadr
    places = [address[world.model.joint(name).id] for name in world.objects]
    things = np.reshape([rows[:, first : first + 3] for first in places], (len(places), len(rows), 3)).swapaxes(0, 1)
    return key_moments(_opening(world, rows), things, FRAMES)


def _opening(world: World, rows: Floats) -> Floats:
    """The position of the first finger's joint in each row; ones for a robot without a gripper."""
    if not world.pads:
        return np.ones(len(rows))
    model = world.model
    finger = model.body_jntadr[model.geom(world.pads[0]).bodyid[0]]
    opening: Floats = rows[:, model.jnt_qposadr[finger]]
    return opening


def _held(frames: Iterable[Image], times: int) -> Iterator[Image]:
    """The frames, and the last one so many times more."""
    for frame in frames:
        yield frame
    for _ in range(times):
        yield frame


def _cut(picture: Image) -> Pillow.Image:
    """The part of a picture in which the robot works, upright."""
    width = picture.shape[0] * FRAME[0] // FRAME[1]
    left = int((picture.shape[1] - width) * ASIDE)
    return Pillow.fromarray(picture[:, left : left + width]).resize(FRAME, Pillow.Resampling.LANCZOS)


def rows_of(document: Mapping[str, Any]) -> Floats:
    """The positions (n, nq) that visitors have seen, 25 a second, in MuJoCo's units."""
    world = _world_of(document)
    content, scale = view_of(document, world.view_scale.tolist())
    if len(scale) != world.model.nq:
        raise NotDrawable(f"the recording has {len(scale)} positions, the scene {world.model.nq}")
    return unpack(content, len(scale)) * scale


def _world_of(document: Mapping[str, Any]) -> World:
    variant = (document.get("variation") or {}).get("variant", "")
    return load_world(document["robot_id"], document["scene_id"], variant)


class Artist:
    """Draws one world. It belongs to the thread that made it. Keeps a renderer of the last size alone, because each
    takes 40 MB, and a drawing is of one size.
    """

    def __init__(self, world: World) -> None:
        self.world = world
        self._model = dressed(world)
        trim()  # compiling it leaves 20 MB
        self._data = mujoco.MjData(self._model)
        self._size: tuple[int, int] | None = None
        self._kept: Renderer | None = None

    def draw(self, positions: Floats, size: tuple[int, int] = SIZE) -> Image:
        """uint8 (height, width, 3). `size`: width and height."""
        self._data.qpos[:] = positions
        mujoco.mj_forward(self._model, self._data)
        renderer = self._renderer(size)
        renderer.update_scene(self._data, _camera(self._model))
        renderer.scene.flags[mujoco.mjtRndFlag.mjRND_REFLECTION] = False
        fine = Pillow.fromarray(renderer.render())
        return np.asarray(fine.reduce(FINER))

    def close(self) -> None:
        if self._kept is not None:
            self._kept.close()
            self._size = self._kept = None
            trim()

    def _renderer(self, size: tuple[int, int]) -> Renderer:
        if self._kept is None or self._size != size:
            self.close()
            width, height = (FINER * side for side in size)
            self._size, self._kept = size, Renderer(self._model, height, width, SHADOW_PIXELS)
        return self._kept


def artist_of(document: Mapping[str, Any]) -> Artist:
    """This thread's artist of the document's world, who is kept until another world is drawn."""
    world, known = _world_of(document), getattr(_own, "artist", None)
    if known is None or known.world.scene_hash != world.scene_hash:
        put_away()
        known = _own.artist = Artist(world)
        atexit.register(known.close)  # while OpenGL still works
    artist: Artist = known
    return artist


def put_away() -> None:
    """Give back the memory of this thread's artist, if it has one. The next drawing makes another."""
    known = _own.__dict__.pop("artist", None)
    if known is not None:
        atexit.unregister(known.close)
        known.close()


_own = threading.local()


def _camera(model: mujoco.MjModel) -> mujoco.MjvCamera | str:
    """The scene's own first view, or the usual one."""
    if OVERVIEW in {model.camera(index).name for index in range(model.ncam)}:
        return OVERVIEW
    camera = mujoco.MjvCamera()
    away = np.subtract(TARGET, CAMERA)
    camera.type = mujoco.mjtCamera.mjCAMERA_FREE
    camera.lookat[:] = TARGET
    camera.distance = float(np.linalg.norm(away))
    camera.azimuth = float(np.degrees(np.arctan2(away[1], away[0])))
    camera.elevation = float(np.degrees(np.arcsin(away[2] / camera.distance)))
    return camera


def dressed(world: World) -> mujoco.MjModel:
    """The world with a room around it and light for people's eyes. Its bodies and joints are the same."""
    spec = mujoco.MjSpec.from_string(world.xml, assets=dict(world.meshes))
    spec.visual.global_.fovy = FOVY
    spec.visual.quality.offsamples = 0
    spec.visual.headlight.ambient, spec.visual.headlight.diffuse = [0.30, 0.30, 0.32], [0.16, 0.16, 0.16]
    if OVERVIEW not in {camera.name for camera in spec.cameras}:
        spec.stat.extent, spec.stat.center = 0.8, [0.2, 0, 0.1]  # the shadow map covers the table only
    for light in list(spec.lights):
        spec.delete(light)
    _furnish(spec)
    _light(spec)
    return spec.compile()


def _furnish(spec: mujoco.MjSpec) -> None:
    """Wood on the table, a lighter arm, and a wall unless the scene has its own."""
    wood = _wood()
    texture = spec.add_texture(
        name="wood", type=mujoco.mjtTexture.mjTEXTURE_2D, width=wood.shape[1], height=wood.shape[0], nchannel=3
    )
    texture.data = wood.tobytes()
    for material in spec.materials:
        if material.name == "table":
            material.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = "wood"
            material.rgba, material.specular, material.shininess = [1, 1, 1, 1], 0.25, 0.3
        if material.name == "floor":
            material.rgba = [0.30, 0.32, 0.35, 1]
        if material.name.endswith("shell"):
            material.rgba, material.specular, material.shininess = [0.66, 0.68, 0.71, 1], 0.4, 0.4
    if "wall" in {material.name for material in spec.materials}:
        return
    spec.add_material(name="wall", rgba=[0.68, 0.74, 0.80, 1], specular=0.0)
    for at, size in (((1.3, 0, 0.6), (0.02, 4, 2)), ((0, 1.3, 0.6), (4, 0.02, 2))):
        box = mujoco.mjtGeom.mjGEOM_BOX
        spec.worldbody.add_geom(type=box, pos=at, size=size, material="wall", contype=0, conaffinity=0)


def _light(spec: mujoco.MjSpec) -> None:
    """A key light with a shadow, a fill from the other side, a rim from behind."""
    directional = mujoco.mjtLightType.mjLIGHT_DIRECTIONAL
    for pos, direction, strength, shadow in (
        ((0.1, -0.4, 1.6), (0.12, 0.28, -1.0), 0.52, True),
        ((-0.8, -0.6, 0.7), (0.8, 0.5, -0.45), 0.26, False),
        ((0.9, 0.9, 0.9), (-0.8, -0.8, -0.5), 0.24, False),
    ):
        spec.worldbody.add_light(
            type=directional, pos=pos, dir=direction, diffuse=[strength] * 3, specular=[0.25] * 3, castshadow=shadow
        )


def _wood(size: int = 512) -> Image:
    """A grain of planks, always the same (size, size, 3)."""
    rng = np.random.default_rng(7)
    across, along = np.meshgrid(np.linspace(0, 1, size), np.linspace(0, 1, size))
    waves: Floats = sum(
        strength * np.sin(2 * np.pi * (rings * across + bend * np.sin(2 * np.pi * along + phase)))
        for rings, bend, strength, phase in zip(
            (9, 23, 61), (0.4, 0.7, 1.1), (0.5, 0.3, 0.2), rng.uniform(0, 6, 3), strict=True
        )
    )
    shade = 1.0 + 0.05 * waves + 0.02 * rng.standard_normal((1, size)) - 0.10 * (np.abs(across * 6 % 1 - 0.5) > 0.492)
    planks: Image = np.clip(shade[..., None] * np.array([176, 146, 116]), 0, 255).astype(np.uint8)
    return planks


def _webp(picture: Image) -> bytes:
    kept = BytesIO()
    Pillow.fromarray(picture).save(kept, "WEBP", quality=QUALITY, method=4)
    return kept.getvalue()
