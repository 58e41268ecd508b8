"""Cleaning of one-line instructions, the default of `arena.kinds.Kind.clean_instruction`."""

from __future__ import annotations

import unicodedata
from typing import Any

from django.conf import settings

from arena.errors import InstructionTooLong, InvalidInstruction

# Control and invisible characters, surrogates, private-use and unassigned code points, line ends.
UNPRINTABLE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
JOINERS = {"\u200c", "\u200d"}  # invisible too, but some scripts and emoji cannot be written without them


def clean_instruction(value: Any) -> str:
    """The text without surrounding blanks. Raises InvalidInstruction for what is no instruction."""
    longest = settings.INSTRUCTION_MAX_LENGTH
    if not isinstance(value, str):
        raise InvalidInstruction("An instruction is a text.")
    text = value.strip()
    if len(text) > longest:
        raise InstructionTooLong(longest, len(text))
    if any(unicodedata.category(character) in UNPRINTABLE and character not in JOINERS for character in text):
        raise InvalidInstruction("An instruction is one line of printable characters.")
    if not any(unicodedata.category(character)[0] in "LNS" for character in text):
        raise InvalidInstruction("An instruction needs words.")
    return text
