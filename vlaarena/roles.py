"""The admin's two roles, each a Django group. Superusers have every permission, and make accounts.

Both roles may view battles: judging votes and repairing workers requires seeing what was played. The names of a battle
without a vote can only be revealed by spoiling it.
"""

from __future__ import annotations

from django.contrib.auth.models import Group, Permission
from django.db import transaction

MODERATOR, OPERATOR = "moderator", "operator"

LOOK = (
    *("arena.view_session", "arena.view_battle", "arena.view_turn", "arena.view_attempt", "arena.view_vote"),
    "arena.view_feedback",
    *(
        "policies.view_policy",
        "texts.view_languagemodel",
        *("voice.view_scenariorow", "voice.view_voiceagent", "voice.view_conversation"),
        "rankings.view_modelstatstotal",
        "rankings.view_modelstatsbyrobot",
    ),
    *("rankings.view_moderationact", "arena.reveal_names"),
    "studies.view_study",
    *("people.view_token", "people.add_token"),  # their own
)
ROLES: dict[str, tuple[str, ...]] = {
    # Votes and voters: what counts and what does not.
    MODERATOR: (
        *LOOK,
        *("rankings.view_finding", "rankings.view_countedvote", "rankings.view_excludedvoter"),
        *("rankings.moderate_votes", "arena.hide_battle"),
        *("community.view_report", "community.view_comment", "community.moderate"),
        *("robots.view_submission", "robots.decide_submission", "robots.view_remotetrial"),
        *("robots.view_publishedtask", "robots.add_publishedtask", "robots.change_publishedtask"),
        *("robots.view_publishedscene", "robots.add_publishedscene", "robots.change_publishedscene"),
    ),
    # Policies, workers and the schedule: what plays, and when boards are written.
    OPERATOR: (
        *LOOK,
        *("policies.add_policy", "policies.change_policy", "arena.change_attempt"),
        *("robots.view_remotetrial", "robots.add_remotetrial"),
        *("texts.add_languagemodel", "texts.change_languagemodel"),
        *("voice.add_scenariorow", "voice.change_scenariorow"),
        *("voice.add_voiceagent", "voice.change_voiceagent"),
        *("rankings.view_workerstatus", "rankings.run_aggregation"),
        *("wormarena.view_game", "wormarena.ingest_games"),
        *("django_celery_beat.view_periodictask", "django_celery_beat.change_periodictask"),
        *("django_celery_beat.view_crontabschedule", "django_celery_beat.add_crontabschedule"),
        *("django_celery_beat.view_intervalschedule", "django_celery_beat.add_intervalschedule"),
    ),
}


@transaction.atomic
def enter_roles() -> list[str]:
    """Make each role a group with exactly these permissions, and keep its members. Returns the names of new groups."""
    new = []
    for name, wanted in ROLES.items():
        group, made = Group.objects.get_or_create(name=name)
        group.permissions.set(_permissions(wanted))
        new += [name] if made else []
    return new


def _permissions(names: tuple[str, ...]) -> list[Permission]:
    """The rows of these `APP.PERMISSION` names. Raises LookupError for an unknown name."""
    rows = Permission.objects.select_related("content_type")
    known = {f"{row.content_type.app_label}.{row.codename}": row for row in rows}
    if missing := sorted(set(names) - set(known)):
        raise LookupError(f"no such permission: {', '.join(missing)}; run the migrations first")
    return [known[name] for name in names]
