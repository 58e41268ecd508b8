"""What a sentence asks for: tolerant of case, articles, politeness, spelling variants and slips, and of nothing else.

A sentence means a task only if each of its words has a place in one of the task's patterns. One word more ("don't",
"without", "twice", "slowly") and it is free text, because nothing here can tell what that word changes.
"""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from simulation.catalogue_rows import CatalogueError

FILLER = frozenset({"the", "a", "an", "please"})
SENTENCE = re.compile(r"""[a-z0-9\s.,;:!?'"‘’“”…()-]*""")  # what `normalise` reads, and what it may leave out
CHOICE = re.compile(r"\(([^()\[\]]*)\)|\[([^()\[\]]*)\]")
TOKEN = re.compile(r"\{\w+\}|[a-z0-9]+")
THING = "*"
SHORTEST_SLIP = 5  # letters of a word in which a slip is mended
MOST_FORMS = 500  # of one pattern
Tokens = tuple[str, ...]
Meaning = tuple[str, dict[str, str]]


@dataclass(frozen=True)
class Words:
    """`openings` and `closings` are said around a sentence and mean nothing. `same`: wordings -> the usual wording.
    `near`: words in which one wrong letter is mended -> the other words of the language that are as near to them.
    """

    openings: Sequence[str] = ()
    closings: Sequence[str] = ()
    same: Mapping[str, str] = field(default_factory=dict)
    near: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Pattern:
    """Sentences of a task: "(put|place) {object} [down] on {target}". `spoken`: slots that stand for words and not for
    things, as slot -> value -> its wordings. `fillings`: those that make a task.
    """

    text: str
    task_id: str
    fillings: Sequence[Mapping[str, str]]
    spoken: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)


@dataclass(frozen=True)
class _Form:
    """One way to say a task. `slots`: those of its things, in the order of the sentence; `fixed`: the other ones."""

    task_id: str
    slots: Tokens
    fixed: Mapping[str, str]
    fillings: frozenset[frozenset[tuple[str, str]]]

    def filled(self, things: Sequence[str]) -> Meaning | None:
        found = dict(self.fixed)
        for slot, thing in zip(self.slots, things, strict=True):
            if found.setdefault(slot, thing) != thing:
                return None
        return (self.task_id, found) if frozenset(found.items()) in self.fillings else None


class Matcher:
    """Reads the sentences of one scene. `nouns`: thing -> what it is called."""

    def __init__(self, words: Words, nouns: Mapping[str, Sequence[str]], patterns: Iterable[Pattern]) -> None:
        self._same = {_tokens(said): _tokens(meant) for said, meant in words.same.items()}
        self._openings = {_tokens(text): () for text in words.openings}
        self._closings = {_tokens(text): () for text in words.closings}
        self._nouns = self._named(nouns)
        self._forms: dict[Tokens, list[_Form]] = defaultdict(list)
        for pattern in patterns:
            for tokens, form in _forms(pattern):
                self._forms[_replaced(tokens, self._same)].append(form)
        known = itertools.chain(self._forms, self._nouns, self._same, self._openings, self._closings)
        self._known = frozenset(word for tokens in known for word in tokens)
        self._mendable = [word for word in words.near if word in self._known]
        self._others = frozenset(other for word in self._mendable for other in words.near[word])
        self.meaning = lru_cache(maxsize=20_000)(self._meaning)

    @property
    def known(self) -> frozenset[str]:
        """Every word that a sentence may have."""
        return self._known

    def _meaning(self, sentence: str) -> Meaning | None:
        """Task and slots, or None for free text."""
        if not SENTENCE.fullmatch(sentence.casefold()):
            return None
        tokens = tuple(self._mended(word) for word in normalise(sentence).split())
        tokens = _replaced(self._without_manners(tokens), self._same)
        named = _replaced(tokens, self._nouns)
        things = [token[1:] for token in named if token.startswith(THING)]
        key = tuple(THING if token.startswith(THING) else token for token in named)
        found = [meaning for form in self._forms.get(key, ()) if (meaning := form.filled(things))]
        return found[0] if found and all(each == found[0] for each in found) else None

    def _named(self, nouns: Mapping[str, Sequence[str]]) -> dict[Tokens, Tokens]:
        """Words of a thing -> its name with a mark before it."""
        found: dict[Tokens, Tokens] = {}
        for thing, texts in nouns.items():
            for text in texts:
                tokens, name = _replaced(_tokens(text), self._same), (f"{THING}{thing}",)
                if found.setdefault(tokens, name) != name:
                    raise CatalogueError(f'"{text}" means both {thing} and {found[tokens][0][1:]}')
        return found

    def _without_manners(self, tokens: Tokens) -> Tokens:
        while opening := next((each for each in self._openings if each and tokens[: len(each)] == each), None):
            tokens = tokens[len(opening) :]
        while closing := next((each for each in self._closings if each and tokens[-len(each) :] == each), None):
            tokens = tokens[: -len(closing)]
        return tokens

    def _mended(self, word: str) -> str:
        """The known word that was meant, if there is no doubt; else the word itself."""
        if word in self._known or word in self._others or len(word) < SHORTEST_SLIP:
            return word
        meant = [known for known in self._mendable if one_slip(word, known)]
        return meant[0] if len(meant) == 1 else word


