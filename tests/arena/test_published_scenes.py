"""Moderators compose a scene, have it drawn, checked and played, publish it and withdraw it; visitors choose it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
from django.test import Client
from django.utils import timezone

from policies.models import PolicyWorld
from rankings.models import ModerationAct
from robots import published_scenes, published_tasks, scene_trials, task_trials
from robots.kind import Robots
from robots.models import PublishedScene, PublishedTask, SceneTrial
from robots.publications import NotPublishable
from robots.scene_form import NEW, SceneForm, initial_of
from robots.scene_trial_maker import make
from robots.task_form import NEW as NEW_TASK
from simulation import additions, assets, catalogue, composed
from simulation.contracts import Chunking, Limits
from simulation.environment import Environment
from simulation.episode_format import build_document
from simulation.expert import HoldStill
from simulation.recorder import Recorder
from simulation.runner import run_episode
from simulation.verification import verify_document
from tests.breakfast import BREAKFAST
from tests.people import logged_in, moderator, operator

ADD = "/admin/robots/publishedscene/add/"
SAID = "put the red cube in the bowl"


@pytest.fixture(autouse=True)
def _as_if_started_anew() -> Iterator[None]:
    yield
    additions.replace([])
    composed.replace([])
    published_tasks._Known.edition = (0, 0)


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int, str]]:
    """What workers were asked for: name, number of the trial, and the queue."""
    found: list[tuple[str, int, str]] = []
    monkeypatch.setattr(
        task_trials.current_app,
        "send_task",
        lambda name, args, queue, **options: found.append((name, args[0], queue)),
    )
    return found


@pytest.fixture(scope="module")
def check_of_breakfast() -> dict[str, Any]:
    """The columns of a check that found nothing. Made once: it costs seconds."""
    from robots.scene_rows import read
    from robots.scene_trial_maker import _for_browsers, _trying

    with _trying(read(BREAKFAST)) as (environment, _):
        manifest, xml = _for_browsers(environment)
    return {"result": {"faults": []}, "manifest": manifest, "xml": xml}


@pytest.fixture
def checked(db: None, check_of_breakfast: dict[str, Any]) -> PublishedScene:
    row = PublishedScene(yaml=BREAKFAST)
    published_scenes.save_draft(row)
    SceneTrial.objects.create(scene=row, what="check", yaml=row.yaml, done_at=timezone.now(), **check_of_breakfast)
    return row


@pytest.fixture
def published(checked: PublishedScene) -> PublishedScene:
    """In effect."""
    published_scenes.publish(checked, None)
    PublishedScene.objects.update(since=timezone.now())
    _learn()
    return PublishedScene.objects.get()


def _learn() -> None:
    """As another process does."""
    published_tasks._Known.edition = (0, 0)
    published_tasks.refresh(at_once=True)


def test_a_published_scene_is_offered_a_moment_later_and_not_before(checked: PublishedScene) -> None:
    published_scenes.publish(checked, None)
    _learn()
    assert "breakfast" not in Robots().places()["widowx"]
    assert "breakfast" in [world.scene_id for world in catalogue.embodiments()], "a start in between must not lose it"
    PublishedScene.objects.update(since=timezone.now() - timedelta(seconds=1))
    _learn()
    offered = [scene for robot, scene in catalogue.offered_worlds() if robot == "widowx"]
    assert Robots().places()["widowx"] == offered
    assert offered[-1] == "breakfast"


def test_visitors_open_it_and_their_browsers_load_what_python_has(client: Client, published: PublishedScene) -> None:
    assert "breakfast" in [each["scene_id"] for each in client.get("/api/scenes").json()["results"]]
    manifest = client.get("/api/scenes/widowx/breakfast/").json()
    xml = client.get(manifest["xml_url"])
    assert (xml.status_code, xml["Cache-Control"]) == (200, "public, max-age=31536000, immutable")
    meshes = dict(assets.robot_meshes("wx250s"))
    assert {asset["name"] for asset in manifest["assets"]} == set(meshes)
    assert all(client.get(asset["url"]).status_code == 200 for asset in manifest["assets"][:2])
    model = mujoco.MjModel.from_xml_string(xml.content.decode(), meshes)
    environment = Environment("widowx", "breakfast")
    assert manifest["scene_hash"] == environment.scene_hash
    assert len(manifest["home"]) == model.nq == environment.model.nq
    page = client.get("/battle?scene_id=breakfast").content.decode()
    assert "Breakfast table" in page
    assert SAID in page


def test_policies_that_fit_its_room_may_play_in_it(checked: PublishedScene) -> None:
    call_command("seed_policies", stdout=StringIO())
    cards = PolicyWorld.objects.filter(robot_id="widowx", scene_id="table").count()
    assert cards > 1
    published_scenes.publish(checked, None)
    assert PolicyWorld.objects.filter(scene_id="breakfast").count() == cards
    call_command("seed_policies", stdout=StringIO())
    assert PolicyWorld.objects.filter(scene_id="breakfast").count() == cards, "the next start keeps them"


def test_moderators_write_tasks_for_it(published: PublishedScene) -> None:
    text = NEW_TASK.replace("scene: table", "scene: breakfast").replace("[red_cube, green_sphere]", "[blue_cup, bowl]")
    assert published_tasks.faults_of(text) == []
    assert published_tasks.faults_of(text.replace("bowl", "green_sphere"))[0].startswith(
        "task:7: values: unknown thing"
    )
    assert "breakfast_pick" in published_tasks.faults_of(text.replace("my_task", "breakfast_pick"))[0]


def test_a_withdrawn_scene_is_chosen_no_more_and_its_recordings_are_verified(published: PublishedScene) -> None:
    environment, recorder = Environment("widowx", "breakfast"), Recorder()
    environment.reset(1)
    limits, chunking = Limits(max_steps=3), Chunking(execute=1)
    run_episode(environment, HoldStill(environment), SAID, 1, [recorder], limits, chunking, ())
    identity = {"_id": "ep_1", "robot_id": "widowx", "scene_id": "breakfast", "instruction": SAID}
    document = build_document(identity, recorder.recording, environment, "none")
    assert document["task_id"] == "breakfast_put_in"
    published_scenes.withdraw(published, None, "a mistake")
    PublishedScene.objects.update(until=timezone.now())
    _learn()
    assert "breakfast" not in Robots().places()["widowx"]
    assert "breakfast" in Robots().known_places()["widowx"]
    assert verify_document(document) is None


def test_boards_by_task_do_not_change_with_it(published: PublishedScene) -> None:
    assert Robots().task_of(SAID, "breakfast") == ""
    assert not [task for task in Robots().tasks() if task.startswith("breakfast")]


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("id: breakfast", "id: cabinet", "scene:1: id: there is, or was, a scene 'cabinet' already"),
        ("carrot: {}", "turnip: {}", "scene:9: unknown thing 'turnip'"),
        (BREAKFAST, "[]", "scene: expected a list of one scene, got 0"),
        (BREAKFAST, "- [", "scene: not YAML"),
    ],
)
def test_what_cannot_be_published_is_refused_with_its_line(
    checked: PublishedScene, old: str, new: str, fault: str
) -> None:
    checked.yaml = BREAKFAST.replace(old, new)
    published_scenes.save_draft(checked)
    assert published_scenes.faults_of(checked.yaml)[0].startswith(fault)
    with pytest.raises(NotPublishable, match="scene"):
        published_scenes.publish(checked, None)


def test_only_the_text_that_a_worker_has_checked_is_published_and_it_never_changes(checked: PublishedScene) -> None:
    checked.yaml = BREAKFAST.replace("red_cube: {area_m: [0.2, 0.39, -0.15, 0.0]}", "red_cube: {}")
    published_scenes.save_draft(checked)
    with pytest.raises(NotPublishable, match="not checked this text"):
        published_scenes.publish(checked, None)
    checked.yaml = BREAKFAST
    published_scenes.save_draft(checked)
    published_scenes.publish(checked, None)
    with pytest.raises(NotPublishable, match="cannot be changed"):
        published_scenes.save_draft(PublishedScene.objects.get())


def test_an_id_is_never_used_again(published: PublishedScene) -> None:
    again = PublishedScene(yaml=BREAKFAST)
    published_scenes.save_draft(again)
    assert "there is, or was, a scene 'breakfast'" in published_scenes.faults_of(again.yaml, again.pk)[0]
    with pytest.raises(IntegrityError), transaction.atomic():
        PublishedScene.objects.filter(pk=again.pk).update(state="published")


def test_the_fields_and_the_yaml_say_the_same(db: None) -> None:
    initial = initial_of(NEW)
    assert initial is not None
    form = SceneForm({name: value for name, value in initial.items() if value is not False})
    assert form.is_valid(), form.errors
    assert initial_of(form.to_yaml()) == initial
    assert published_scenes.faults_of(form.to_yaml()) == []
    assert initial_of(BREAKFAST) is None, "it has suggestions, which the fields cannot say"


def test_a_moderator_composes_checks_tries_and_publishes(
    checked: PublishedScene, sent: list[tuple[str, int, str]], check_of_breakfast: dict[str, Any]
) -> None:
    client = logged_in(moderator())
    answer = client.post(ADD, {"yaml": NEW.replace("carrot", "leek"), "from_yaml": "x"}, follow=True)
    assert "scene:12: unknown thing &#x27;leek&#x27;" in answer.content.decode()
    assert "Expected x y for a place" in client.post(ADD, {"from_fields": "x", **(initial_of(NEW) or {}),
                                                           "start_0": "1 2 3"}).content.decode()  # fmt: skip
    page = f"/admin/robots/publishedscene/{checked.pk}/try/"
    for button in ({"check": "x"}, {"start": "x"}, {"play": "x", "seed": "3"}):
        client.post(page, button)
    assert [(name, queue) for name, _, queue in sent] == [(scene_trials.TRY, settings.DRAWINGS_QUEUE)] * 3
    assert 'data-awaited="yes"' in client.get(page).content.decode()
    start = SceneTrial.objects.get(what="start")
    found = {**check_of_breakfast, "result": {"qpos": check_of_breakfast["manifest"]["home"]}, "picture": b"webp"}
    SceneTrial.objects.filter(pk=start.pk).update(done_at=timezone.now(), **found)
    shown = client.get(page).content.decode()
    manifest = client.get(f"/admin/robots/publishedscene/trials/{start.pk}/manifest.json").json()
    assert f"trials/{start.pk}/manifest.json" in shown
    assert client.get(manifest["xml_url"]).content.decode() == check_of_breakfast["xml"]
    assert client.get(manifest["assets"][0]["url"]).status_code == 200
    client.post(page, {"publish": "x"})
    assert PublishedScene.objects.get(pk=checked.pk).state == "published"
    client.post(page, {"withdraw": "x", "reason": "a mistake"})
    assert PublishedScene.objects.get(pk=checked.pk).state == "withdrawn"
    acts = ModerationAct.objects.order_by("pk").values_list("action", "subject", "moderator_name")
    assert list(acts) == [("publish_scene", "breakfast", "moderator"), ("withdraw_scene", "breakfast", "moderator")]


def test_only_moderators_may(checked: PublishedScene, sent: list[Any]) -> None:
    trial = SceneTrial.objects.get()
    own = f"/admin/robots/publishedscene/{checked.pk}"
    drafts = "/admin/robots/publishedscene/trials"
    for client in (Client(), logged_in(operator())):
        for address in (f"{own}/try/", f"{own}/change/", ADD, f"{drafts}/{trial.pk}/manifest.json"):
            assert client.get(address).status_code in (302, 403)
            assert client.post(address, {"publish": "x", "yaml": "", "from_yaml": "x"}).status_code in (302, 403)
    assert PublishedScene.objects.get().state == "draft"
    assert sent == []


def test_a_worker_draws_and_plays_a_draft_and_forgets_it(checked: PublishedScene) -> None:
    text = BREAKFAST.replace("  suggestions", "  tasks: [pick, touch]\n  suggestions")
    start, play = (SceneTrial.objects.create(scene=checked, what=what, yaml=text, seed=2) for what in ("start", "play"))
    for trial in (start, play):
        make(trial.pk)
        trial.refresh_from_db()
        assert bytes(trial.picture)[8:12] == b"WEBP", trial.result
    assert len(start.result["qpos"]) == start.manifest["nq"]
    assert np.isfinite(start.result["qpos"]).all()
    assert [one["success"] for one in play.result["rollouts"]] == [True, True]
    assert composed.find("breakfast") is None


def test_a_worker_tells_what_is_wrong(checked: PublishedScene) -> None:
    wrong = BREAKFAST.replace("carrot: {}", "carrot: {at_m: [0.3, 0.0]}").replace(
        "bowl: {}", "bowl: {at_m: [0.31, 0.0]}"
    )
    trial = SceneTrial.objects.create(scene=checked, what="check", yaml=wrong)
    make(trial.pk)
    trial.refresh_from_db()
    assert trial.result["faults"][0].startswith("scene:9: carrot: overlaps bowl")
    assert trial.xml == ""


def test_the_command_checks_and_publishes_a_file(db: None, tmp_path: Path) -> None:
    path, out = tmp_path / "mine.yaml", StringIO()
    path.write_text(BREAKFAST.replace("eggplant: {}", "leek: {}"))
    with pytest.raises(CommandError, match=r"mine.yaml:10: unknown thing 'leek'"):
        call_command("add_scene", path)
    with pytest.raises(CommandError, match="seeds must be at least 1"):
        call_command("add_scene", path, seeds=0)
    path.write_text(BREAKFAST.replace("  suggestions", "  tasks: [pick]\n  suggestions"))
    call_command("add_scene", path, seeds=1, stdout=out)
    assert out.getvalue() == "breakfast: published\n"
    row = PublishedScene.objects.get()
    assert json.loads(json.dumps(row.manifest))["scene_id"] == "breakfast"
    assert row.xml.startswith("<mujoco")
    assert not PublishedTask.objects.exists(), "its tasks come with it"
