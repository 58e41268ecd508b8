"""Scenes that moderators publish: what may be published, and who may play there.

As with tasks (robots.published_tasks), a publication takes effect a few seconds later, when every process has read it.
"""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import transaction

from arena.audit import Act
from policies.base import PolicyCard, PolicyError
from policies.embodiment import mismatches
from policies.models import Policy, PolicyWorld
from robots import publications, published_tasks, scene_rows
from robots.models import PublishedScene, SceneTrial
from robots.publications import NotPublishable
from simulation import catalogue, composed
from simulation.catalogue_rows import CatalogueError, refuse
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
    row.scene_id = publications.id_in(row.yaml, scene_rows.SOURCE, LONGEST_ID)
    publications.keep(row)


def good_check(row: PublishedScene) -> SceneTrial | None:
    """The last check of this very text by a worker, if that found nothing."""
    checks = row.trials.filter(what=SceneTrial.What.CHECK, yaml=row.yaml).exclude(done_at=None).order_by("-pk")
    return next((check for check in checks if check.result.get("faults") == []), None)


def publish(row: PublishedScene, moderator: User | None) -> None:
    """Let visitors choose it, from a few seconds on. Raises NotPublishable, with what is wrong."""
    with transaction.atomic():
        row = publications.locked_draft(row)
        if faults := faults_of(row.yaml, row.pk):
            raise NotPublishable("; ".join(faults))
        check = good_check(row)
        if check is None:
            raise NotPublishable("a worker has not checked this text yet, or has found errors")
        row.manifest, row.xml = check.manifest, check.xml
        _admit_policies(scene_rows.read(row.yaml))
        publications.publish(row, moderator, Act.PUBLISH_SCENE)
        published_tasks.refresh_after_commit()


def withdraw(row: PublishedScene, moderator: User | None, reason: str) -> None:
    """Visitors cannot choose it any more, from a few seconds on. Raises NotPublishable, ReasonMissing."""
    with transaction.atomic():
        publications.withdraw(row, moderator, Act.WITHDRAW_SCENE, reason)
        published_tasks.refresh_after_commit()


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
