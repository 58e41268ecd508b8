import copy
import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from arena.store import get_store
from simulation.environment import Environment
from simulation.episode_format import to_float64
from simulation.expert import HoldStill
from simulation.variation import NO_VARIATION, variation_of
from simulation.verification import ReplayDifference, verify_document
from tests.simulation.conftest import Record

TEXT = "put the green sphere on the right plate"


def test_an_episode_as_recorded_is_identical(record: Record) -> None:
    assert verify_document(record(TEXT)) is None


def test_a_follow_up_turn_is_identical_too(record: Record) -> None:
    record("put the red cube on the left plate")
    assert verify_document(record("stack the yellow cube on the red cube")) is None


def test_free_text_is_identical_too(record: Record, environment: Environment) -> None:
    assert verify_document(record("hello there", HoldStill(environment))) is None


def test_an_episode_whose_policy_saw_other_looks_is_identical(record: Record, environment: Environment) -> None:
    environment.set_variation(variation_of("a" * 32))
    document = record(TEXT)
    environment.set_variation(NO_VARIATION)
    assert verify_document({**document, "secret": "a" * 32}) is None


def test_an_episode_from_before_there_were_views_and_secrets_is_identical(record: Record) -> None:
    document = record(TEXT)
    assert verify_document({name: value for name, value in document.items() if not name.startswith("view")}) is None


def test_a_view_that_shows_something_else_than_was_recorded_is_found(record: Record) -> None:
    document = record(TEXT)
    document["view"] = b"\1" + document["view"][1:]
    found = verify_document(document)
    assert found is not None
    assert "shown before the vote" in found.reason


@pytest.mark.parametrize("field", ["qpos", "qvel"])
def test_a_state_changed_in_its_last_bit_is_found(record: Record, field: str) -> None:
    document = record(TEXT)
    document["states"][7][field][3] += 1e-16 if field == "qvel" else 2.3e-16
    assert verify_document(document) == ReplayDifference(7, f"{field} differs")


def test_a_changed_action_is_found_at_its_step(record: Record) -> None:
    document = record(TEXT)
    document["actions"][4][0] += 1e-6
    found = verify_document(document)
    assert found is not None
    assert found.first_step == 5


def test_a_changed_warm_start_or_control_is_found(record: Record) -> None:
    document = record(TEXT)
    for field, step in (("qacc_warmstart", 6), ("control", 3)):
        tampered = copy.deepcopy(document)
        tampered[field][step][0] += 1e-9
        assert verify_document(tampered) == ReplayDifference(step, f"{field} differs")


def test_a_recording_from_before_it_named_controller_and_sizes_is_identical(record: Record) -> None:
    document = record(TEXT)
    newer = ("controller", "control_hz", "action_space", "action_size", "look")
    old = {name: value for name, value in document.items() if name not in newer}
    assert verify_document(old) is None
    assert to_float64(old) == to_float64(document)


def test_a_claimed_success_is_judged_again(record: Record, environment: Environment) -> None:
    document = record(TEXT, HoldStill(environment))
    assert verify_document({**document, "success": True}) == ReplayDifference(50, "recorded success True, judged False")


def test_a_document_that_is_cut_or_broken_is_found_not_raised(record: Record, environment: Environment) -> None:
    document = record(TEXT, HoldStill(environment))
    assert verify_document({**document, "states": document["states"][:-1]}) == ReplayDifference(
        0, "expected 51 states for 50 actions"
    )
    assert verify_document({key: document[key] for key in document if key != "control"}) == ReplayDifference(
        0, "the document has no control"
    )
    found = verify_document({**document, "actions": [[float("nan")] * 7, *document["actions"][1:]]})
    assert found is not None
    assert "finite" in found.reason


def test_a_start_with_another_hash_is_found(record: Record) -> None:
    document = record(TEXT)
    document["states"][0]["qpos"][0] += 1e-9
    assert verify_document(document) == ReplayDifference(0, "the start state does not have the recorded hash")


def test_another_engine_or_scene_is_said_plainly(record: Record, environment: Environment) -> None:
    document = record(TEXT, HoldStill(environment))
    found = verify_document({**document, "engine_version": "mujoco 9.9.9"})
    assert found == ReplayDifference(
        0, f"recorded with engine_version mujoco 9.9.9, here it is {environment.engine_version}"
    )
    assert verify_document({**document, "scene_hash": "0" * 64}) is not None


@pytest.mark.django_db
def test_the_command_checks_the_store_and_fails_on_a_difference(record: Record) -> None:
    store = get_store()
    good, bad = record(TEXT, episode_id="ep_verify_good"), record(TEXT, episode_id="ep_verify_bad")
    bad["actions"][2][6] = 0.0
    store.save(good)
    store.save(bad)
    out = StringIO()
    call_command("verify", "ep_verify_good", "--json", stdout=out)
    assert json.loads(out.getvalue()) == {"checked": 1, "identical": 1, "different": []}
    out = StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("verify", "ep_verify_good", "ep_verify_bad", "--json", stdout=out, stderr=StringIO())
    assert ended.value.code == 1
    report = json.loads(out.getvalue())
    assert (report["checked"], report["identical"]) == (2, 1)
    assert report["different"][0]["episode_id"] == "ep_verify_bad"
    assert report["different"][0]["first_step"] == 3


@pytest.mark.django_db
def test_the_command_refuses_an_unknown_episode_and_an_empty_request() -> None:
    with pytest.raises(CommandError, match="no episode ep_nobody"):
        call_command("verify", "ep_nobody")
    with pytest.raises(CommandError, match="or --all"):
        call_command("verify")
