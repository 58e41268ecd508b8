"""An arena with policies, battles, episodes and votes that nobody cast, to look at pages and to test them on.

By hand, on an empty folder: `ARENA_DATA=/tmp/synthetic python -c "import tests.synthetic_arena as m; m.fill_folder()"`.
"""

from __future__ import annotations

import random
from datetime import datetime, timedelta

from django.utils import timezone

from arena.models import Attempt, AttemptStatus, Battle, BattleStatus, Session, Side, Turn, Vote
from policies.models import Policy

NAMES = {
    "openvla-7b": ("OpenVLA 7B", "openvla", 7_541_237_184, 1.2),
    "octo-base": ("Octo Base", "octo", 93_000_000, 0.8),
    "film-long": ("FiLM, trained long", "film", 3_200_000, 0.9),
    "film-early": ("FiLM, early stop", "film", 3_200_000, 0.2),
    "openvla-mini": ("OpenVLA architecture, trained by VLA Arena", "openvla", 41_000_000, 0.0),
    "octo-mini": ("Octo architecture, trained by VLA Arena", "octo", 27_000_000, -0.3),
    "film-mute": ("FiLM without words", "film", 3_100_000, -1.1),
    "newcomer": ("Newcomer", "film", 5_000_000, 0.4),
}
INSTRUCTIONS = (
    ("pick up the red cube", 0.5),
    ("put the red cube on the left plate", -0.2),
    ("stack the red cube on the yellow cube", -1.0),
    ("wave to the crowd", -9.0),
)


def fill(votes: int = 600, voters: int = 60, seed: int = 1, until: datetime | None = None) -> list[Vote]:
    """Cast `votes` over five days. People see success through noise; one voter always names the weakest policy."""
    rng = random.Random(seed)
    end = until or timezone.now()
    for name, (title, family, parameters, _) in NAMES.items():
        Policy.objects.get_or_create(
            id=name,
            defaults={
                "name": title,
                "family": family,
                "adapter": family,
                "parameters": parameters,
                "organization": "VLA Arena" if "film" in name or "mini" in name else "Berkeley",
                "license": "Apache-2.0",
                "provenance": "Synthetic data, to look at pages",
            },
        )
    sessions = [
        Session.objects.create(kind="robots", setting="widowx", scene="table", user_id=f"synthetic-{number:03}")
        for number in range(voters)
    ]
    return [_vote(rng, rng.choice(sessions), end - timedelta(days=5) * (1 - n / votes)) for n in range(votes)]


def _vote(rng: random.Random, session: Session, moment: datetime) -> Vote:
    fresh = moment > timezone.now() - timedelta(days=1)
    known = [name for name in NAMES if name != "newcomer" or fresh]
    left, right = rng.sample(known, 2)
    instruction, ease = rng.choice(INSTRUCTIONS)
    skill = {side: NAMES[name][3] + ease for side, name in ((Side.LEFT, left), (Side.RIGHT, right))}
    success = {side: rng.random() < 1 / (1 + 2.718 ** (-1.5 * value)) for side, value in skill.items()}
    battle = Battle.objects.create(
        session=session,
        seq_in_session=session.battles.count() + 1,
        left_model_id=left,
        right_model_id=right,
        seed=rng.randrange(2**31),
        status=BattleStatus.VOTED,
        created_at=moment,
    )
    turn = Turn.objects.create(
        session=session,
        battle=battle,
        battle_seq_in_session=battle.seq_in_session,
        seq=1,
        instruction=instruction,
        settled_at=moment,
        created_at=moment,
    )
    for side, name in ((Side.LEFT, left), (Side.RIGHT, right)):
        Attempt.objects.create(
            turn=turn,
            side=side,
            model_id=name,
            status=AttemptStatus.COMPLETED,
            success=success[side],
            progress=1.0 if success[side] else round(rng.random() * 0.8, 3),
            length=20 + battle.seed // (1 if side == Side.LEFT else 31) % 31 if success[side] else 50,
            duration_ms=900.0,
            termination_reason="success" if success[side] else "step_limit",
            created_at=moment,
        )
    return Vote.objects.create(
        battle=battle,
        session=session,
        user_id=session.user_id,
        kind=session.kind,
        setting=session.setting,
        scene=session.scene,
        left_model_id=left,
        right_model_id=right,
        vote=_choice(rng, session, left, right, success),
        voted_at=moment,
    )


def _choice(rng: random.Random, session: Session, left: str, right: str, success: dict[Side, bool]) -> str:
    if session.user_id == "synthetic-000" and "film-mute" in (left, right):
        return "left_better" if left == "film-mute" else "right_better"
    ahead = NAMES[left][3] - NAMES[right][3] + 2.0 * (success[Side.LEFT] - success[Side.RIGHT]) + rng.gauss(0, 1.0)
    if abs(ahead) < 0.5:
        return "tie" if success[Side.LEFT] else "both_bad"
    return "left_better" if ahead > 0 else "right_better"


def fill_folder(votes: int = 600, steps: int = 6) -> None:
    """Fill the database that the settings name, publishing after each part, so that there is a trend."""
    import django

    django.setup()
    from django.core.management import call_command

    from rankings.models import Snapshot
    from rankings.publication import aggregation

    call_command("migrate", verbosity=0)
    fill(votes)
    waiting = list(Vote.objects.order_by("voted_at"))
    later = waiting[len(waiting) // steps :]
    Vote.objects.filter(pk__in=[vote.pk for vote in later]).update(processing_status="held")
    for step in range(1, steps + 1):
        part = waiting[len(waiting) * (step - 1) // steps : len(waiting) * step // steps]
        Vote.objects.filter(pk__in=[vote.pk for vote in part]).update(processing_status="pending")
        aggregation.aggregate()
        newest = Snapshot.objects.defer("counts").latest("pk")
        Snapshot.objects.filter(pk=newest.pk).update(made_at=part[-1].voted_at)
    for snapshot in Snapshot.objects.select_related("report").defer("counts").order_by("made_at"):
        for point, other in zip(snapshot.report.content["trend"], Snapshot.objects.order_by("made_at"), strict=False):
            point["at"] = other.made_at.isoformat()
        snapshot.report.save()
