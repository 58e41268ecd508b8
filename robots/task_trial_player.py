"""Plays a moderator's task with a policy. For workers that play only; nothing of it is stored as an episode."""

from __future__ import annotations

from contextlib import closing
from typing import Any

from policies.models import Policy
from robots import play
from robots.limits import of_task
from robots.models import TaskTrial
from simulation import additions, catalogue, pictures
from simulation.additions import Addition
from simulation.cameras import render_profile
from simulation.contracts import PolicyFailure
from simulation.episode_format import build_document
from simulation.recorder import Recorder
from simulation.variation import NO_VARIATION


def played(draft: Addition, trial: TaskTrial) -> tuple[dict[str, Any], bytes]:
    """From the seed's first state, with the filling and the first wording that the seed chooses."""
    task = draft.task
    slots = task.slots[trial.seed % len(task.slots)]
    instruction = catalogue.phrasings_of(task, slots)[0].text
    runtime = play.runtime()
    environment = runtime.environment(task.robot_id, task.scene_id)
    policy = Policy.objects.get(pk=trial.model_id)
    player = runtime.player(policy, task.robot_id, task.scene_id)
    recorder = Recorder()
    with additions.trying(draft), closing(player):
        environment.set_variation(NO_VARIATION)
        environment.reset(trial.seed)
        try:
            result = player.play(environment, instruction, trial.seed, [recorder], of_task(task))
        except PolicyFailure as failure:
            runtime.drop(policy)
            return {"instruction": instruction, "error": failure.reason}, b""
        finally:
            environment.set_task(None)  # the next rollout's worker must not judge by a draft
    place = {"robot_id": task.robot_id, "scene_id": task.scene_id}
    document = build_document(place, recorder.recording, environment, render_profile())
    told = {"instruction": instruction, "success": result.success, "progress": result.progress, "steps": result.steps}
    return {**told, "termination_reason": result.termination_reason}, pictures.still(document)
