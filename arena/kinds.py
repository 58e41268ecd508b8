"""The kinds of arena. The core knows contestants only by what their kind answers here.

A kind is an app that registers one `Kind` in `AppConfig.ready`. CONTRIBUTING says how to add one.
"""

from __future__ import annotations

import secrets
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

from django.conf import settings
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy

from arena.errors import OtherKind, UnknownName
from arena.instructions import clean_instruction
from arena.models import Attempt, AttemptQuerySet, Battle, Contestant, ContestantQuerySet, Purpose, Session, Turn
from arena.shapes import GoalJson, JudgeAgreement

if TYPE_CHECKING:
    from arena.queue.hosting import Hosts

Json = dict[str, Any]
ANY = "any"
"""In place of a setting or a scene: chance chooses."""
_dice = secrets.SystemRandom()


class Place(NamedTuple):
    """Where a session is held, in its kind's terms (robots: robot and scene)."""

    setting: str
    scene: str


class KnownTask(NamedTuple):
    """What people call a task, lazily translated, and the scene that it belongs to; "": to all."""

    name: Any
    scene: str = ""


@dataclass(frozen=True)
class CalibrationBattle:
    """The columns of a battle that calibrates its voter. `seed`: of the first state of both sides; `secret`: of what
    both see; `repeats_id`: the voter's earlier battle."""

    purpose: str
    left_model_id: str
    right_model_id: str
    seed: int
    secret: str
    repeats_id: str

    @classmethod
    def repeat(cls, earlier: Any, battle: Battle, hosts: Hosts, start: Any) -> Self | None:
        """`battle` as the repeat of an earlier one: its pair with the sides swapped, seed and secret those of `start`.

        None unless workers can play that pair and it shares a contestant with the one drawn for `battle`.
        """
        pair = {earlier.left_model_id, earlier.right_model_id}
        if not pair <= hosts.contestants or pair.isdisjoint({battle.left_model_id, battle.right_model_id}):
            return None
        left, right = earlier.right_model_id, earlier.left_model_id
        return cls(Purpose.REPEAT.value, left, right, start.seed, start.secret, earlier.battle_id)


class Look(NamedTuple):
    """How the sides of a voted battle look, for ratings controlled for it. `measures` are as in `Kind.measures`."""

    vote: int
    """Its primary key."""
    groups: Mapping[str, str]
    """By each of `Kind.groups`; "" where the battle is in none."""
    left: Sequence[float]
    right: Sequence[float]


