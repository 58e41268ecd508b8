from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from simulation.cameras import Cameras, cameras_of
from simulation.catalogue_rows import CatalogueError
from simulation.contracts import POLICY_CAMERA, CameraSpec, Image
from simulation.environment import Environment
from simulation.suites import SHIFTS, shift
from simulation.variation import NO_VARIATION, Variation
from simulation.verification import first_difference
from tests.simulation.usual import usual_renderer


def picture(environment: Environment, variation: Variation) -> Image:
    environment.reset(3, variation)
    shown = environment.picture()
    environment.reset(3, NO_VARIATION)
    return shown


def difference(one: Image, other: Image) -> float:
    return float(np.abs(one.astype(int) - other).mean())


def test_a_state_looks_the_same_every_time(environment: Environment) -> None:
    first = picture(environment, NO_VARIATION)
    environment.reset(8, Variation(light_scale=0.4, colours={"red_cube": (0.0, 1.0, 1.0)}))
    environment.picture()
    assert np.array_equal(first, picture(environment, NO_VARIATION))
    assert first.shape == (128, 128, 3)
    assert first.dtype == np.uint8


@pytest.mark.parametrize(
    "variation",
    [
        Variation(camera_offset=(0.01, 0.0, 0.0)),
        Variation(camera_rotation=(0.0, 0.0, 0.03)),
        Variation(light_scale=0.5),
        Variation(table_scale=(0.6, 0.6, 0.6)),
        Variation(shadows=True),
        Variation(colours={"red_cube": (1.0, 0.5, 0.0)}),
    ],
)
def test_each_variation_shows_and_leaves_physics_alone(environment: Environment, variation: Variation) -> None:
    plain = picture(environment, NO_VARIATION)
    assert difference(plain, picture(environment, variation)) > 0.05
    assert np.array_equal(plain, picture(environment, NO_VARIATION))
    start = environment.reset(3, NO_VARIATION)
    assert first_difference(start, environment.reset(3, variation)) is None
    environment.reset(3, NO_VARIATION)


def test_threads_that_show_different_looks_at_the_same_time_do_not_disturb_each_other() -> None:
    looks = [Variation(light_scale=0.6), Variation(camera_offset=(0.03, 0.0, 0.0))]

    def shown(variation: Variation) -> list[Image]:
        own = Environment()
        own.reset(3, variation)
        return [own.picture() for _ in range(40)]

    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(shown, looks))
    for variation, pictures in zip(looks, found, strict=True):
        environment = Environment(variation=variation)
        environment.reset(3)
        assert all(np.array_equal(each, environment.picture()) for each in pictures)


def test_looking_changes_no_state(environment: Environment) -> None:
    before = environment.state()
    environment.picture(CameraSpec("top", 64, 64))
    environment.proprioception()
    assert first_difference(before, environment.state()) is None


@pytest.mark.parametrize("offset", [(0.0, 0.0, 0.0), (0.02, -0.03, 0.01)])
def test_projected_points_fall_on_what_is_seen(environment: Environment, offset: tuple[float, float, float]) -> None:
    variation = Variation(camera_offset=offset, camera_rotation=(0.01, -0.02, 0.03))
    cameras = cameras_of("widowx", "table")
    for seed in range(6):
        environment.reset(seed, variation)
        shown = environment.picture().astype(int)
        cylinder = environment.view.position("blue_cylinder")[None, :]
        x, y = cameras.project(cylinder, POLICY_CAMERA, variation)[0] * 128
        red, _, blue = shown[int(y), int(x)]
        assert blue > 2 * red, seed
    environment.reset(0, NO_VARIATION)


def test_all_objects_and_plates_are_in_the_policys_picture(environment: Environment) -> None:
    cameras = cameras_of("widowx", "table")
    names = (*environment.world.objects, *environment.world.targets)
    for seed in range(100):
        environment.reset(seed)
        points = np.array([environment.view.position(name) for name in names])
        pixels = cameras.project(points, POLICY_CAMERA)
        assert pixels.min() > 0.01, seed
        assert pixels.max() < 0.99, seed


def test_the_shift_suite_names_what_it_changes() -> None:
    assert list(SHIFTS) == [
        "camera-1cm", "camera-3cm", "dim-light", "shadows", "other-colours", "kept-out-phrasings", "fifth-object",
    ]  # fmt: skip
    moved = shift("camera-3cm").draw(np.random.default_rng(0)).camera_offset
    assert np.linalg.norm(moved) == pytest.approx(0.03)
    assert shift("kept-out-phrasings").kept_out
    with pytest.raises(CatalogueError, match="unknown shift 'fog'; known: camera-1cm"):
        shift("fog")


@pytest.mark.parametrize("shadows", [False, True])
def test_a_picture_is_that_of_mujocos_own_renderer(environment: Environment, shadows: bool) -> None:
    variation = Variation(shadows=shadows)
    shown = picture(environment, variation)
    environment.reset(3, variation)
    cameras, size = Cameras(environment.world), (POLICY_CAMERA.height, POLICY_CAMERA.width)
    with usual_renderer(cameras._model, *size) as cameras._renderers[*size, shadows]:
        assert np.array_equal(cameras.render(environment.data, POLICY_CAMERA, variation), shown)
    environment.reset(3, NO_VARIATION)
