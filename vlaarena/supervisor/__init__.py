"""The supervisor behind `make run`: starts every part of the arena, watches it, and stops it in reverse order."""
