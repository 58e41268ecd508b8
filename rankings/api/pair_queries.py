"""The choice of two policies, a task and a setting, for the page and the API."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from drf_spectacular.utils import OpenApiParameter

from arena import kinds
from arena.errors import ArenaError, UnknownName
from rankings.analysis.comparison import PairEvidence
from rankings.api import choices
from rankings.publication.published import Current, Published

KIND = OpenApiParameter(
    "kind", str, description="A kind of arena; without it the default one. Each has names of its own for its places."
)


class SameModel(ArenaError):
    status, code, detail = 422, "same_model", "A model is not compared with itself: name two different ones."


@dataclass(frozen=True)
class PairQuery:
    """Empty `task` and `setting`: all of them; empty `kind`: the default one. Names are checked by `check`.

    In an address `setting` has the name that the kind gives it.
    """

    a: str
    b: str
    task: str = ""
    setting: str = ""
    kind: str = ""

    @classmethod
    def of(cls, parameters: Mapping[str, str]) -> PairQuery:
        """From the parameters of an address; those that it lacks are empty."""
        setting = called_in(parameters)["setting"]
        return cls(*(parameters.get(name, "") for name in ("a", "b", "task", setting, "kind")))

    def check(self, now: Current) -> None:
        """Raise UnknownName for a contestant, a task or a setting that does not exist, and SameModel."""
        if not {self.a, self.b} <= now.names.keys():
            raise UnknownName("model", now.names)
        check_names(
            ("task", self.task, choices.tasks_of(now.kind, now.published)),
            (now.kind.words.setting, self.setting, choices.settings_of(now.kind, now.published)),
        )
        if self.a == self.b:
            raise SameModel


def check_names(*choices: tuple[str, str, Collection[str]]) -> None:
    """Of (what it is, name, known names): raise UnknownName for the first name that is neither known nor empty."""
    for word, name, known in choices:
        if name and name not in known:
            raise UnknownName(word, known)


def called_in(parameters: Mapping[str, str]) -> dict[str, str]:
    """What the kind that an address names calls setting, scene and division; the default kind where it names none that
    exists. Without divisions that word is unknown."""
    try:
        kind = kinds.named(parameters.get("kind"))
    except UnknownName:
        kind = kinds.default()
    return {**kind.names._asdict(), "division": kind.divided_by}


def evidence(published: Published) -> PairEvidence:
    """Empty before the first publication, and of one that an earlier release wrote."""
    content = published.content
    if content is None or "by_task" not in content:
        return PairEvidence({}, {}, content["physics"] if content else {})
    return PairEvidence(content["settled"], content["by_task"], content["physics"])
