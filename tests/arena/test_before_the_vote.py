"""Before the vote there are no exact numbers, wherever one asks; with it the whole recording comes."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from django.test import Client

from arena.api.schema import answer
from arena.models import Attempt, Battle
from arena.store import Document, get_store
from robots import play as episodes
from robots.shapes import EpisodeJson
from simulation.episode_format import to_float32, to_float64
from simulation.variation import chance_of, variation_of
from simulation.view_format import unpack, view_of
from tests.arena.conftest import Visitor, battle_row, cast, play, play_battle, side_of
from tests.fakes import NQ, FakePolicy, FakeRuntime
from tests.people import logged_in, moderator

SIDES = ("left", "right")


def document_of(episode_id: str) -> Document:
    document = get_store().get(episode_id)
    assert document is not None
    return document


def ids_of(battle_id: str) -> dict[str, str]:
    return {side: side_of(battle_id, side).episode_id for side in SIDES}


@pytest.fixture
def uneven(visitor: Visitor, runtime: FakeRuntime) -> str:
    """A battle whose left side ended after 7 steps, and whose right side played on to 50."""
    battle_id = visitor.open()
    runtime.success_at = {battle_row(battle_id).left_model_id: 3}
    runtime.policies = {battle_row(battle_id).right_model_id: FakePolicy(stride=-0.02)}
    play(visitor.send(battle_id))
    assert [side_of(battle_id, side).length for side in SIDES] == [7, 50]
    return battle_id


@pytest.mark.parametrize("form", ["states.bin", "replay.bin"])
def test_exact_recordings_come_with_the_vote_for_staff_as_well(visitor: Visitor, uneven: str, form: str) -> None:
    staff = Visitor(logged_in(moderator()))
    for episode_id in ids_of(uneven).values():
        for caller in (visitor, staff):
            refused = caller.get(f"episodes/{episode_id}/{form}")
            assert (refused.status_code, refused.json()["code"]) == (409, "not_voted")
            assert refused.json()["detail"] == "Exact recordings come with the vote; until then there is view.bin."
    cast(visitor, uneven)
    for episode_id in ids_of(uneven).values():
        document = document_of(episode_id)
        exact = to_float32(document) if form == "states.bin" else to_float64(document)
        assert visitor.get(f"episodes/{episode_id}/{form}").content == exact


def test_an_abandoned_battle_keeps_its_exact_numbers_to_itself(visitor: Visitor, uneven: str) -> None:
    visitor.post(f"sessions/{visitor.battle(uneven)['session_id']}/battles")
    episode_id = ids_of(uneven)["left"]
    assert visitor.get(f"episodes/{episode_id}/replay.bin").status_code == 409
    assert not visitor.get(f"episodes/{episode_id}").json()["exact"]


def test_both_sides_views_have_equally_many_bytes_however_long_each_played(visitor: Visitor, uneven: str) -> None:
    views = {}
    for side, episode_id in ids_of(uneven).items():
        seen = visitor.get(f"episodes/{episode_id}/view.bin", **{"Accept-Encoding": "gzip, br"})
        assert seen["Content-Type"] == "application/octet-stream"
        assert "immutable" in seen["Cache-Control"]
        assert "private" in seen["Cache-Control"]
        assert seen["Content-Encoding"] == "identity"
        assert len(seen.content) == 251 * NQ * 2
        views[side] = unpack(seen.content, NQ)
    assert (views["left"][35:] == views["left"][35]).all()
    assert (views["left"][34] != views["left"][35]).any()
    assert (views["right"][249] != views["right"][250]).any()


def test_the_view_is_the_same_before_the_vote_and_after_it(visitor: Visitor, uneven: str) -> None:
    addresses = [f"episodes/{episode_id}/view.bin" for episode_id in ids_of(uneven).values()]
    before = [visitor.get(address).content for address in addresses]
    cast(visitor, uneven)
    assert [visitor.get(address).content for address in addresses] == before


def test_the_episode_is_rounded_before_the_vote_and_exact_after_it(visitor: Visitor, uneven: str) -> None:
    for side, episode_id in ids_of(uneven).items():
        seen = visitor.get(f"episodes/{episode_id}").json()
        assert (seen["exact"], seen["actions"]) == (False, [])
        assert [seen[name] for name in ("start_hash", "outcome", "secret", "render_profile")] == [None] * 4
        assert len(seen["states"]) == 251
        assert [state["time"] for state in seen["states"][:2]] == [0.0, 0.04]
        assert all(state["qvel"] == [] for state in seen["states"])
        rows = unpack(visitor.get(f"episodes/{episode_id}/view.bin").content, NQ)
        assert [state["qpos"] for state in seen["states"]] == np.round(rows * 0.001, 4).tolist(), side
    cast(visitor, uneven)
    for episode_id in ids_of(uneven).values():
        seen, document = visitor.get(f"episodes/{episode_id}").json(), document_of(episode_id)
        assert seen["exact"]
        assert (seen["actions"], seen["states"]) == (document["actions"], document["states"])
        assert seen["secret"] == document["secret"] == battle_row(uneven).secret
        assert None not in [seen[name] for name in ("start_hash", "outcome", "render_profile")]


def test_the_schema_says_what_waits_for_the_vote() -> None:
    schema: Any = answer(EpisodeJson).response
    nullable = {name for name, each in schema["properties"].items() if each.get("nullable")}
    assert {"start_hash", "secret", "render_profile"} <= nullable
    whole = Client().get("/api/schema/", headers={"accept": "application/json"}).json()
    described = whole["paths"]["/api/episodes/{episode_id}"]["get"]
    assert "Before the vote" in described["description"]
    assert "exact" in described["description"]


def test_an_episode_of_before_there_were_views_is_shown_with_the_scenes_scale(
    visitor: Visitor, uneven: str, settings: Any, tmp_path: Any
) -> None:
    folder = tmp_path / "widowx" / "table"
    folder.mkdir(parents=True)
    (folder / "manifest.json").write_text(json.dumps({"view": {"scale": [0.01] * NQ}}))
    settings.SCENE_BUNDLES = tmp_path
    episode_id = ids_of(uneven)["left"]
    document = document_of(episode_id)
    old = {name: value for name, value in document.items() if not name.startswith("view")}
    get_store().save(old)
    rows = unpack(visitor.get(f"episodes/{episode_id}/view.bin").content, NQ)
    assert rows.shape == (251, NQ)
    assert np.array_equal(rows[:36], unpack(view_of(old, [0.01] * NQ)[0], NQ))
    (folder / "manifest.json").write_text(json.dumps({"view": {"scale": [0.01] * (NQ + 7)}}))
    changed = visitor.get(f"episodes/{episode_id}/view.bin")
    assert (changed.status_code, changed.json()["code"]) == (410, "scene_changed")
    (folder / "manifest.json").unlink()
    assert visitor.get(f"episodes/{episode_id}/view.bin").json()["code"] == "scene_not_built"


def test_the_secret_is_told_with_the_vote_and_nowhere_before(visitor: Visitor, uneven: str) -> None:
    secret = battle_row(uneven).secret
    assert len(secret) == 32
    session_id, turn = visitor.battle(uneven)["session_id"], visitor.battle(uneven)["turns"][0]
    addresses = [f"battles/{uneven}", f"battles/session/{session_id}", f"sessions/{session_id}", "sessions/?mine"]
    addresses += [f"turns/{turn['turn_id']}", *(f"episodes/{episode_id}" for episode_id in ids_of(uneven).values())]
    for address in addresses:
        assert secret not in visitor.get(address).content.decode(), address
    assert secret not in visitor.client.get(f"/battle/{uneven}").content.decode()
    assert visitor.battle(uneven)["secret"] is None
    cast(visitor, uneven)
    assert visitor.battle(uneven)["secret"] == secret


def test_a_battle_of_before_there_were_secrets_tells_none(visitor: Visitor, runtime: FakeRuntime) -> None:
    battle_id = visitor.open()
    Battle.objects.update(secret="")
    play(visitor.send(battle_id))
    cast(visitor, battle_id)
    assert visitor.battle(battle_id)["secret"] is None
    episode_id = ids_of(battle_id)["left"]
    assert visitor.get(f"episodes/{episode_id}").json()["secret"] is None
    assert document_of(episode_id)["variation"]["light_scale"] == 1.0


def test_both_sides_and_all_turns_look_as_the_battles_secret_has_it_and_other_battles_otherwise(
    visitor: Visitor, runtime: FakeRuntime
) -> None:
    one, other = visitor.open(), Visitor().open()
    policies = {policy: FakePolicy() for policy in ("alpha", "beta")}
    runtime.policies = dict(policies)
    play(visitor.send(one))
    play(visitor.send(one, "put the red cube on the left plate"))
    cast(visitor, one)
    explored = visitor.post(f"battles/{one}/explorations", {"seed": 5}).json()
    play(explored)
    looks = []
    for rollout in Attempt.objects.filter(turn__battle__battle_id=one):
        document = document_of(rollout.episode_id)
        looks.append(document["variation"])
        assert document["secret"] == battle_row(one).secret
    assert looks == [variation_of(battle_row(one).secret).to_json()] * 6
    assert battle_row(one).secret != battle_row(other).secret
    seeds = [battle_row(one).seed] * 2 + [5]
    chances = [chance_of(battle_row(one).secret, seed) for seed in seeds]
    for policy in policies.values():
        assert [seed for _, seed in policy.resets] == chances


def test_the_looks_are_set_anew_for_every_rollout_of_a_thread(visitor: Visitor, runtime: FakeRuntime) -> None:
    first, second = visitor.open(), Visitor()
    other = second.open()
    turns = {first: visitor.send(first), other: second.send(other)}
    for side in SIDES:
        for battle_id, turn in turns.items():
            episodes.play(turn[f"{side}_episode_id"])
            seen = runtime.environment("", "").variation
            assert seen == variation_of(battle_row(battle_id).secret)


def test_a_voted_battle_can_be_played_on_but_an_ongoing_one_tells_no_start(
    visitor: Visitor, runtime: FakeRuntime
) -> None:
    battle_id = play_battle(visitor)
    refused = visitor.post(f"battles/{battle_id}/explorations", {"seed": 1})
    assert (refused.status_code, refused.json()["code"]) == (409, "not_voted")
    assert "explored" in refused.json()["detail"]