def normalise(instruction: str) -> str:
    """Lower case, words only, without articles and "please": "Pick up THE red  cube!" -> "pick up red cube"."""
    return " ".join(word for word in re.findall(r"[a-z0-9]+", instruction.casefold()) if word not in FILLER)


def usual(text: str, words: Words) -> Tokens:
    """The words of a sentence or of a pattern's form, without articles, each wording replaced by the usual one."""
    return _replaced(_tokens(text), {_tokens(said): _tokens(meant) for said, meant in words.same.items()})


def one_slip(word: str, meant: str) -> bool:
    """Whether one letter is missing, too many, wrong, or has changed places with its neighbour."""
    if abs(len(word) - len(meant)) > 1 or word == meant:
        return False
    start = next((i for i, (a, b) in enumerate(zip(word, meant, strict=False)) if a != b), min(len(word), len(meant)))
    rest, other = word[start:], meant[start:]
    swapped = rest[:2] == other[1::-1] and rest[2:] == other[2:] if len(rest) > 1 < len(other) else False
    return swapped or rest[1:] == other[1:] or rest[1:] == other or rest == other[1:]


def expanded(text: str) -> list[str]:
    """Every form of a pattern with choices "(on|onto)" and words "[down]" that may be left out."""
    found = CHOICE.search(text)
    if not found:
        return [text]
    options = found[1].split("|") if found[1] is not None else ["", *found[2].split("|")]
    forms = [form for each in options for form in expanded(text[: found.start()] + each + text[found.end() :])]
    if len(forms) > MOST_FORMS:
        raise CatalogueError(f"{text!r}: more than {MOST_FORMS} forms")
    return forms


def slots_of(text: str) -> set[str]:
    return {token[1:-1] for token in TOKEN.findall(text) if token.startswith("{")}


def _forms(pattern: Pattern) -> Iterator[tuple[Tokens, _Form]]:
    fillings = frozenset(frozenset(filling.items()) for filling in pattern.fillings)
    names = sorted(pattern.spoken)
    wordings = [[(value, each) for value, texts in pattern.spoken[name].items() for each in texts] for name in names]
    for text in expanded(pattern.text):
        for chosen in itertools.product(*wordings):
            spoken = text
            for name, (_, said) in zip(names, chosen, strict=True):
                spoken = spoken.replace(f"{{{name}}}", said)
            tokens = _tokens(spoken)
            slots = tuple(token[1:-1] for token in tokens if token.startswith("{"))
            fixed = {name: value for name, (value, _) in zip(names, chosen, strict=True)}
            key = tuple(THING if token.startswith("{") else token for token in tokens)
            yield key, _Form(pattern.task_id, slots, fixed, fillings)


def _tokens(text: str) -> Tokens:
    return tuple(token for token in TOKEN.findall(text.casefold()) if token not in FILLER)


def _replaced(tokens: Tokens, table: Mapping[Tokens, Tokens]) -> Tokens:
    """Every wording in the table replaced, the longest first, from left to right."""
    longest = max(map(len, table), default=0)
    found: list[str] = []
    start = 0
    while start < len(tokens):
        for length in range(min(longest, len(tokens) - start), 0, -1):
            if (meant := table.get(tokens[start : start + length])) is not None:
                found += meant
                start += length
                break
        else:
            found.append(tokens[start])
            start += 1
    return tuple(found)
