"""Pictures for people: of the recorded states, with everything in view."""

from __future__ import annotations

from io import BytesIO

import av
import numpy as np
import pytest
from PIL import Image

from simulation import pictures
from simulation.environment import Environment
from simulation.picture_format import HEIGHT, WIDTH
from simulation.worlds import load_world
from tests.simulation.conftest import Record
from tests.simulation.usual import usual_renderer

TEXT = "put the red cube on the left plate"


def red(picture: Image.Image) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Where the red cube is: mean column and row of its pixels, as shares."""
    pixels = np.asarray(picture.convert("RGB")).astype(int)
    rows, columns = np.nonzero((pixels[..., 0] > 90) & (pixels[..., 1] < 50) & (pixels[..., 2] < 50))
    assert len(rows) > 50, "the red cube is not in the picture"
    return np.array([columns.mean() / picture.width, rows.mean() / picture.height])


def test_a_still_is_a_small_webp_of_the_end(record: Record) -> None:
    document = record(TEXT)
    content = pictures.still(document)
    picture = Image.open(BytesIO(content))
    assert (picture.format, picture.size) == ("WEBP", (WIDTH, HEIGHT))
    assert 3_000 < len(content) < 60_000
    started = pictures.still({**document, "view": document["view"][: 2 * len(document["view_scale"])]})
    moved = red(picture) - red(Image.open(BytesIO(started)))
    assert np.abs(moved).max() > 0.03, "the cube was carried to the plate"


def test_drawing_twice_gives_the_same_picture(record: Record) -> None:
    document = record(TEXT)
    assert pictures.still(document) == pictures.still(document)


def test_a_recording_of_a_scene_with_other_objects_is_refused(record: Record) -> None:
    document = record(TEXT)
    with pytest.raises(pictures.NotDrawable, match="positions"):
        pictures.still({**document, "view": b"\0" * 8, "view_scale": [0.001] * 4})


def test_a_strip_shows_the_start_the_grasp_the_carrying_and_the_end(record: Record) -> None:
    document = record(TEXT)
    rows = pictures.rows_of(document)
    start, grasp, carried, end = pictures.moments_of(document, rows)
    assert (start, end) == (0, len(rows) - 1)
    assert start < grasp < carried < end
    cube = load_world("widowx", "table").model.joint("red_cube").qposadr[0] + 2
    assert rows[carried, cube] > rows[grasp, cube] + 0.02 > rows[start, cube], "the cube is in the air"
    strip = Image.open(BytesIO(pictures.strip(document)))
    assert (strip.format, strip.size) == ("WEBP", (4 * 256 + 3 * 4, 320))


def test_a_film_has_every_row_and_holds_the_end_for_a_second(record: Record) -> None:
    document = record(TEXT)
    short = {**document, "view": document["view"][: 10 * 2 * len(document["view_scale"])]}
    with av.open(BytesIO(pictures.video(short)), "r") as film:
        stream = film.streams.video[0]
        assert (stream.codec_context.name, stream.width, stream.height) == ("h264", 480, 360)
        assert stream.average_rate == 25
        assert len(list(film.decode(video=0))) == 10 + 25


def test_pictures_are_the_same_after_others_of_another_world_and_size(record: Record) -> None:
    document = record(TEXT)
    other = pictures.Artist(load_world("widowx", "workbench"))
    before = pictures.still(document), other.draw(other.world.model.qpos0, (240, 180)).tobytes()
    pictures.artist_of({"robot_id": "widowx", "scene_id": "workbench"})
    small = pictures.still(document, (240, 180))
    after = pictures.still(document), other.draw(other.world.model.qpos0, (240, 180)).tobytes()
    other.close()
    assert before == after
    assert len(small) < len(before[0])


@pytest.mark.parametrize(("robot_id", "scene_id"), [("widowx", "table"), ("franka", "kitchen")])
@pytest.mark.parametrize("size", [pictures.SIZE, pictures.VIDEO])
def test_a_picture_is_that_of_mujocos_own_renderer(robot_id: str, scene_id: str, size: tuple[int, int]) -> None:
    artist = pictures.Artist(load_world(robot_id, scene_id))
    shown = artist.draw(artist.world.model.qpos0, size)
    artist.close()
    width, height = (pictures.FINER * side for side in size)
    buffers = artist._model.vis.global_  # not those of the picture that was drawn
    buffers.offwidth, buffers.offheight = (pictures.FINER * side for side in pictures.SIZE)
    with usual_renderer(artist._model, height, width) as artist._kept:
        artist._size = size
        assert np.array_equal(artist.draw(artist.world.model.qpos0, size), shown)


def test_only_the_artist_of_the_last_world_is_kept(record: Record, monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[str] = []
    monkeypatch.setattr(pictures.Artist, "close", lambda artist: closed.append(artist.world.scene_id))
    first = pictures.artist_of({"robot_id": "widowx", "scene_id": "cabinet"})
    assert pictures.artist_of({"robot_id": "widowx", "scene_id": "cabinet"}) is first
    closed.clear()
    pictures.artist_of({"robot_id": "widowx", "scene_id": "workbench"})
    assert closed == ["cabinet"]
    monkeypatch.undo()
    first.close()


@pytest.mark.parametrize(("robot_id", "scene_id"), [("ur5e", "warehouse"), ("franka", "kitchen")])
def test_a_scene_with_a_first_view_of_its_own_is_drawn_from_there(robot_id: str, scene_id: str) -> None:
    environment = Environment(robot_id, scene_id)
    artist = pictures.Artist(environment.world)
    try:
        picture = artist.draw(environment.reset(3).qpos, (144, 96))
    finally:
        artist.close()
    assert picture.shape == (96, 144, 3)
    assert picture.std() > 20, "there is something to be seen"
