"""Which two policies, at what task, on what robot: asked by the page and the API alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from drf_spectacular.utils import OpenApiParameter

from arena import kinds
from arena.errors import ArenaError, UnknownName
from arena.kinds import Place
from rankings.analysis.comparison import PairEvidence
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
        setting = names_in(parameters).setting
        return cls(*(parameters.get(name, "") for name in ("a", "b", "task", setting, "kind")))

    def check(self, now: Current) -> None:
        """Raise UnknownName for a contestant, a task or a setting that does not exist, and SameModel."""
        known = {
            "model": ((self.a, self.b), set(now.names)),
            "task": ((self.task,) if self.task else (), set(now.kind.tasks())),
            now.kind.words.setting: ((self.setting,) if self.setting else (), set(now.kind.places())),
        }
        for word, (asked, names) in known.items():
            if not set(asked) <= names:
                raise UnknownName(word, names)
        if self.a == self.b:
            raise SameModel


def names_in(parameters: Mapping[str, str]) -> Place:
    """What an address calls setting and scene: as the kind that it names does, if there is one of that name."""
    try:
        return kinds.named(parameters.get("kind")).names
    except UnknownName:
        return kinds.default().names


def evidence(published: Published) -> PairEvidence:
    """Nothing before the first publication, or where it was written before there was any."""
    content = published.content
    if content is None or "by_task" not in content:
        return PairEvidence({}, {}, content["physics"] if content else {})
    return PairEvidence(content["settled"], content["by_task"], content["physics"])