class Kind(ABC):
    """What the core needs of a kind. Nothing that visitors see before the vote may depend on who plays."""

    id: ClassVar[str]
    """A word of at most 20 characters; stands in the database and in addresses."""
    title: ClassVar[Any] = ""
    """What people call the kind, lazily translated; its id where there is none."""
    names: ClassVar[Place] = Place("setting", "scene")
    """What the API calls the two parts of a place: keys of its JSON. Refusals name them without `_id`."""
    reasons: ClassVar[Mapping[str, Any]] = {}
    """The respects in which a vote may say that a side was better: their keys in the API -> what the page calls them
    (a string, lazily translated)."""
    measures: ClassVar[Mapping[str, Any]] = {}
    """What votes may lean to in the looks of a side, at least 0: its name -> what having twice as much of it is called
    (a string, lazily translated). The first is the length. Empty: the kind has no controlled ratings."""
    groups: ClassVar[Mapping[str, Any]] = {}
    """Dimensions by which controlled ratings are told apart, such as the language of an instruction -> what the page
    calls it (lazily translated)."""
    divided_by: ClassVar[str] = ""
    """The fact of a contestant (`facts`) by which it is in a division: those of one have boards of their own, of the
    votes between them. Also what the API calls it. "": there are no divisions."""
    divisions: ClassVar[Mapping[str, Any]] = {}
    """Every division, a value of that fact -> what the page calls it (lazily translated)."""
    divisions_title: ClassVar[Any] = ""
    """What the page calls the choice of one (lazily translated)."""
    details: ClassVar[tuple[str, ...]] = ()
    """Names of the one-to-one relations from `Attempt` to what the kind keeps of it; read with every turn."""
    claimed_with: ClassVar[tuple[str, ...]] = ()
    """Relations from `Attempt` that playing it needs, read when it is claimed."""
    introduced_with: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """Relations from `Contestant` -> the columns that introducing it needs, read with the vote."""
    inconclusive: ClassVar[tuple[str, ...]] = ()
    """Termination reasons of completed attempts whose verdict says nothing about the contestant."""
    played_here: ClassVar[bool] = False
    """Whether the process that sends an attempt plays it, on a thread of its own; else a worker does, of which
    `hosted` then tells."""
    most_words: ClassVar[int | None] = None
    """The most words that an instruction may have, so that every contestant of the kind can read all of them. None:
    only its characters are bounded, by `longest_instruction`."""
    waits: ClassVar[bool] = False
    """Whether playing is mostly waiting for servers, so that threads of one worker play many attempts side by side. An
    arena that starts its own workers gives such kinds one of their own."""
    counted_as: ClassVar[str] = ""
    """The entry of settings.RATE_LIMITS under which its instructions are counted, beside "turns"."""
    several_starts: ClassVar[bool] = False
    """Whether an instruction can be played from several first states, each made from a seed."""
    forks: ClassVar[bool] = False
    """Whether a battle can be forked after its vote. The kind has the call for it."""
    drawings: ClassVar[Mapping[str, str]] = {}
    """What the drawing worker can draw of a recorded attempt: file name -> media type. `picture.webp` is a still of its
    end, `strip.webp` its key moments in a row, `video.mp4` the whole of it."""
    look: ClassVar[str] = ""
    """The version of how it draws: drawings of another one are drawn again."""
    chooser: ClassVar[Mapping[str, Any]] = {
        "change": gettext_lazy("Change scene"),
        "settings": gettext_lazy("Robots"),
        "scenes": gettext_lazy("Scenes"),
    }
    """What the page calls the choice of a place, and the lists of settings and of scenes (lazily translated)."""
    figures: ClassVar[str] = ""
    """The name of the URL of a page with figures of the literature, to which the boards link; empty: there is none."""
    template: ClassVar[str]
    """Its path among templates. It extends `arena/battle.html` and fills the blocks."""
    features: ClassVar[tuple[str, ...]] = ()
    """Features of the browser that its page uses and other pages may not, such as "microphone" (Permissions-Policy)."""
    address: ClassVar[str]
    """The path of the battle page, without slashes at its ends; also the name of its URL."""

    # Places and contestants.

    @property
    def offered(self) -> bool:
        """Whether the site offers it: battles can be opened, and workers play them. What was played before stays."""
        return True

    def titles(self) -> Mapping[str, str]:
        """Every setting and scene -> what people call it. A setting and a scene of one name share its title."""
        return {name: name for setting, scenes in self.places().items() for name in (setting, *scenes)}

    @abstractmethod
    def places(self) -> Mapping[str, Sequence[str]]:
        """Every setting -> its scenes, of those that visitors may choose. The first of each is the default."""

    def known_places(self) -> Mapping[str, Sequence[str]]:
        """The same with those that visitors may not choose now: votes may be of them."""
        return self.places()

    def picture_of(self, place: Place) -> str:
        """A small picture of a place, a static file; "" where there is none, as of a place that chance chooses."""
        return ""

    @abstractmethod
    def eligible(self, place: Place) -> ContestantQuerySet[Any]:
        """Contestants that may be drawn for a battle there: active ones, two at least."""

    def contestants(self) -> ContestantQuerySet[Any]:
        """All registered contestants of this kind, with the kind's own columns."""
        return Contestant.objects.filter(kind=self.id)

    def facts(self, contestant: Contestant) -> Json:
        """What boards show of one of `contestants` beside its name and votes."""
        return {}

    def judge(self) -> JudgeAgreement | None:
        """How a judge that is no person agrees with people on the battles that count; None: the kind has no judge.
        Asked when boards are published."""
        return None

    def members(self) -> dict[str, set[str]]:
        """Every division with contestants -> their ids."""
        found: dict[str, set[str]] = {}
        for contestant in self.contestants() if self.divided_by else ():
            found.setdefault(self.facts(contestant)[self.divided_by], set()).add(contestant.pk)
        return {division: found[division] for division in self.divisions if division in found}

    def introduce(self, contestant: Contestant) -> Json:
        """What visitors learn of it with the vote, beside its name: names and plain values, which the kind's script
        reads. `introduced_with` is loaded. Never asked before a battle's vote."""
        return {}

    def pool(self, place: Place) -> str:
        """A name for the contestants that may meet there. Pair chances are stored by pool."""
        return "/".join((self.id, *place))

    def contestant_address(self, model_id: str) -> str | None:
        """The address of a contestant's page."""
        return None

    # Instructions.

    @property
    def longest_instruction(self) -> int:
        """The most characters of an instruction."""
        return int(settings.INSTRUCTION_MAX_LENGTH)

    @property
    def most_turns(self) -> int | None:
        """The most turns of a battle; None: any number."""
        return None

    def task_of(self, instruction: str, scene: str) -> str:
        """The task that an instruction is about in a scene, for boards by task. "" if it is unknown. Boards are counted
        again from old votes, so it must not depend on which scenes are offered now."""
        return ""

    def is_own_words(self, instruction: str, scene: str) -> bool:
        """Whether an instruction, or what was played of it (`text` in the store), has words of the visitor's own, which
        go with the rest of a visitor's data. Sentences about a task are nobody's."""
        return not self.task_of(instruction, scene)

    def tasks(self) -> Mapping[str, str]:
        """Every task that visitors may set -> its name."""
        return {}

    def known_tasks(self) -> Mapping[str, KnownTask]:
        """The same with those that visitors may not set now: votes may be about them."""
        return {task: KnownTask(name) for task, name in self.tasks().items()}

    def goal_of(self, instruction: str, scene: str, said_at: datetime | None = None) -> GoalJson | None:
        """What the outcome of an instruction is judged by, for people to read before and after the vote: it must depend
        on nothing else than when it was given (None: now). None: nothing judges it."""
        return None

    def clean_instruction(self, said: Any) -> str:
        """A visitor's instruction as contestants get it. Raises InvalidInstruction."""
        return clean_instruction(said, self.most_words, self.longest_instruction)

    def looks(self) -> Iterable[Look]:
        """How the sides of voted battles look, at most once per vote. Battles without measures are left out."""
        return ()

    def title_of(self, dimension: str, group: str) -> str:
        """What people call a group of one of `groups`."""
        return group

    def check_instruction(self, battle: Battle, instruction: str, starts: int) -> None:
        """Raises an ArenaError, which people read, for an instruction that makes no sense in this battle. It must
        depend on nothing but what both sides share. `starts`: from how many first states it would be played."""
        return

    def calibration(self, battle: Battle, instruction: str, hosts: Hosts) -> CalibrationBattle | None:
        """The calibration battle that this battle becomes with its first instruction, or None. It has the battle's own
        seed, whose first state the visitor has seen."""
        return None

    # Opening.

    def seed_shown_again(self, session: Session) -> int | None:
        """The seed of an earlier battle of the visitor's, if the session's next battle is to begin like it; else None.
        It must not depend on contestants: what a battle begins with is seen before the first instruction."""
        return None

    def tend(self) -> None:
        """Called in every worker several times a second, beside what it plays: for what visitors wait for. Has to be
        quick when there is nothing to do. What is raised is logged."""
        return

    # Playing.

    @abstractmethod
    def play(self, episode_id: str) -> None:
        """Play a queued attempt to its end and settle it. A second or a late call does nothing: the attempt cannot be
        claimed again. What is raised after the claim fails the attempt; before it, the attempt is sent once more."""

    def load_for_parts(self) -> None:
        """Called in the process from which the parts of an arena are forked: load what several parts need, so that
        they share the memory. Nothing may be left running or connected."""
        return

    def load_libraries(self) -> None:
        """Called in a worker before it forks, so that its processes share the memory."""
        return

    def share(self, contestants: Sequence[Contestant]) -> None:
        """Called once in a worker that forks, before it does, with those that its processes will open: what is opened
        here they share. Nothing may be left running or connected. What is raised is logged, and stops nothing."""
        return

    def render_profile(self) -> str:
        """What renders in this worker's processes, if that makes a difference. May take seconds."""
        return ""

    def prepare(self) -> None:
        """Open what a worker process needs, before its first attempt."""
        return

    def hosted(self) -> Iterable[Contestant]:
        """All that workers can play. Status does not matter, because running battles go on."""
        return ()

    # Showing.

    @property
    @abstractmethod
    def chunk_s(self) -> float:
        """Wall clock seconds from one shown chunk to the next."""

    @property
    @abstractmethod
    def longest(self) -> int:
        """The most chunks that an attempt may have after its first one; the highest number of a chunk."""

    def longest_of(self, instruction: str, scene: str, said_at: datetime | None = None) -> int:
        """The same for an instruction that was given then (None: now): at most `longest`, alike for all contestants."""
        return self.longest

    @abstractmethod
    def stand_in(self, known: bytes, known_number: int, number: int) -> bytes:
        """In place of chunk `number`, which was lost or will not come: made of the nearest one that is known, which has
        `known_number`. A side that has ended is shown by these until the other has ended."""

    @abstractmethod
    def frames(self, first: int, left: Sequence[bytes], right: Sequence[bytes]) -> Json:
        """The chunks of both sides from number `first` on, as many of each, as JSON: what a message `rollout.frames`
        tells beside its type and turn. `left` and `right` have one length, whoever plays."""

    def outcome(self, attempt: Attempt) -> Json:
        """What visitors see of a settled attempt after the vote."""
        return {
            "success": attempt.success,
            "progress": attempt.progress,
            "termination_reason": attempt.termination_reason,
            "steps": attempt.length,
            "duration_ms": attempt.duration_ms,
        }

    @abstractmethod
    def recording(self, attempt: Attempt, document: Json, common_length: int, exact: bool) -> Json:
        """What `GET episodes/{id}` tells of a completed attempt, from its `document` in the store.

        `exact`, after the vote: all of it. Before: what could be seen, in as many chunks for either side: the first and
        `common_length` more, the length of the longer side. The JSON has `exact` itself and `outcome`, null before.
        """

    def thumbnail(self, episode_id: str) -> str | None:
        """The address of a picture of a recorded attempt for lists; None where the kind draws none."""
        return f"/api/episodes/{episode_id}/strip.webp" if "strip.webp" in self.drawings else None

    def still(self, episode_id: str) -> str | None:
        """The same of a picture of its end."""
        return f"/api/episodes/{episode_id}/picture.webp" if "picture.webp" in self.drawings else None

    def draw(self, name: str, document: Json) -> bytes:
        """One of `drawings` of the recording in `document`. On the drawing worker."""
        raise NotImplementedError(f"{self.id} has nothing to draw")

    # What operators want to know.

    def spent(self, attempts: QuerySet[Attempt]) -> Mapping[str, dict[str, float | None]]:
        """Of each contestant, what these attempts took beside their time: a figure by its name, such as a cost."""
        return {}

    # What its page needs.

    def page_context(self, place: Place) -> Json:
        """For the template, beside `kind`. `suggestions`, if any, are instructions to choose from. `categories`, if
        any, have more of them: each has a `name`, a `description` and `suggestions`, and is `free` if these have no
        verdict."""
        return {}

    def sources(self, host: str) -> Mapping[str, list[str]]:
        """What the page may load beside the site's own: a directive of its Content-Security-Policy -> the sources.
        `host`: that of the request, without its port."""
        return {}

    def forget(self, episode_ids: Collection[str]) -> None:
        """Delete what the kind keeps of expired recordings outside the episode store. Some may be of other kinds, or
        deleted before."""
        return

    def expire(self, since: datetime | None) -> None:
        """Delete what the kind keeps outside of attempts of battles without a vote that were not touched `since` then
        (None: such battles are kept), and what its own rules let expire. May be interrupted and repeated."""
        return

    # Derived from the above.

    def choose(self, wanted: Any) -> Place:
        """The place that a request names, by the kind's names of its parts. ANY for a part lets chance choose it, among
        places with two contestants where there are any. Raises UnknownName."""
        places = self.places()
        setting = wanted.get(self.names.setting, self._setting_with(wanted.get(self.names.scene)))
        if not isinstance(setting, str) or setting not in (*places, ANY):
            raise UnknownName(self.words.setting, (*places, ANY))
        scenes = self._scenes_of(setting)
        scene = wanted.get(self.names.scene, ANY if setting == ANY else scenes[0])
        if not isinstance(scene, str) or scene not in (*scenes, ANY):
            raise UnknownName(self.words.scene, (*self._scenes_of(wanted.get(self.names.setting, ANY)), ANY))
        return self._drawn(setting, scene) if ANY in (setting, scene) else Place(setting, scene)

    def _scenes_of(self, setting: str) -> list[str]:
        """Those of a setting, or of all with ANY."""
        places = self.places()
        return list(dict.fromkeys(each for name in places if setting in (name, ANY) for each in places[name]))

    def _setting_with(self, scene: Any) -> str:
        """The first setting that has the scene, or the first of all."""
        places = self.places()
        return next((name for name in places if scene in places[name]), next(iter(places)))

    def _drawn(self, setting: str, scene: str) -> Place:
        """One of the places that this may stand for."""
        places = self.places()
        found = [Place(name, each) for name in places if setting in (name, ANY) for each in places[name]]
        found = [place for place in found if scene in (place.scene, ANY)]
        _dice.shuffle(found)
        return next((place for place in found if self.eligible(place).count() > 1), found[0])

    @property
    def called(self) -> Any:
        """What people call the kind."""
        return self.title or self.id

    @property
    def words(self) -> Place:
        """The two parts of a place in words for people."""
        return Place(*(name.removesuffix("_id") for name in self.names))

    def place_json(self, place: Place) -> Any:
        """The place as the API shows it."""
        return {self.names.setting: place.setting, self.names.scene: place.scene}


