from simulation.bench import control_loop_cost, rollout_ratio
from simulation.environment import Environment
from simulation.expert import ScriptedExpert
from simulation.runner import run_episode


def test_the_control_loop_costs_little_more_than_its_physics() -> None:
    assert control_loop_cost(episodes=3).ratio <= 1.15


def test_a_rollout_costs_little_more_than_its_parts(environment: Environment) -> None:
    results = []
    for seed in range(3):
        environment.reset(seed)
        environment.picture()
        results.append(run_episode(environment, ScriptedExpert(environment), "pick up the red cube", seed))
    assert rollout_ratio(results) <= 1.10
