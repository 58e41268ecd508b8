"""Moderators write a task, have it checked and tried, publish it and withdraw it, and every process learns of it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
from django.test import Client
from django.utils import timezone

from arena.models import Turn
from arena.queue.hosting import queue_of
from rankings.models import ModerationAct
from robots import published_tasks, task_trials
from robots.management.commands import verify
from robots.models import PublishedTask, TaskTrial
from robots.publications import LEAD, NotPublishable
from robots.task_form import NEW, TaskForm, initial_of
from robots.task_trial_maker import make
from simulation import additions, catalogue
from simulation.contracts import Chunking, Limits
from simulation.environment import Environment
from simulation.episode_format import build_document
from simulation.expert import HoldStill
from simulation.goals import goal_of
from simulation.recorder import Recorder
from simulation.runner import run_episode
from tests.arena.conftest import Visitor, cast, play
from tests.factories import PolicyFactory
from tests.fakes import FakeRuntime
from tests.people import logged_in, moderator, operator

POKE = NEW.replace("my_task", "poke").replace("suggested: false", "suggested: true")
SAID = "prod the red cube"
MEANT = {"task_id": "poke", "text": SAID}


@pytest.fixture(autouse=True)
def _as_if_started_anew() -> Iterator[None]:
    yield
    additions.replace([])
    published_tasks._Known.edition = (0, 0)


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, str]]:
    """What workers were asked for: number of the trial, and the queue."""
    found: list[tuple[int, str]] = []

    def send(name: str, args: list[int], queue: str, **options: Any) -> None:
        assert name == task_trials.TRY
        found.append((args[0], queue))

    monkeypatch.setattr(task_trials.current_app, "send_task", send)
    return found


def draft(text: str = POKE) -> PublishedTask:
    row = PublishedTask(yaml=text)
    published_tasks.save_draft(row)
    return row


def checked(row: PublishedTask, faults: list[str] | None = None) -> PublishedTask:
    done: dict[str, Any] = {"done_at": timezone.now(), "result": {"faults": faults or []}}
    TaskTrial.objects.create(task=row, what="check", yaml=row.yaml, **done)
    return row


def published(text: str = POKE, ago: timedelta = timedelta(0)) -> PublishedTask:
    """In effect, and for so long."""
    row = checked(draft(text))
    published_tasks.publish(row, None)
    PublishedTask.objects.filter(pk=row.pk).update(since=timezone.now() - ago)
    published_tasks._Known.edition = (0, 0)
    published_tasks.refresh(at_once=True)
    return PublishedTask.objects.get(pk=row.pk)


def goal_told(visitor: Visitor, battle_id: str) -> Any:
    return visitor.battle(battle_id)["turns"][0]["goal"]


def test_a_published_task_is_meant_a_moment_later_and_not_before(db: None) -> None:
    row = checked(draft())
    published_tasks.publish(row, None)
    published_tasks.refresh(at_once=True)
    row.refresh_from_db()
    assert row.since is not None
    assert row.since > timezone.now() + LEAD / 2
    assert catalogue.task_for(SAID, "table") is None
    with additions.as_of(row.since):
        assert catalogue.task_for(SAID, "table") == ("poke", {"object": "red_cube"})


def test_a_turn_keeps_the_meaning_that_it_had_when_it_was_sent(visitor: Visitor, runtime: FakeRuntime) -> None:
    before = visitor.open()
    early = visitor.send(before, SAID)
    published()
    assert goal_told(visitor, before) is None
    play(early)
    cast(visitor, before)
    outcome = visitor.get(f"episodes/{early['left_episode_id']}").json()["outcome"]
    assert (outcome["success"], outcome["progress"]) == (None, None), "it was never judged"
    after = visitor.open()
    visitor.send(after, SAID)
    assert goal_told(visitor, after) == MEANT
    assert goal_told(visitor, before) is None


def test_a_withdrawn_task_is_meant_no_more_and_stays_known(visitor: Visitor, runtime: FakeRuntime) -> None:
    row = published()
    battle_id = visitor.open()
    visitor.send(battle_id, SAID)
    published_tasks.withdraw(row, None, "a mistake")
    PublishedTask.objects.update(until=timezone.now())
    published_tasks._Known.edition = (0, 0)
    published_tasks.refresh(at_once=True)
    assert goal_told(visitor, battle_id) == MEANT
    assert catalogue.task_for(SAID, "table") is None
    assert goal_of("poke", {"object": "red_cube"}), "recordings are verified by it"


def test_a_turn_is_played_by_the_goal_of_the_moment_it_was_sent(
    visitor: Visitor, runtime: FakeRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[Any] = []
    original = catalogue.limits_for
    monkeypatch.setattr(
        catalogue,
        "limits_for",
        lambda said, *more: read.append(catalogue.task_for(said, "table")) or original(said, *more),
    )
    early = visitor.send(visitor.open(), SAID)
    published()
    late = visitor.send(visitor.open(), SAID)
    read.clear()
    play(early)
    assert read
    assert not any(read)
    assert Turn.objects.count() == 2
    early_reads = len(read)
    play(late)
    assert all(read[early_reads:])


def test_boards_by_task_do_not_change_with_what_is_published(visitor: Visitor, runtime: FakeRuntime) -> None:
    from robots.kind import Robots

    published()
    assert Robots().task_of(SAID, "table") == ""
    assert "poke" not in Robots().tasks()
    assert Robots().longest == 200


def test_the_page_and_the_api_offer_a_published_task(client: Client, visitor: Visitor) -> None:
    published()
    assert "poke" in [each["task_id"] for each in client.get("/api/tasks").json()["results"]]
    assert SAID in client.get("/battle").content.decode()


def test_another_process_reads_only_what_is_new(db: None, django_assert_num_queries: Any) -> None:
    published()
    with django_assert_num_queries(2):  # for the tasks, and for the scenes
        published_tasks.refresh(at_once=True)
    with django_assert_num_queries(0):
        published_tasks.refresh()


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("id: poke", "id: pick", "task:1: id: there is, or was, a task 'pick' already"),
        ("touching", "touched", "task:10: unknown predicate 'touched'"),
        ("red_cube", "teapot", "task:7: values: unknown thing in scene table 'teapot'"),
        ("max_steps: 50", "max_steps: 900", "task:12: max_steps: at most 200"),
        ("scene: table", "scene: moon", "task:1: unknown scene 'moon'"),
        ("prod the", "pick up the", "task:5: 'pick up the red cube' does not mean poke"),
        (POKE, "id: poke", "task: expected a list of mappings"),
        (POKE, POKE + POKE, "task: expected a list of one task, got 2"),
        ("other: tool", "other: [", "task: not YAML"),
    ],
)
def test_what_cannot_be_published_is_refused_with_its_line(db: None, old: str, new: str, fault: str) -> None:
    assert old in POKE
    row = checked(draft(POKE.replace(old, new)))
    assert published_tasks.faults_of(row.yaml)[0].startswith(fault)
    with pytest.raises(NotPublishable, match="task"):
        published_tasks.publish(row, None)


def test_an_id_is_never_used_again(db: None) -> None:
    row = published()
    published_tasks.withdraw(row, None, "a mistake")
    again = checked(draft())
    with pytest.raises(NotPublishable, match="there is, or was, a task 'poke'"):
        published_tasks.publish(again, None)
    with pytest.raises(IntegrityError), transaction.atomic():
        PublishedTask.objects.filter(pk=again.pk).update(state="published")


def test_only_the_text_that_a_worker_has_checked_is_published(db: None) -> None:
    row = checked(draft(POKE.replace("Say what", "Tell what")))
    row.yaml = POKE
    published_tasks.save_draft(row)
    with pytest.raises(NotPublishable, match="not checked this text"):
        published_tasks.publish(row, None)
    with pytest.raises(NotPublishable, match="not checked this text"):
        published_tasks.publish(checked(row, ["task:9: goal: reached at the start"]), None)
    published_tasks.publish(checked(row), None)


def test_what_is_published_is_not_edited(db: None) -> None:
    row = published()
    row.yaml = POKE.replace("Say", "Tell")
    with pytest.raises(NotPublishable, match="cannot be changed"):
        published_tasks.save_draft(row)


def test_the_fields_and_the_yaml_say_the_same(db: None) -> None:
    text = NEW.replace("  - {text: 'prod the {object}'}\n", "  - {text: 'prod the {object}'}\n"
                       "  - {text: 'jab the {object}', train: false}\n")  # fmt: skip
    text = text.replace("    touching: {thing: '{object}', other: tool}",
                        "    stages:\n    - {touching: {thing: '{object}', other: tool}}\n"
                        "    - {moved: {thing: '{object}', direction: left, by_m: 0.1}}")  # fmt: skip
    initial = initial_of(text)
    assert initial is not None
    assert initial["templates"] == "prod the {object}\n~ jab the {object}"
    form = TaskForm(initial, scene_id="table")
    assert form.is_valid(), form.errors
    written, wanted = published_tasks.read(form.to_yaml()), published_tasks.read(text)
    assert (written.task, written.row) == (wanted.task, wanted.row)


def test_a_yaml_beyond_the_fields_is_left_to_the_yaml(db: None) -> None:
    assert initial_of(NEW.replace("  goal:\n    touching:", "  goal:\n    not:\n      touching:")) is None
    assert initial_of("- [") is None


def test_a_moderator_writes_checks_tries_and_publishes(visitor: Visitor, sent: list[tuple[int, str]]) -> None:
    PolicyFactory(id="scripted-expert", reference=True)
    client = logged_in(moderator())
    fields = {name: value for name, value in (initial_of(POKE) or {}).items() if value is not False}
    answer = client.post("/admin/robots/publishedtask/add/", {**fields, "from_fields": "x"})
    row = PublishedTask.objects.get()
    assert (answer.status_code, row.task_id, row.state) == (302, "poke", "draft")
    page, own = f"/admin/robots/publishedtask/{row.pk}/try/", client.get(answer.url)
    assert "touching" in own.content.decode()
    client.post(page, {"check": "x"})
    client.post(page, {"start": "x"})
    client.post(page, {"play": "x", "seed": "3", "one": "alpha", "other": "beta"})
    drawings = settings.DRAWINGS_QUEUE
    players = [queue_of(model_id) for model_id in ("alpha", "beta", "scripted-expert")]
    assert [queue for _, queue in sent] == [drawings, drawings, *players]
    assert list(TaskTrial.objects.filter(what="play").order_by("pk").values_list("model_id", "seed")) == [
        ("alpha", 3),
        ("beta", 3),
        ("scripted-expert", 3),
    ]
    assert 'data-awaited="yes"' in client.get(page).content.decode()
    assert "Publish<" not in client.get(page).content.decode()
    client.post(page, {"publish": "x"})
    assert PublishedTask.objects.get().state == "draft", "nobody has checked it"
    done = {"done_at": timezone.now(), "result": {"faults": []}, "picture": b"webp"}
    TaskTrial.objects.update(**done)
    shown = client.get(page)
    assert 'data-awaited=""' in shown.content.decode()
    assert 'name="publish"' in shown.content.decode()
    assert "data:image/webp;base64,d2VicA==" in shown.content.decode()
    client.post(page, {"publish": "x"})
    assert PublishedTask.objects.get().state == "published"
    client.post(page, {"withdraw": "x", "reason": ""})
    assert PublishedTask.objects.get().state == "published", "a reason is needed"
    client.post(page, {"withdraw": "x", "reason": "a mistake"})
    assert PublishedTask.objects.get().state == "withdrawn"
    acts = ModerationAct.objects.order_by("pk").values_list("action", "subject", "moderator_name")
    assert list(acts) == [("publish_task", "poke", "moderator"), ("withdraw_task", "poke", "moderator")]


def test_the_page_names_the_line_of_a_fault_and_keeps_the_draft(db: None) -> None:
    client = logged_in(moderator())
    wrong = POKE.replace("touching", "touched")
    answer = client.post("/admin/robots/publishedtask/add/", {"yaml": wrong, "from_yaml": "x"}, follow=True)
    assert "task:10: unknown predicate" in answer.content.decode()
    assert PublishedTask.objects.get().yaml == wrong
    assert "Enter a whole number" in client.post("/admin/robots/publishedtask/add/", {"from_fields": "x", **(
        initial_of(POKE) or {}), "max_steps": "many"}).content.decode()  # fmt: skip


def test_only_moderators_may(db: None, sent: list[tuple[int, str]]) -> None:
    row = checked(draft())
    page = f"/admin/robots/publishedtask/{row.pk}/try/"
    for client in (Client(), logged_in(operator())):
        for address in (page, f"/admin/robots/publishedtask/{row.pk}/change/", "/admin/robots/publishedtask/add/"):
            assert client.get(address).status_code in (302, 403)
            assert client.post(address, {"publish": "x", "yaml": "", "from_yaml": "x"}).status_code in (302, 403)
    assert PublishedTask.objects.get().state == "draft"
    assert sent == []


def test_a_worker_checks_a_task_and_tells_the_line(db: None) -> None:
    well = TaskTrial.objects.create(task=draft(), what="check", yaml=POKE)
    reached = POKE.replace("touching: {thing: '{object}', other: tool}", "upright: {thing: '{object}'}")
    ill = TaskTrial.objects.create(task=draft(reached), what="check", yaml=reached)
    make(well.pk)
    make(ill.pk)
    well.refresh_from_db()
    ill.refresh_from_db()
    assert well.result == {"faults": []}
    assert ill.result["faults"][0].startswith("task:9: goal: poke ")
    assert "is reached at the start of seed 0" in ill.result["faults"][0]


def test_a_worker_plays_a_draft_and_forgets_it(db: None) -> None:
    expert = PolicyFactory(id="scripted-expert", adapter="expert", reference=True)
    text = POKE.replace("touching: {thing: '{object}', other: tool}", "lifted: {thing: '{object}'}")
    trials = [TaskTrial.objects.create(task=draft(text), what=what, yaml=text, model_id=expert.pk) for what in
              ("play", "start")]  # fmt: skip
    for trial in trials:
        make(trial.pk)
        trial.refresh_from_db()
        assert bytes(trial.picture)[8:12] == b"WEBP"
    assert trials[0].result["success"] is True
    assert trials[0].result["progress"] == 1.0
    assert trials[0].result["instruction"] == SAID
    assert catalogue.task_for(SAID, "table") is None


def test_a_failing_trial_tells_why(db: None) -> None:
    trial = TaskTrial.objects.create(task=draft(), what="play", yaml=POKE, model_id="nobody")
    make(trial.pk)
    trial.refresh_from_db()
    assert trial.done_at
    assert trial.result["error"]


def test_the_command_checks_and_publishes_a_file(db: None, tmp_path: Path) -> None:
    path, out = tmp_path / "mine.yaml", StringIO()
    path.write_text(POKE + POKE.replace("poke", "jab").replace("prod", "jab"))
    call_command("add_task", path, seeds=1, stdout=out)
    assert out.getvalue().splitlines() == ["poke: published", "jab: published"]
    assert list(PublishedTask.objects.values_list("edition", flat=True).order_by("pk")) == [1, 2]
    path.write_text(POKE.replace("poke", "third").replace("touching", "touched"))
    with pytest.raises(CommandError, match=r"mine.yaml:10: unknown predicate"):
        call_command("add_task", path, seeds=1)
    with pytest.raises(CommandError, match="seeds must be at least 1"):
        call_command("add_task", path, seeds=0)


def test_an_episode_of_a_withdrawn_task_is_verified_by_a_new_process(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    row = published()
    environment = Environment("widowx", "table")
    environment.reset(0)
    recorder = Recorder()
    run_episode(environment, HoldStill(environment), SAID, 0, [recorder], Limits(max_steps=3), Chunking(execute=1), ())
    identity = {"_id": "ep_1", "robot_id": "widowx", "scene_id": "table", "instruction": SAID}
    document = build_document(identity, recorder.recording, environment, "none")
    assert document["task_id"] == "poke"
    published_tasks.withdraw(row, None, "a mistake")
    additions.replace([])  # as in a process that has just begun
    published_tasks._Known.edition = (0, 0)
    monkeypatch.setattr(verify, "get_store", lambda: {"ep_1": document})
    out = StringIO()
    call_command("verify", "ep_1", stdout=out)
    assert out.getvalue() == "1 of 1 episodes identical\n"
