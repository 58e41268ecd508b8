"""openpi's own client is served by ours, its coding is what our client meets, and our two halves play as one."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from openpi_client.websocket_client_policy import WebsocketClientPolicy
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from policies import memory
from policies.base import PolicyCard
from policies.policy_cache import Device, Key, PolicyCache
from policies.registry import describe, open_policy
from policies.remote import codec
from policies.remote.card import card_from
from policies.remote.metadata import declared
from policies.remote.policy import RemotePolicy, ask_metadata, open_card
from policies.remote.server import Offer, start
from simulation.contracts import Limits, Observation
from simulation.environment import Environment
from simulation.recorder import Recorder
from simulation.runner import run_episode
from tests.remote.servers import PolicyServer, serving
from tests.stack import BASE_DIR

SHIPPED = BASE_DIR / "policies" / "weights"


def offer(name: str, **options: Any) -> Offer:
    folder = SHIPPED / name
    cache = PolicyCache(Device("cpu", 10**10, lambda: memory.free("cpu"), 4))
    lease = partial(cache.lease, Key(name, "", str(folder), ""), lambda: 0, partial(open_policy, folder))
    return Offer(describe(folder), lease, **options)


@pytest.fixture(scope="module")
def film() -> Iterator[str]:
    with serving(start(offer("film-base"), "127.0.0.1", 0)) as server:
        yield f"ws://127.0.0.1:{server.socket.getsockname()[1]}"


def grey(card: PolicyCard, **changed: Any) -> dict[str, Any]:
    seen = card.spec.grey_observation("pick up the red cube")
    return {
        "observation/image": seen.images["workspace"],
        "observation/state": seen.proprioception,
        "prompt": seen.instruction,
        **changed,
    }


def openpi_client(url: str, key: str | None = None) -> WebsocketClientPolicy:
    return WebsocketClientPolicy(url, api_key=key)


def closed(client: WebsocketClientPolicy) -> None:
    client._ws.close()


def test_openpis_client_gets_from_our_server_what_the_policy_says_in_process(film: str) -> None:
    card, client = describe(SHIPPED / "film-base"), openpi_client(film)
    contract = client.get_server_metadata()["arena_contract"]
    assert (contract["chunk"], contract["action_space"], contract["rate_hz"]) == (4, "eef_delta_bridge7", 5)
    answer = client.infer(grey(card))
    policy = open_policy(SHIPPED / "film-base")
    policy.reset("pick up the red cube", 0)
    np.testing.assert_array_equal(answer["actions"], policy.infer(card.spec.grey_observation("pick up the red cube")))
    assert answer["server_timing"]["infer_ms"] > 0
    closed(client)


def test_our_client_speaks_with_a_server_that_uses_openpis_coding() -> None:
    def look(connection: Any, message: dict[str, Any]) -> Any:
        height = message["observation/image"].shape[0]
        first = np.full((10, 7), 0.5, np.float32)
        first[0] = [*message["observation/state"][:3] / 100, 0, 0, height / 100, 0]
        return {"actions": first, "server_timing": {"infer_ms": np.float64(1.0)}}

    with serving(PolicyServer(look)) as server:
        extra = {"images": {"workspace": {"height": 32, "width": 32}}, "actions": {"horizon": 10}}
        policy = open_card(card_from("far", server.url, declared(ask_metadata(server.url)), extra))
        policy.reset("put it there", 3)
        felt = np.arange(8, dtype=np.float32)
        seen = Observation({"workspace": np.zeros((64, 64, 3), np.uint8)}, felt, "put it there", 0)
        rows = policy.infer(seen)
        policy.close()
    np.testing.assert_allclose(rows[0], [0, 0.01, 0.02, 0, 0, 0.32, 0], atol=1e-7)
    assert rows.shape == (4, 7)
    assert rows.dtype == np.float64
    (message,) = server.asked
    assert message.keys() == {"observation/image", "observation/state", "prompt"}
    assert (message["prompt"], message["observation/image"].dtype) == ("put it there", np.uint8)


@pytest.mark.parametrize("name", ["film-base", "octo-mini"])
def test_a_remote_policy_plays_the_same_episode_as_in_process(name: str) -> None:
    local, environment = open_policy(SHIPPED / name), Environment("widowx", "table")
    with serving(start(offer(name), "127.0.0.1", 0)) as server:
        url = f"ws://127.0.0.1:{server.socket.getsockname()[1]}"
        remote = open_card(card_from("far", url, declared(ask_metadata(url)), {}))
        assert remote.spec.chunking == local.spec.chunking
        played = []
        for policy in (local, remote):
            environment.reset(5)
            recorder = Recorder()
            limits, spec = Limits(max_steps=6), local.spec
            run_episode(
                environment, policy, "pick up the red cube", 7, (recorder,), limits, spec.chunking, spec.cameras
            )
            played.append(np.array(recorder.recording.actions))
        remote.close()
    np.testing.assert_array_equal(*played)


def test_roboarenas_dialect_is_served_and_spoken(film: str) -> None:
    card = describe(SHIPPED / "film-base")
    with connect(film, compression=None, max_size=None) as raw:
        assert isinstance(raw.recv(), bytes)
        raw.send(codec.pack({"endpoint": "reset", "prompt": "x"}))
        assert raw.recv() == "reset successful"
        raw.send(codec.pack(grey(card, endpoint="infer", session_id="s")))
        assert codec.unpack(raw.recv()).shape == (4, 7)
    config = {
        "image_resolution": [64, 64],
        "n_external_cameras": 1,
        "needs_wrist_camera": False,
        "needs_stereo_camera": False,
        "needs_session_id": True,
        "action_space": "cartesian_velocity",
    }

    def answer(connection: Any, message: dict[str, Any]) -> Any:
        return "reset successful" if message["endpoint"] == "reset" else np.zeros((2, 7))

    with serving(PolicyServer(answer, config)) as server:
        told = {"dialect": "roboarena", "chunk": 2, "cameras": [{"name": "workspace", "height": 64, "width": 64}]}
        policy = open_card(card_from("far", server.url, declared(ask_metadata(server.url)), told))
        for _ in range(2):
            policy.reset("stack them", 9)
            assert policy.infer(policy.spec.grey_observation("stack them")).shape == (2, 7)
        policy.close()
    resets, infers = (server.asked[number::2] for number in (0, 1))
    assert [message["seed"] for message in resets] == [9, 9]
    assert infers[0].keys() == {
        *("endpoint", "prompt", "session_id", "observation/exterior_image_0_left"),
        *("observation/cartesian_position", "observation/gripper_position"),
    }
    assert infers[0]["observation/cartesian_position"].shape == (6,)
    assert resets[0]["session_id"] == infers[0]["session_id"] != infers[1]["session_id"]


def test_a_key_goes_along_and_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(start(offer("film-base", key="sesame"), "127.0.0.1", 0)) as server:
        url = f"ws://127.0.0.1:{server.socket.getsockname()[1]}"
        closed(openpi_client(url, "sesame"))
        for wrong in (None, "other"):
            with pytest.raises(InvalidStatus):
                openpi_client(url, wrong)
        monkeypatch.setenv("LAB_API_KEY", "sesame")
        assert "chunk" in declared(ask_metadata(url, {"key_variable": "LAB_API_KEY"}))


def test_our_server_says_what_is_wrong_and_serves_on(film: str) -> None:
    card = describe(SHIPPED / "film-base")
    for message, said in [
        (grey(card, **{"observation/image": np.zeros((64, 64, 3), np.uint8)}), r"expected uint8\[128, 128, 3\]"),
        (grey(card, **{"observation/image": "x"}), r"expected uint8\[128, 128, 3\], got str"),
        (grey(card, **{"observation/state": np.full(8, np.nan)}), "finite"),
        (grey(card, **{"observation/state": np.zeros(7)}), r"expected float32\[8\]"),
        (grey(card, prompt=7), "prompt: expected a text"),
        (grey(card, endpoint="train"), "expected 'infer' or 'reset'"),
        ({"prompt": "x"}, "'observation/image' is missing"),
        ([1], "expected a map"),
    ]:
        client = openpi_client(film)
        with pytest.raises(RuntimeError, match=said):
            client.infer(message)  # type: ignore[arg-type]
        closed(client)
    closed(openpi_client(film))


def test_no_more_clients_than_offered_are_served_at_once() -> None:
    with serving(start(offer("film-base", clients=1), "127.0.0.1", 0)) as server:
        url = f"ws://127.0.0.1:{server.socket.getsockname()[1]}"
        first = openpi_client(url)
        with pytest.raises(ConnectionClosed, match="as many clients"):
            openpi_client(url)
        closed(first)


def test_the_command_serves_until_it_is_told_to_stop(tmp_path: Path) -> None:
    command = [sys.executable, "manage.py", "serve_policy", str(SHIPPED / "film-tenth"), "--port", "0"]
    environment = {**os.environ, "ARENA_DATA": str(tmp_path), "DJANGO_SETTINGS_MODULE": "vlaarena.settings"}
    with subprocess.Popen(command, cwd=BASE_DIR, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("film-tenth is at ws://127.0.0.1:")
        client = openpi_client(line.split()[-1])
        assert client.infer(grey(describe(SHIPPED / "film-tenth")))["actions"].shape[1] == 7
        process.terminate()
        assert process.wait(20) == 0
        closed(client)


def test_two_connections_of_one_policy_are_two_episodes() -> None:
    # one place more than the four need: the server may still hold that of the client that asked what it is
    with serving(start(offer("octo-mini", clients=5), "127.0.0.1", 0)) as server:
        url = f"ws://127.0.0.1:{server.socket.getsockname()[1]}"
        card = card_from("far", url, declared(ask_metadata(url)), {})
        told = ("pick up the red cube", "push the green sphere to the left")
        found: dict[int, Any] = {}

        def play(number: int) -> None:
            policy: RemotePolicy = open_card(card)
            instruction = told[number % 2]
            policy.reset(instruction, 0)
            found[number] = [policy.infer(card.spec.grey_observation(instruction)) for _ in range(3)]
            policy.close()

        threads = [threading.Thread(target=play, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    np.testing.assert_allclose(found[0], found[2], atol=1e-5)
    np.testing.assert_allclose(found[1], found[3], atol=1e-5)
    assert np.abs(np.array(found[0]) - np.array(found[1])).max() > 1e-4
