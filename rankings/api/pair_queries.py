"""Which two policies, at what task, on what robot: asked by the page and the API alike."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from arena import kinds
from arena.errors import ArenaError, UnknownName
from rankings.analysis.comparison import PairEvidence
from rankings.publication.published import Published


class SameModel(ArenaError):
    status, code, detail = 422, "same_model", "A model is not compared with itself: name two different ones."


@dataclass(frozen=True)
class PairQuery:
    """Empty `task` and `robot_id`: all of them. Names are checked by `check`."""

    a: str
    b: str
    task: str = ""
    robot_id: str = ""

    @classmethod
    def of(cls, parameters: Mapping[str, str]) -> PairQuery:
        """From the parameters of an address; those that it lacks are empty."""
        return cls(*(parameters.get(name, "") for name in ("a", "b", "task", "robot_id")))

    def check(self, models: Collection[str]) -> None:
        """Raise UnknownName for a policy, a task or a robot that does not exist, and SameModel."""
        known = {
            "model": ((self.a, self.b), models),
            "task": ((self.task,) if self.task else (), set(kinds.default().tasks())),
            "robot": ((self.robot_id,) if self.robot_id else (), set(kinds.default().places())),
        }
        for kind, (asked, names) in known.items():
            if not set(asked) <= set(names):
                raise UnknownName(kind, names)
        if self.a == self.b:
            raise SameModel


def evidence(published: Published) -> PairEvidence:
    """Nothing before the first publication, or where it was written before there was any."""
    content = published.content
    if content is None or "by_task" not in content:
        return PairEvidence({}, {}, content["physics"] if content else {})
    return PairEvidence(content["settled"], content["by_task"], content["physics"])
