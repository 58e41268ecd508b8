"""Slots: what a task is about (a day, a time, an order number), and how their values are read out of spoken English.

Everything is a rule, so that the same transcript always gives the same values. A value has one canonical form: a time
is "16:00", a date "05-14", a weekday "thursday", a number "4", a code "A7429", a choice its name, a name its words in
lower case.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from voice.scenarios.numerals import in_digits

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
          "december")  # fmt: skip
DAYS_IN = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
MORNING_BEGINS = 8
"""A time without a.m. or p.m. is one between 8 in the morning and 8 in the evening."""
_AROUND = """a an the and i im id it its is my name this that thats yes no hi hello okay ok sure well um uh oh so please
    thanks thank you actually sorry speaking under would be for on me"""
NOT_NAMES = frozenset(_AROUND.split())
"""Words around a name, as `plain` gives them."""


def plain(text: str) -> str:
    """Lower case, letters, digits and single spaces alone."""
    return " ".join(re.findall(r"[a-z0-9]+", text.lower().replace("'", "").replace("’", "")))


def has_phrase(text: str, phrase: str) -> bool:
    """Whether the words of the phrase stand in the text, in order; case, signs and the form of numbers do not count."""
    return f" {_words(phrase)} " in f" {_words(text)} "


def _words(text: str) -> str:
    """In digits, with "4pm" as "4 pm", as recognisers write both."""
    return re.sub(r"(\d)([ap]m)\b", r"\1 \2", plain(in_digits(text)))


@dataclass(frozen=True)
class Slot(ABC):
    """One kind of value. `description` completes "Could you tell me ...?"."""

    description: str

    @abstractmethod
    def mentions(self, text: str) -> list[str]:
        """Every value in the text in canonical form, in order."""

    def answers(self, text: str) -> list[str]:
        """The same where the text is the answer to a question for this slot: then less has to be said around it."""
        return self.mentions(text)

    @abstractmethod
    def is_canonical(self, value: str) -> bool:
        """Whether a value has the form of this slot."""

    @property
    @abstractmethod
    def form(self) -> str:
        """What canonical values look like, for people."""

    def canonical(self, value: str) -> str:
        """The canonical form of a value that a program states, such as an argument of a call; else as it is."""
        said = str(value).strip()
        return said if self.is_canonical(said) else next(iter(self.answers(said)), said)

    def spoken(self, value: str) -> str:
        """A canonical value as people say it."""
        return value


class Weekday(Slot):
    form = "a weekday, such as thursday"

    def mentions(self, text: str) -> list[str]:
        return [word for word in plain(text).split() if word in WEEKDAYS]

    def is_canonical(self, value: str) -> bool:
        return value in WEEKDAYS

    def spoken(self, value: str) -> str:
        return value.title()


class Date(Slot):
    form = "month and day, such as 05-14"
    _AMERICAN = re.compile(rf"\b({'|'.join(MONTHS)}) (?:the )?(\d{{1,2}})(?:st|nd|rd|th)?\b")
    _BRITISH = re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? ({'|'.join(MONTHS)})\b")

    def mentions(self, text: str) -> list[str]:
        said = plain(in_digits(text))
        found = [(each.start(), each[1], each[2]) for each in self._AMERICAN.finditer(said)]
        found += [(each.start(), each[2], each[1]) for each in self._BRITISH.finditer(said)]
        dates = [f"{MONTHS.index(month) + 1:02}-{int(day):02}" for _, month, day in sorted(found)]
        return [date for date in dates if self.is_canonical(date)]

    def is_canonical(self, value: str) -> bool:
        parts = re.fullmatch(r"(\d\d)-(\d\d)", value)
        return bool(parts) and 1 <= int(value[:2]) <= 12 and 1 <= int(value[3:]) <= DAYS_IN[int(value[:2]) - 1]

    def spoken(self, value: str) -> str:
        return f"{MONTHS[int(value[:2]) - 1].title()} {int(value[3:])}"


class Time(Slot):
    form = "a time of 24 hours, such as 16:00"
    _SAID = re.compile(
        r"\b(?:(?P<part>half past|quarter past|quarter to) )?"
        r"(?P<hour>\d{1,2})(?:(?:[:.]| )(?P<minute>[0-5]\d))?"
        r" ?(?P<half>a\.? ?m\b\.?|p\.? ?m\b\.?|o'?clock(?: in the (?:morning|afternoon|evening))?"
        r"|in the (?:morning|afternoon|evening))?"
        r"|\b(?P<word>noon|midnight)\b",
    )

    def mentions(self, text: str) -> list[str]:
        return [time for each in self._SAID.finditer(in_digits(text.lower())) if (time := self._read(each, bare=False))]

    def answers(self, text: str) -> list[str]:
        return [time for each in self._SAID.finditer(in_digits(text.lower())) if (time := self._read(each, bare=True))]

    def _read(self, said: re.Match[str], bare: bool) -> str:
        """`bare`: whether a number alone is an hour."""
        if said["word"]:
            return "12:00" if said["word"] == "noon" else "00:00"
        hour, minute, half = int(said["hour"]), int(said["minute"] or 0), (said["half"] or "").replace(".", "")
        before = said.string[: said.start()].rstrip()
        if not (half or said["part"] or (said["minute"] and ":" in said[0]) or bare or re.search(r"\bat$", before)):
            return ""
        if said["part"]:
            minute = {"half past": 30, "quarter past": 15, "quarter to": -15}[said["part"]]
        if hour <= 12:
            hour = self._of_the_day(hour, half.replace(" ", ""))
        hour, minute = (hour, minute) if minute >= 0 else (hour - 1, minute + 60)
        time = f"{hour:02}:{minute:02}"
        return time if self.is_canonical(time) else ""

    @staticmethod
    def _of_the_day(hour: int, half: str) -> int:
        if half.startswith("a") or half.endswith("morning"):
            return hour % 12
        if half.startswith("p") or half.endswith(("afternoon", "evening")):
            return hour % 12 + 12
        return hour if hour >= MORNING_BEGINS else hour + 12

    def is_canonical(self, value: str) -> bool:
        return re.fullmatch(r"([01]\d|2[0-3]):[0-5]\d", value) is not None

    def spoken(self, value: str) -> str:
        hour, minute = int(value[:2]), int(value[3:])
        return f"{(hour - 1) % 12 + 1}{f':{minute:02}' if minute else ''} {'a.m.' if hour < 12 else 'p.m.'}"


@dataclass(frozen=True)
class Number(Slot):
    units: Sequence[str] = ()
    """Words that follow the number: people, nights."""

    @property
    def form(self) -> str:
        return "a whole number, such as 4"

    def mentions(self, text: str) -> list[str]:
        said = plain(in_digits(text))
        units = "|".join(plain(unit) for unit in self.units)
        return [str(int(number)) for number in re.findall(rf"\b(\d{{1,6}}) (?:{units})\b", said)] if units else []

    def answers(self, text: str) -> list[str]:
        return self.mentions(text) or [
            str(int(number)) for number in re.findall(r"\b\d{1,6}\b", plain(in_digits(text)))
        ]

    def is_canonical(self, value: str) -> bool:
        return value.isdecimal() and value == str(int(value))


@dataclass(frozen=True)
class Code(Slot):
    pattern: str = ""
    """A regular expression of capital letters and digits, such as [A-Z]\\d{4}."""

    @property
    def form(self) -> str:
        return f"a code like {self.pattern}"

    def mentions(self, text: str) -> list[str]:
        joined = re.sub(r"(?<=[A-Z0-9])[\s,.\-]+(?=(?:[A-Z]|\d+)(?![A-Z]))", "", self._loud(text))
        return re.findall(rf"(?<![0-9])(?:{self.pattern})(?![A-Z0-9])", joined)

    @staticmethod
    def _loud(text: str) -> str:
        """Letters that stand alone in capitals, words in small letters, numbers in digits: spelled codes stand out."""
        words = re.findall(r"[A-Za-z]+(?:['’][A-Za-z]+)?|\d+|[^A-Za-z\d]+", in_digits(text))
        return "".join(word.upper() if len(word) == 1 or word.isupper() else word.lower() for word in words)

    def is_canonical(self, value: str) -> bool:
        return re.fullmatch(self.pattern, value) is not None

    def spoken(self, value: str) -> str:
        return " ".join(value)


@dataclass(frozen=True)
class Choice(Slot):
    options: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Canonical value -> the ways to say it, itself included."""

    @property
    def form(self) -> str:
        return f"one of {', '.join(self.options)}"

    def mentions(self, text: str) -> list[str]:
        said = f" {plain(text)} "
        found = [
            (said.rfind(f" {plain(way)} "), value) for value, ways in self.options.items() for way in (value, *ways)
        ]
        return list(dict.fromkeys(value for at, value in sorted(found, key=lambda each: each[0]) if at >= 0))

    def is_canonical(self, value: str) -> bool:
        return value in self.options


