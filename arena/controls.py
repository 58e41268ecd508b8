"""Control battles: a few first turns show something whose answer is known, to learn how far a voter can be relied on.

- A *repeat* is an earlier battle of the same voter once more: same pair, same first state, same instruction, sides
  swapped. A careful voter says the same of the same.
- A *gold* battle sets the scripted expert, which reaches its goal, against the policy that does nothing.

Which battle is one is decided when its first instruction arrives, before anything of it was played, and is kept in
`Battle.purpose`, which no visitor is ever told. Votes on control battles are not counted in any ranking.
"""

from __future__ import annotations

import secrets

from django.conf import settings
from django.db.models import Count

from arena.models import Battle, Purpose, Turn, Vote
from arena.pairing import draw_pair, written_chances
from policies.models import Policy, PolicyStatus
from simulation import catalogue

REMEMBERED = 200
"""How many of a voter's last votes are looked through for one to repeat."""
GAP = 3
"""The last so many votes are not repeated: they are too fresh in mind."""
_dice = secrets.SystemRandom()


def maybe_control(battle: Battle, instruction: str) -> None:
    """Maybe make this battle a control. The caller holds its lock, and it has no turn yet.

    One whose first turn was withdrawn, because the queue was down, may be a control already, for other words: it
    becomes an ordinary battle first. Raises NoContestants.
    """
    if battle.purpose != Purpose.RANK:
        _make_ordinary(battle)
    voter = battle.session.user_id
    if voter is None:
        return
    cast = dict(Vote.objects.filter(user_id=voter).order_by().values_list("purpose").annotate(Count("pk")))
    expected = 1 + sum(cast.values())
    if _due(settings.GOLD_SHARE * expected - cast.get(Purpose.GOLD, 0)) and _make_gold(battle, instruction):
        return
    if _due(settings.REPEAT_SHARE * expected - cast.get(Purpose.REPEAT, 0)):
        _make_repeat(battle, instruction, voter)


def _make_ordinary(battle: Battle) -> None:
    left, right = draw_pair(list(Policy.objects.contestants().playable()), written_chances())
    battle.repeats = None
    _change(battle, Purpose.RANK, left.id, right.id)


def _due(missing: float) -> bool:
    """Whether to make one now, when so many are missing to the share that is wanted: it evens out by itself."""
    return missing > 0 and _dice.random() < missing


def _make_gold(battle: Battle, instruction: str) -> bool:
    """Only where physics can say who was right: with an instruction of known goal."""
    if catalogue.task_for(instruction) is None:
        return False
    references = Policy.objects.filter(id__in=settings.GOLD_PAIR, reference=True, status=PolicyStatus.ACTIVE)
    pair = list(references.playable())
    if len(pair) != 2:
        return False
    _dice.shuffle(pair)
    _change(battle, Purpose.GOLD, pair[0].id, pair[1].id)
    return True


def _make_repeat(battle: Battle, instruction: str, voter: str) -> bool:
    earlier = _repeatable(battle, instruction, voter)
    if not earlier:
        return False
    chosen = _dice.choice(earlier)
    battle.repeats, battle.seed = chosen, chosen.seed
    _change(battle, Purpose.REPEAT, str(chosen.right_model_id), str(chosen.left_model_id))
    return True


def _repeatable(battle: Battle, instruction: str, voter: str) -> list[Battle]:
    """The voter's earlier battles of one turn with the same words in the same scene, between policies still drawn."""
    place = {"robot_id": battle.session.robot_id, "scene_id": battle.session.scene_id}
    votes = Vote.objects.filter(user_id=voter, purpose=Purpose.RANK, **place).order_by("-voted_at", "-pk")
    voted = votes.values("battle_id")[GAP:REMEMBERED]
    words = catalogue.normalise(instruction)
    turns = Turn.objects.filter(battle_id__in=voted).order_by().values_list("battle_id", "instruction")
    said: dict[str, list[str]] = {}
    for battle_id, text in turns:
        said.setdefault(str(battle_id), []).append(catalogue.normalise(text))
    same = [battle_id for battle_id, texts in said.items() if texts == [words]]
    drawn = Policy.objects.contestants().playable()
    candidates = Battle.objects.filter(battle_id__in=same, repeated_by=None)
    return list(candidates.filter(left_model__in=drawn, right_model__in=drawn))


def _change(battle: Battle, purpose: Purpose, left: str, right: str) -> None:
    battle.purpose, battle.left_model_id, battle.right_model_id = purpose, left, right
    battle.save(update_fields=["purpose", "left_model", "right_model", "repeats", "seed"])
