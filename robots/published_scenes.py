"""Scenes that moderators publish: what may be published, and who may play there.

As with tasks (robots.published_tasks), a publication takes effect a few seconds later, when every process has read it.
"""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from arena.audit import Act, clean_reason, note, tell
from policies.base import PolicyCard, PolicyError
from policies.embodiment import mismatches
from policies.models import Policy, PolicyWorld
from robots import published_tasks, scene_rows
from robots.models import PublishedScene, SceneTrial
from robots.published_tasks import LEAD, NotPublishable
from simulation import catalogue, composed
from simulation.catalogue_rows import CatalogueError, read_rows, refuse, text_of
from simulation.composed import Composed
from simulation.scene_tasks import tasks_of

State = PublishedScene.State
LONGEST_ID = 50


def faults_of(text: str, pk: int | None = None) -> list[str]:
    """All that can be said against publishing a scene without physics. `pk`: its own row."""
    try:
        made = scene_rows.read(text)
        with composed.trying(made):
            tasks_of(made)
        _check_id(made, pk)
    except CatalogueError as error:
        return [str(error)]
    return []


def _check_id(made: Composed, pk: int | None) -> None:
    published = PublishedScene.objects.exclude(state=State.DRAFT).filter(scene_id=made.scene.id)
    shipped = {each.id for each in catalogue.shipped_scenes()} | {each.id for each in catalogue.robots()}
    if made.scene.id in shipped or any(each.pk != pk for each in published):
        refuse(made.row, "id", f"id: there is, or was, a scene {made.scene.id!r} already")


def save_draft(row: PublishedScene) -> None:
    """Keep a draft, whatever its faults. Raises NotPublishable for what is no draft any more."""
    row.scene_id = _id_in(row.yaml)
    with transaction.atomic():
        if row.pk and not PublishedScene.objects.select_for_update().filter(pk=row.pk, state=State.DRAFT).exists():
            raise NotPublishable("what is published cannot be changed; withdraw it and write another")
        row.save()


def _id_in(text: str) -> str:
    try:
        return text_of(read_rows(text, scene_rows.SOURCE)[0], "id")[:LONGEST_ID]
    except (CatalogueError, IndexError):
        return ""


def good_check(row: PublishedScene) -> SceneTrial | None:
    """The last check of this very text by a worker, if that found nothing."""
    checks = row.trials.filter(what=SceneTrial.What.CHECK, yaml=row.yaml).exclude(done_at=None).order_by("-pk")
    return next((check for check in checks if check.result.get("faults") == []), None)


def publish(row: PublishedScene, moderator: User | None) -> None:
    """Let visitors choose it, from a few seconds on. Raises NotPublishable, with what is wrong."""
    with transaction.atomic():
        row = PublishedScene.objects.select_for_update().get(pk=row.pk)
        if row.state != State.DRAFT:
            raise NotPublishable(f"it is {row.state} already")
        if faults := faults_of(row.yaml, row.pk):
            raise NotPublishable("; ".join(faults))
        check = good_check(row)
        if check is None:
            raise NotPublishable("a worker has not checked this text yet, or has found errors")
        row.manifest, row.xml = check.manifest, check.xml
        row.state, row.since = State.PUBLISHED, timezone.now() + LEAD
        _admit_policies(scene_rows.read(row.yaml))
        _decide(row, moderator, Act.PUBLISH_SCENE, "")


def withdraw(row: PublishedScene, moderator: User | None, reason: str) -> None:
    """Visitors cannot choose it any more, from a few seconds on. Raises NotPublishable, ReasonMissing."""
    why = clean_reason(reason)
    with transaction.atomic():
        row = PublishedScene.objects.select_for_update().get(pk=row.pk)
        if row.state != State.PUBLISHED:
            raise NotPublishable(f"it is {row.state}, not published")
        row.state, row.until = State.WITHDRAWN, timezone.now() + LEAD
        _decide(row, moderator, Act.WITHDRAW_SCENE, why)


def _admit_policies(made: Composed) -> None:
    """Note which registered policies fit the scene, as their registration would have. The next start does it anew."""
    with composed.trying(made):
        worlds = [catalogue.embodiment(robot_id, made.scene.id) for robot_id in made.scene.robots]
    for policy in Policy.objects.exclude(card={}):
        try:
            spec = PolicyCard.from_json(policy.card).spec
        except PolicyError:
            continue
        for world in worlds:
            if not mismatches(spec, world):
                PolicyWorld.objects.get_or_create(policy=policy, robot_id=world.robot_id, scene_id=world.scene_id)


def _decide(row: PublishedScene, moderator: User | None, act: Act, reason: str) -> None:
    row.edition = (PublishedScene.objects.aggregate(last=Max("edition"))["last"] or 0) + 1
    row.decided_by = moderator
    row.save()
    if moderator is None:
        tell(act, str(row), reason, None)
    else:
        note(act, row, moderator, reason)
    transaction.on_commit(lambda: published_tasks.refresh(at_once=True))
