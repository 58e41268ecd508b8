"""The pages of WormArena."""