class Name(Slot):
    form = "a name in small letters, such as jordan miller"

    def mentions(self, text: str) -> list[str]:
        found = [each[1] for each in re.finditer(self._cue(), text)]
        return [name for each in found if (name := self._cleaned(each))]

    @classmethod
    def _cue(cls) -> str:
        return r"(?i:\b(?:name is|name's|this is|i am|i'm|under))\s+((?:[A-Z][\w'’-]*[\s.]*){1,3})"

    def answers(self, text: str) -> list[str]:
        return self.mentions(text) or [name for part in re.split(r"[.,!?]", text) if (name := self._capitals(part))]

    def _capitals(self, part: str) -> str:
        """The capitalised words of a short answer."""
        words = re.findall(r"[A-Z][\w'’-]+", part)
        return self._cleaned(" ".join(words)) if 1 <= len(words) <= 4 else ""

    @staticmethod
    def _cleaned(words: str) -> str:
        return " ".join(word for word in plain(words).split() if word not in NOT_NAMES and word not in WEEKDAYS)

    def is_canonical(self, value: str) -> bool:
        return bool(value) and plain(value) == value

    def canonical(self, value: str) -> str:
        return plain(str(value))

    def spoken(self, value: str) -> str:
        return value.title()


KINDS: Mapping[str, type[Slot]] = {
    "weekday": Weekday, "date": Date, "time": Time, "number": Number, "code": Code, "choice": Choice, "name": Name,
}  # fmt: skip
