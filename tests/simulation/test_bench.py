from simulation.bench import control_loop_cost, rollout_ratio
from simulation.contracts import EpisodeResult


def test_the_bench_of_the_control_loop_measures_both_ways_over_the_same_steps() -> None:
    cost = control_loop_cost(episodes=1)

    assert cost.steps == 30
    assert cost.loop_ms > 0
    assert cost.bare_ms > 0
    assert cost.ratio == cost.loop_ms / cost.bare_ms


def test_the_rollout_ratio_is_wall_time_over_the_sum_of_physics_rendering_and_inference() -> None:
    def episode(duration_ms: float) -> EpisodeResult:
        return EpisodeResult(
            steps=1,
            success=False,
            progress=0.0,
            total_reward=0.0,
            termination_reason="step_limit",
            error=None,
            duration_ms=duration_ms,
            render_ms=10.0,
            infer_ms=20.0,
            physics_ms=70.0,
        )

    assert rollout_ratio([episode(100.0), episode(120.0)]) == 1.1
