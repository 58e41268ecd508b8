"""Values are read out of spoken English, as recognisers write it."""

from __future__ import annotations

import pytest

from voice.scenarios.numerals import in_digits
from voice.scenarios.slots import Choice, Code, Date, Name, Number, Slot, Time, Weekday, has_phrase

ORDER = Code("your order", pattern=r"[A-Z]\d{4}")
CARD = Code("your card", pattern=r"\d{4}")
PEOPLE = Number("how many", units=("people", "guests"))
DIET = Choice("a diet", options={"nut allergy": ("nuts",), "none": ("no allergies",)})


@pytest.mark.parametrize(
    ("slot", "said", "values"),
    [
        (Time("t"), "I would like to come at 4 p.m. on Thursday.", ["16:00"]),
        (Time("t"), "at 4pm, please", ["16:00"]),
        (Time("t"), "half past seven in the evening", ["19:30"]),
        (Time("t"), "quarter to eight p.m.", ["19:45"]),
        (Time("t"), "at four thirty", ["16:30"]),
        (Time("t"), "7:30 is fine", ["19:30"]),
        (Time("t"), "at 9 a.m. and not at 6:30 p.m.", ["09:00", "18:30"]),
        (Time("t"), "12 a.m. or noon", ["00:00", "12:00"]),
        (Time("t"), "a table for 4 people", []),
        (Time("t"), "my order is 7429", []),
        (Time("t"), "at 25 p.m.", []),
        (Date("d"), "from June 12 to the fourteenth of July", ["06-12", "07-14"]),
        (Date("d"), "on June 12th", ["06-12"]),
        (Date("d"), "may I come on June 31?", []),
        (Date("d"), "December twenty-first", ["12-21"]),
        (Weekday("w"), "not on Thursday, on Friday", ["thursday", "friday"]),
        (ORDER, "It's A, 7, 4, 2, 9.", ["A7429"]),
        (ORDER, "My order number is A-7429.", ["A7429"]),
        (ORDER, "it's a seven four two nine", ["A7429"]),
        (ORDER, "A 74 29, thank you", ["A7429"]),
        (ORDER, "I have 4 of 7429", []),
        (CARD, "the last four digits are 3, 8, 1, 5", ["3815"]),
        (PEOPLE, "a table for twenty-four people at 7", ["24"]),
        (PEOPLE, "at 7 p.m.", []),
        (DIET, "no allergies, wait: nuts", ["none", "nut allergy"]),
        (DIET, "doughnuts", []),
        (Name("n"), "My name is Jordan Miller.", ["jordan miller"]),
        (Name("n"), "I am on my way", []),
    ],
)
def test_a_value_is_read(slot: Slot, said: str, values: list[str]) -> None:
    assert slot.mentions(said) == values
    assert all(slot.is_canonical(value) for value in values)


@pytest.mark.parametrize(
    ("slot", "said", "values"),
    [
        (PEOPLE, "Four.", ["4"]),
        (Time("t"), "Four.", ["16:00"]),
        (Name("n"), "Jordan Miller.", ["jordan miller"]),
        (Name("n"), "It's Jordan Miller, thank you.", ["jordan miller"]),
        (Name("n"), "On Thursday.", []),
    ],
)
def test_an_answer_to_a_question_needs_fewer_words(slot: Slot, said: str, values: list[str]) -> None:
    assert slot.mentions(said) == []
    assert slot.answers(said) == values


@pytest.mark.parametrize(
    ("slot", "given", "canonical"),
    [
        (Time("t"), "4:00 PM", "16:00"),
        (Time("t"), "16:00", "16:00"),
        (Date("d"), "June 12", "06-12"),
        (Weekday("w"), "Thursday", "thursday"),
        (PEOPLE, "four", "4"),
        (ORDER, "a 7429", "A7429"),
        (DIET, "Nuts", "nut allergy"),
        (Name("n"), "Jordan Miller", "jordan miller"),
        (Time("t"), "whenever you like", "whenever you like"),
    ],
)
def test_what_a_program_states_is_put_into_its_form(slot: Slot, given: str, canonical: str) -> None:
    assert slot.canonical(given) == canonical


@pytest.mark.parametrize(
    ("slot", "value"),
    [(Time("t"), "16:00"), (Time("t"), "19:30"), (Time("t"), "12:00"), (Date("d"), "06-12"), (Weekday("w"), "monday"),
     (ORDER, "A7429"), (DIET, "nut allergy")],
)  # fmt: skip
def test_what_is_spoken_is_read_back(slot: Slot, value: str) -> None:
    assert slot.mentions(slot.spoken(value)) == [value]


def test_numbers_become_digits() -> None:
    said = "twenty-four nights from the twenty first, one dollar or $35"
    assert in_digits(said) == "24 nights from the 21, 1 dollar or 35 dollars"


@pytest.mark.parametrize(
    ("text", "phrase", "there"),
    [
        ("On Friday at 7pm we are full. 7.30pm is free.", "7:30", True),
        ("You have a table at 7:30.", "7:30", True),
        ("For three nights!", "3 nights", True),
        ("That's all.", "thats all", True),
        ("We open late", "pen", False),
        ("bus 121", "bus 12", False),
    ],
)
def test_a_phrase_is_whole_words(text: str, phrase: str, there: bool) -> None:
    assert has_phrase(text, phrase) is there
