"""Tries a server that an operator named, and enters its policy. For workers only."""

from __future__ import annotations

from policies.base import PolicyError
from robots.models import RemoteTrial
from robots.remote_policies import add_remote
from robots.remote_trials import settle
from simulation.contracts import SimulationError


def make(pk: int) -> None:
    """Do what was asked for, once. What goes wrong is told to the operator."""
    trial = RemoteTrial.objects.filter(pk=pk, done_at=None).first()
    if trial is None:
        return
    contract = {**trial.contract, "key_variable": trial.key_variable or None}
    try:
        entered = add_remote(trial.model_id, trial.url, contract, {})
    except (PolicyError, SimulationError) as error:
        settle(trial, False, str(error))
        return
    took = f"{entered.median_ms:.1f} ms an inference, {entered.longest_ms:.1f} ms at most"
    settle(trial, True, "; ".join([took, *entered.added.warnings]))
