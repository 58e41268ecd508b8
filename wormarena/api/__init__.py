"""The public API of WormArena."""