_known: dict[str, Kind] = {}


def register(kind: Kind) -> None:
    """Enter a kind, from `AppConfig.ready`. The same one again changes nothing. Raises ValueError for one that lacks a
    name, or has that of another."""
    for name in ("id", "address", "template"):
        if not getattr(kind, name, ""):
            raise ValueError(f"{type(kind).__qualname__} needs {name!r}, a string: see arena.kinds.Kind.{name}")
    for other in every():
        for name in ("id", "address"):
            mine = getattr(kind, name)
            if mine == getattr(other, name) and type(other) is not type(kind):
                known = ", ".join(getattr(each, name) for each in every())
                raise ValueError(f"there is a kind with the {name} {mine!r} already, {other!r}; taken: {known}")
    _known.setdefault(kind.id, kind)
    AttemptQuerySet.details = {each.id: each.details for each in every()}


def get(kind_id: str) -> Kind:
    """The kind with this id. Raises UnknownName."""
    if kind_id not in _known:
        raise UnknownName("kind", _known)
    return _known[kind_id]


def of(held: Session | Turn) -> Kind:
    """The kind of a session, or of a turn with battle and session loaded."""
    return get(held.battle.session.kind if isinstance(held, Turn) else held.kind)


def check(held: Session | Turn, kind_id: str) -> None:
    """Raises OtherKind unless it is of this kind, for calls that only this kind has."""
    if of(held).id != kind_id:
        raise OtherKind(of(held).id, kind_id)


def every() -> list[Kind]:
    """All kinds, in the order of registration."""
    return list(_known.values())


def offered() -> list[Kind]:
    """Those of which battles can be opened here."""
    return [kind for kind in every() if kind.offered]


def get_offered(kind_id: str) -> Kind:
    """The kind with this id, if battles of it can be opened. Raises UnknownName."""
    known = {kind.id: kind for kind in offered()}
    if kind_id not in known:
        raise UnknownName("kind", known)
    return known[kind_id]


def named(kind_id: str | None) -> Kind:
    """The kind with this id, or the default one. Raises UnknownName."""
    return get(kind_id) if kind_id else default()


def default() -> Kind:
    """The kind that settings.DEFAULT_KIND names, else the first."""
    return _known.get(settings.DEFAULT_KIND) or every()[0]


def longest_of(turn: Turn) -> int:
    """The most chunks of a side of this turn, whoever plays."""
    return of(turn).longest_of(turn.instruction, turn.battle.session.scene, turn.created_at)


def place_of(session: Session) -> Place:
    return Place(session.setting, session.scene)
