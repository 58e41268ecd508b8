"""Making a card from an address, from what its server declares and from what its owner adds."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from policies.base import BadCard, PolicyCard
from policies.remote.contract import ACT, VLA_EVAL, Contract, checked_dialect
from policies.remote.metadata import COMPARED, FORMS
from policies.remote.policy import REMOTE
from simulation.contracts import ACTION_SPACE, CONTROL_HZ, PROPRIOCEPTION_SPACE

WORDS = ("name", "description", "organization", "license", "provenance")
PLAYED = ("cameras", "execute", "ensembling", *COMPARED)
SERVED = ("key_variable", "infer_s", *FORMS)
LONGEST = {"name": 255, "organization": 255, "license": 50, "statistics_key": 100, "revision": 64}
USUAL: Mapping[str, Any] = {
    "description": "Runs in a process of its own and is asked over the network.",
    "organization": "",
    "license": "",
    "provenance": "As its owner declares; not trained by VLA Arena",
    "cameras": [{"name": "workspace", "height": 224, "width": 224}],
    "action_space": ACTION_SPACE,
    "rate_hz": CONTROL_HZ,
    "proprioception": PROPRIOCEPTION_SPACE,
    "ensembling": None,
    "statistics_key": "",
    "training": {},
    "measured": {},
}
USUAL_OF: Mapping[str, Mapping[str, Any]] = {ACT: {"chunk": 1, "proprioception": ""}, VLA_EVAL: {"chunk": 1}}
"""These dialects answer with one action, and OpenVLA's is told nothing of the arm."""


def card_from(model_id: str, url: str, declared: Mapping[str, Any], added: Mapping[str, Any]) -> PolicyCard:
    """`declared`: the server's contract. `added`: what its owner says, which goes first. Raises BadCard."""
    usual = USUAL_OF.get(checked_dialect(added, url), {})
    told = {**usual, **declared, **{name: value for name, value in added.items() if value is not None}}
    known = {*WORDS, *PLAYED, *SERVED, "reset", "training"}
    if unknown := sorted(map(str, set(told) - known)):
        raise BadCard(f"the contract has unknown fields {', '.join(unknown)}; known: {', '.join(sorted(known))}")
    if "chunk" not in told:
        raise BadCard('the contract lacks "chunk", the number of actions that are played of each answer')
    network = {"url": url, **{name: told[name] for name in SERVED if name in told}}
    columns = {name: told[name] for name in (*WORDS, *PLAYED, "training") if name in told}
    content = {"id": model_id, "name": model_id, "family": REMOTE, "execute": told["chunk"], **USUAL, **columns}
    content = {"revision": _revision(content, network), **content, "network": network}
    for name, most in LONGEST.items():
        if len(str(content[name])) > most:
            raise BadCard(f"{name}: expected at most {most} characters, got {len(str(content[name]))}")
    card = PolicyCard.from_json(content)
    Contract.of(card.spec, card.network)
    return card


def _revision(*parts: Mapping[str, Any]) -> str:
    """Of a server that tells none: a hash of its contract."""
    try:
        text = json.dumps(parts, sort_keys=True)
    except (TypeError, ValueError):
        raise BadCard("the contract holds something else than texts, numbers, lists and objects") from None
    return hashlib.sha256(text.encode()).hexdigest()
