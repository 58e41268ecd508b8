"""Counts of votes in columns of numbers: what ratings are fitted to. No Django."""
