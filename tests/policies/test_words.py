"""Reading instructions: known words, near misses, and noise that never hides what the goal depends on."""

from __future__ import annotations

import numpy as np

from policies.film.tokenizer import MAX_WORDS, UNKNOWN, WordTokenizer
from policies.film.words import WordNoise, disturb, needless, pad

TEXTS = ["pick up the red cube", "pick up the yellow cube", "lift the red cube", "lift the yellow cube",
         "put the red cube on the left plate", "put the red cube on the right plate"]  # fmt: skip
GOALS = ["red", "yellow", "red", "yellow", "left", "right"]


def test_case_and_punctuation_do_not_matter_but_order_does() -> None:
    words = WordTokenizer.from_texts(TEXTS)
    assert words.encode("Pick up THE red cube!") == words.encode("pick up the red cube")
    assert words.encode("cube red") != words.encode("red cube")


def test_a_near_miss_is_read_as_the_known_word_and_a_strange_word_as_unknown() -> None:
    words = WordTokenizer.from_texts(TEXTS)
    assert words.encode("yelow cubes") == words.encode("yellow cube")
    assert words.encode("dish") == [UNKNOWN]


def test_any_text_gives_at_least_one_and_at_most_the_longest_length() -> None:
    words = WordTokenizer.from_texts(TEXTS)
    assert words.encode("!?") == [UNKNOWN]
    assert len(words.encode("cube " * 500)) == MAX_WORDS


def test_a_tokenizer_reads_back_from_its_file_form() -> None:
    words = WordTokenizer.from_texts(TEXTS)
    assert WordTokenizer.from_json(words.to_json()).ids == words.ids


def test_words_that_decide_between_goals_are_needed() -> None:
    words = WordTokenizer.from_texts(TEXTS)
    free = needless({n: words.encode(text) for n, text in enumerate(TEXTS)}, dict(enumerate(GOALS)))
    assert free[0].tolist() == [True, True, True, False, True]  # pick up the RED cube
    assert free[4].tolist() == [True, True, True, True, True, True, False, True]  # ... on the LEFT plate


def test_noise_keeps_every_needed_word_in_order() -> None:
    random = np.random.default_rng(0)
    free = np.array([True, False, True, False])
    noise = WordNoise(hide=0.5, drop=0.4, insert=1.0)
    for _ in range(200):
        sentence = disturb([2, 3, 4, 5], free, noise, random)
        assert [word for word in sentence if word in (3, 5)] == [3, 5]
        assert 1 <= len(sentence) <= MAX_WORDS


def test_sentences_are_padded_at_the_end() -> None:
    assert pad([[4], [5, 6, 7]]).tolist() == [[4, 0, 0], [5, 6, 7]]
