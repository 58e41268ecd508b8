from simulation.bench import control_loop_cost


def test_the_bench_of_the_control_loop_measures_both_ways_over_the_same_steps() -> None:
    cost = control_loop_cost(episodes=1)

    assert cost.steps == 30
    assert cost.loop_ms > 0
    assert cost.bare_ms > 0
    assert cost.ratio == cost.loop_ms / cost.bare_ms
