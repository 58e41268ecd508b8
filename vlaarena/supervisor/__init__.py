"""The supervisor behind `make run`: starts the parts of the arena, watches them, and stops them in reverse order."""
