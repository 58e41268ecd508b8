import pytest

from simulation import catalogue
from simulation.bench import control_loop_cost, picture_ms


def test_the_bench_of_the_control_loop_measures_both_ways_over_the_same_steps() -> None:
    cost = control_loop_cost(episodes=1)

    assert cost.steps == 30
    assert cost.loop_ms > 0
    assert cost.bare_ms > 0
    assert cost.ratio == cost.loop_ms / cost.bare_ms
    assert cost.ratio_to_awake == cost.loop_ms / cost.awake_ms
    assert cost.bare_ms < cost.awake_ms, "what sleeps costs nothing"


@pytest.mark.parametrize("world", catalogue.worlds(), ids="-".join)
def test_every_world_has_its_lines(world: tuple[str, str]) -> None:
    cost = control_loop_cost(1, 0, *world)
    assert cost.steps == 30
    assert cost.ratio > 0
    assert picture_ms(*world, frames=1) > 0


@pytest.mark.parametrize("world", [("widowx", "table"), ("ur5e", "warehouse"), ("franka", "kitchen")], ids="-".join)
def test_pictures_are_measured_with_slim_meshes_as_well(world: tuple[str, str]) -> None:
    assert picture_ms(*world, 0.25, frames=1) > 0
