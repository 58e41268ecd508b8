"""A server of openpi with a LIBERO checkpoint is asked by the guide's contract as openpi's own evaluation asks it.

The network is a stand-in with the shapes of pi0.5's: two pictures, eight numbers and a prompt in, ten actions out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import Any

import numpy as np
import pytest
from openpi_client.websocket_client_policy import WebsocketClientPolicy

from policies.remote.card import card_from
from policies.remote.metadata import declared
from policies.remote.policy import ask_metadata, open_card
from simulation.contracts import Observation
from tests.remote.servers import PolicyServer, serving
from tests.stack import BASE_DIR

GUIDE = BASE_DIR / "docs" / "bring-your-own-policy.md"
RNG = np.random.default_rng(0)
PICTURES = {name: RNG.integers(0, 256, (224, 224, 3), dtype=np.uint8) for name in ("agentview", "wrist")}
FELT = RNG.normal(size=8).astype(np.float32)
PROMPT = "pick up the milk and place it in the basket"


def network(connection: Any, message: Mapping[str, Any]) -> dict[str, Any]:
    """Numbers that depend on every input."""
    pictures = [
        message[name].astype(np.float64).mean() / 255 for name in ("observation/image", "observation/wrist_image")
    ]
    told = [*message["observation/state"][:4], *pictures, len(message["prompt"]) / 100]
    return {"actions": np.outer(np.linspace(1, 2, 10), told), "policy_timing": {"infer_ms": 1.0}}


@pytest.fixture
def server() -> Iterator[PolicyServer]:
    with serving(PolicyServer(network, metadata={})) as running:  # openpi's LIBERO configurations declare nothing
        yield running


@pytest.fixture
def contract() -> dict[str, Any]:
    """As the guide prints it."""
    (found,) = (
        each for each in re.findall(r"```json\n(.*?)```", GUIDE.read_text(), re.DOTALL) if "eef_delta_libero7" in each
    )
    return dict(json.loads(found))


def asked_by_openpi(url: str) -> Any:
    """The element of openpi's examples/libero/main.py, and its first five rows, which it plays before it asks again."""
    client = WebsocketClientPolicy("127.0.0.1", int(url.rpartition(":")[2]))
    element = {
        "observation/image": PICTURES["agentview"],
        "observation/wrist_image": PICTURES["wrist"],
        "observation/state": FELT.astype(np.float64),
        "prompt": PROMPT,
    }
    with closing(client._ws):
        return client.infer(element)["actions"][:5]


def asked_by_us(url: str, contract: Mapping[str, Any]) -> Any:
    policy = open_card(card_from("pi05", url, declared(ask_metadata(url)), contract))
    with closing(policy):
        policy.reset(PROMPT, 0)
        return policy.infer(Observation(PICTURES, FELT, PROMPT, 0)), policy.spec


def test_it_is_told_the_same_and_its_answer_is_played_as_it_is(server: PolicyServer, contract: dict[str, Any]) -> None:
    theirs = asked_by_openpi(server.url)
    ours, spec = asked_by_us(server.url, contract)
    assert (spec.chunk, spec.chunking.execute, spec.rate_hz, spec.action_space) == (5, 5, 20, "eef_delta_libero7")
    np.testing.assert_allclose(ours, theirs, rtol=1e-6)
    first, second = server.asked
    assert first.keys() == second.keys()
    for name in ("observation/image", "observation/wrist_image"):
        assert second[name].dtype == np.uint8
        np.testing.assert_array_equal(first[name], second[name])
    np.testing.assert_allclose(second["observation/state"], first["observation/state"], rtol=1e-6)
    assert second["prompt"] == first["prompt"] == PROMPT
