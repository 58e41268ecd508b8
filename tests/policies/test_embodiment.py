"""A policy meets others only where it was made to play: its card is compared with the robot and the scene."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django.fixtures import DjangoAssertNumQueries

from arena import kinds
from arena.kinds import Place
from arena.models import ContestantQuerySet, ContestantStatus, Hosting
from arena.queue import hosting
from policies.base import PolicyError, PolicySpec
from policies.embodiment import fitting, mismatches
from policies.folder import CARD, write_json, write_sums
from policies.models import Policy, PolicyWorld
from policies.registry import describe
from policies.seeding import seed_policies
from robots.players import open_folder
from robots.runtime import WorkerRuntime, preload
from simulation import catalogue
from simulation.contracts import CameraSpec, Embodiment
from simulation.environment import Environment
from simulation.pictures import OVERVIEW
from simulation.worlds import load_world
from tests.arena.conftest import Visitor, battle_row
from tests.factories import PolicyFactory
from tests.policies.tiny_networks import write_octo, write_openvla

TABLE = catalogue.embodiment("widowx", "table")
ALOHA = {"action_space": "joint_velocity_14", "rate_hz": 50}
"""What a card of a two-armed robot says."""
RIGHT = (
    "widowx takes the action space 'eef_delta_bridge7', not 'joint_velocity_14'; widowx is controlled at 5 Hz, not 50"
)


def make(folder: Path, source: Path, **card: Any) -> Path:
    """A copy of a shipped folder whose card says something else, with hashes that are right."""
    shutil.copytree(source, folder)
    write_json(folder / CARD, {**json.loads((folder / CARD).read_text()), "id": folder.name, **card})
    write_sums(folder)
    return folder


@pytest.fixture
def shipped(settings: Any) -> Path:
    return Path(settings.POLICY_WEIGHTS) / "film-early"


@pytest.fixture
def spec(shipped: Path) -> PolicySpec:
    return describe(shipped).spec


def eligible(robot_id: str, scene_id: str) -> ContestantQuerySet[Any]:
    return kinds.get("robots").eligible(Place(robot_id, scene_id))


def drawn(visitor: Visitor, sessions: int = 20) -> set[str]:
    rows = [battle_row(visitor.open()) for _ in range(sessions)]
    return {model_id for row in rows for model_id in (row.left_model_id, row.right_model_id)}


@pytest.mark.parametrize(
    ("declared", "right"),
    [
        ({"action_space": "joint_velocity_14"}, "widowx takes the action space 'eef_delta_bridge7'"),
        ({"rate_hz": 50}, "widowx is controlled at 5 Hz, not 50 Hz"),
        ({"proprioception": "joints_7"}, "widowx feels 'eef_pose_bridge8', not 'joints_7'"),
        ({"chunk": 65}, "widowx takes at most 64 actions at once, not 65"),
        ({"cameras": (CameraSpec("wrist", 64, 64),)}, "table has the cameras workspace, front, side, top, not 'wrist'"),
        ({"cameras": (CameraSpec("top", 641, 64),)}, "camera 'top' at up to 640 x 640 pixels, not 641 x 64"),
    ],
)
def test_a_mismatch_names_what_would_have_been_right(spec: PolicySpec, declared: dict[str, Any], right: str) -> None:
    assert mismatches(spec, TABLE) == []
    [line] = mismatches(replace(spec, **declared), TABLE)
    assert right in line


def test_a_policy_that_reads_no_proprioception_fits_whatever_the_robot_feels(spec: PolicySpec) -> None:
    world = replace(TABLE, proprioception="joints_7")
    assert mismatches(spec, world)
    assert mismatches(replace(spec, proprioception=""), world) == []


def test_a_camera_that_the_robot_carries_is_offered_beside_those_of_the_scene(spec: PolicySpec) -> None:
    world = replace(TABLE, cameras=(*TABLE.cameras, CameraSpec("wrist", 128, 128)))
    assert mismatches(replace(spec, cameras=(*spec.cameras, CameraSpec("wrist", 64, 64))), world) == []


def test_every_published_layout_fits_the_table(tmp_path: Path) -> None:
    for folder in [write_openvla(tmp_path / "openvla"), write_octo(tmp_path / "octo")]:
        assert not mismatches(describe(folder).spec, TABLE), folder


def test_everything_that_ships_fits_offered_worlds_of_one_robot_and_two_fit_each(settings: Any) -> None:
    shipped = sorted(path.parent for path in Path(settings.POLICY_WEIGHTS).glob(f"*/{CARD}"))
    found = {folder.name: fitting(describe(folder).spec, catalogue.embodiments()) for folder in shipped}
    assert all(len({world.robot_id for world in worlds}) == 1 for worlds in found.values())
    for robot_id, scene_id in catalogue.offered_worlds():
        fit = [
            name for name, worlds in found.items() if (robot_id, scene_id) in {(w.robot_id, w.scene_id) for w in worlds}
        ]
        assert len(fit) >= 2, f"{robot_id} in {scene_id}"


@pytest.mark.parametrize("world", catalogue.embodiments(), ids=lambda world: f"{world.robot_id}-{world.scene_id}")
def test_the_catalogue_declares_the_cameras_that_the_scene_renders(world: Embodiment) -> None:
    model = load_world(world.robot_id, world.scene_id).model
    most = model.vis.global_.offheight, model.vis.global_.offwidth
    assert [(camera.name, camera.height, camera.width) for camera in world.cameras] == [
        (name, *most) for index in range(model.ncam) if (name := model.camera(index).name) != OVERVIEW
    ]


@pytest.mark.django_db
def test_a_shipped_card_of_another_robot_is_entered_as_unavailable_until_it_is_put_right(
    tmp_path: Path, shipped: Path, capsys: pytest.CaptureFixture[str], settings: Any
) -> None:
    settings.POLICY_WEIGHTS = tmp_path
    folder = make(tmp_path / "two-arms", shipped, **ALOHA)
    call_command("seed_policies")
    assert RIGHT in capsys.readouterr().out
    row = Policy.objects.get(id="two-arms")
    assert row.status == ContestantStatus.UNAVAILABLE
    assert RIGHT in row.status_reason
    shutil.rmtree(folder)
    make(folder, shipped)
    call_command("seed_policies")
    assert Policy.objects.get(id="two-arms").status == ContestantStatus.ACTIVE
    assert [each.id for each in eligible("widowx", "table")] == ["two-arms"]


@pytest.mark.django_db(transaction=True)
def test_a_session_never_draws_a_policy_whose_card_says_otherwise(tmp_path: Path, shipped: Path, settings: Any) -> None:
    settings.POLICY_WEIGHTS = tmp_path
    for name, declared in {"one": {}, "two": {}, "slow": {"rate_hz": 50}, "arms": ALOHA}.items():
        make(tmp_path / name, shipped, **declared)
    call_command("seed_policies")
    Policy.objects.filter(id__in=["slow", "arms"]).update(status=ContestantStatus.ACTIVE)  # as a moderator may insist
    assert drawn(Visitor()) == {"one", "two"}
    Policy.objects.get(id="two").retire("Too slow")
    answer = Visitor().post("sessions/init", {"robot_id": "widowx", "scene_id": "table"})
    assert (answer.status_code, answer.json()["code"]) == (503, "no_contestants")


@pytest.mark.django_db
def test_who_is_eligible_is_asked_of_one_query_and_differs_by_scene(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    for name, scenes in {"here": ["table"], "both": ["table", "kitchen"], "there": ["kitchen"], "none": []}.items():
        policy = PolicyFactory(id=name, card={"id": name})
        policy.keep_worlds(replace(TABLE, scene_id=scene) for scene in scenes)
    with django_assert_num_queries(1):
        assert {each.id for each in eligible("widowx", "table")} == {"here", "both"}
    assert {each.id for each in eligible("widowx", "kitchen")} == {"both", "there"}
    assert not eligible("aloha", "table").exists()


@pytest.mark.django_db
def test_a_policy_is_not_drawn_in_a_shipped_scene_that_it_was_not_trained_in() -> None:
    told = {"trained": ["table"], "untold": None, "elsewhere": ["lab"]}
    for name, scenes in told.items():
        card = {"id": name, "training": {"scenes": scenes} if scenes else {}}
        PolicyFactory(id=name, card=card).keep_worlds(
            replace(TABLE, scene_id=scene, composed=scene == "picnic") for scene in ("table", "workbench", "picnic")
        )
    assert {each.id for each in eligible("widowx", "table")} == {"trained", "untold"}
    assert {each.id for each in eligible("widowx", "workbench")} == {"untold"}
    assert {each.id for each in eligible("widowx", "picnic")} == set(told)


@pytest.mark.django_db
def test_the_shipped_policies_are_drawn_where_they_were_trained() -> None:
    catalogue.offer(["table", "workbench"])
    try:
        call_command("seed_policies")
    finally:
        catalogue.offer(None)
    assert {each.id for each in eligible("widowx", "workbench")} >= {"film-worlds", "film-worlds-early"}
    assert "film-base" in {each.id for each in eligible("widowx", "table")}
    assert "film-base" not in {each.id for each in eligible("widowx", "workbench")}


@pytest.mark.django_db
def test_add_policy_refuses_a_folder_of_another_robot_and_leaves_the_row_alone(tmp_path: Path, shipped: Path) -> None:
    call_command("add_policy", "mine", "--weights", str(make(tmp_path / "right", shipped)))
    before = Policy.objects.filter(id="mine").values().get()
    wrong = str(make(tmp_path / "wrong", shipped, **ALOHA))
    for name in ("mine", "new"):
        with pytest.raises(CommandError, match=RIGHT):
            call_command("add_policy", name, "--weights", wrong)
    assert Policy.objects.filter(id="mine").values().get() == before
    assert not Policy.objects.filter(id="new").exists()
    assert [each.id for each in eligible("widowx", "table")] == ["mine"]


@pytest.mark.django_db
@pytest.mark.parametrize("command", [["evaluate", "--episodes", "1"], ["play", "wave", "--right", "hold-still"]])
def test_a_folder_of_another_robot_is_not_opened(tmp_path: Path, shipped: Path, command: list[str]) -> None:
    folder = make(tmp_path / "wrong", shipped, **ALOHA)
    with pytest.raises(PolicyError, match=RIGHT) as refused:
        open_folder(folder, Environment("widowx", "table"))
    assert refused.value.code == "wrong_embodiment"
    name, *more = command
    asked = [str(folder), *more] if name == "evaluate" else [*more, "--left", str(folder)]
    with pytest.raises(CommandError, match=RIGHT):
        call_command(name, *asked)


@pytest.mark.django_db
def test_a_row_without_a_card_is_compared_when_a_worker_opens_its_folder(
    tmp_path: Path, shipped: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hosting, "this", hosting.Worker("here"))
    folder = make(tmp_path / "wrong", shipped, **ALOHA)
    PolicyFactory(id="by-hand", model_path=str(folder))
    assert [each.id for each in eligible("widowx", "table")] == ["by-hand"]
    preload(WorkerRuntime(), list(Policy.objects.all()), [("widowx", "table")])
    assert RIGHT in Hosting.objects.get(contestant_id="by-hand").trouble
    assert RIGHT in Policy.objects.get(id="by-hand").status_reason
    assert not eligible("widowx", "table").exists()


@pytest.mark.django_db
def test_a_policy_that_is_open_is_compared_with_each_world_that_asks_for_it(
    shipped: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime, policy = WorkerRuntime(), PolicyFactory(id="film", model_path=str(shipped))
    runtime.player(policy, "widowx", "table").close()
    with monkeypatch.context() as patched:
        patched.setattr(catalogue, "embodiment", lambda *place: replace(TABLE, rate_hz=10))
        with pytest.raises(PolicyError, match="controlled at 10 Hz, not 5 Hz"):
            runtime.player(policy, "widowx", "table")
    assert [entry.key.model_id for entry in runtime.cache.entries] == ["film"]
    runtime.player(policy, "widowx", "table").close()


@pytest.mark.django_db
def test_a_worker_opens_a_policy_only_where_it_fits(shipped: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosting, "this", hosting.Worker("here"))
    policy = PolicyFactory(id="film", model_path=str(shipped))
    rates = {"table": 5, "kitchen": 10}
    monkeypatch.setattr(
        catalogue, "embodiment", lambda robot, scene: replace(TABLE, scene_id=scene, rate_hz=rates[scene])
    )
    preload(WorkerRuntime(), [policy], [("widowx", "kitchen"), ("widowx", "table")])
    assert Policy.objects.get(id="film").status == ContestantStatus.ACTIVE
    assert not Hosting.objects.exclude(trouble="").exists()


@pytest.mark.django_db
def test_seeding_compares_every_card_with_the_catalogue_as_it_is_now(tmp_path: Path, shipped: Path) -> None:
    call_command("add_policy", "mine", "--weights", str(make(tmp_path / "mine", shipped, training={})))
    kitchen = replace(TABLE, scene_id="kitchen")
    seed_policies(tmp_path / "none", [TABLE, kitchen])
    assert eligible("widowx", "kitchen").filter(id="mine").exists()
    with CaptureQueriesContext(connection) as asked:
        seed_policies(tmp_path / "none", [TABLE, kitchen])
    assert not [each for each in asked if "INTO" in each["sql"] and "policy_worlds" in each["sql"]]
    seed_policies(tmp_path / "none", [replace(TABLE, rate_hz=10)])
    row = Policy.objects.get(id="mine")
    assert row.status == ContestantStatus.UNAVAILABLE
    assert "controlled at 10 Hz, not 5 Hz" in row.status_reason
    assert not row.worlds.exists()


@pytest.mark.django_db
def test_the_rows_of_an_earlier_release_are_compared_by_the_migration(shipped: Path) -> None:
    card = describe(shipped).to_json()
    for name, declared in {
        "fits": {},
        "arms": ALOHA,
        "wrist": {"cameras": [{**card["cameras"][0], "name": "wrist"}]},
    }.items():
        PolicyFactory(id=name, card={**card, **declared})
    PolicyFactory(id="cardless")
    import_module("policies.migrations.0009_worlds_that_a_policy_fits").fill(apps, connection.schema_editor())
    assert list(PolicyWorld.objects.values_list("policy_id", "robot_id", "scene_id")) == [("fits", "widowx", "table")]
    assert {each.id for each in eligible("widowx", "table")} == {"fits", "cardless"}
