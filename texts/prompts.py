"""Cleaning of prompts, which may have several lines, unlike instructions."""

from __future__ import annotations

from typing import Any

from arena.errors import InstructionTooLong, InvalidInstruction
from arena.instructions import clean_instruction

MOST_LINES = 100


def clean_prompt(said: Any, longest: int) -> str:
    """The prompt with plain line ends and without surrounding blanks. Raises InvalidInstruction, InstructionTooLong."""
    if not isinstance(said, str):
        raise InvalidInstruction("A prompt is a text.")
    text = said.replace("\r\n", "\n").replace("\r", "\n").strip()
    if len(text) > longest:
        raise InstructionTooLong(longest, len(text), "characters")
    if text.count("\n") >= MOST_LINES:
        raise InvalidInstruction(f"A prompt has at most {MOST_LINES} lines.")
    clean_instruction(text.replace("\n", " ").replace("\t", " "), longest=longest)
    return text
