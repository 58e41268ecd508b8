"""Ratings and their intervals, from counts. Numbers in, numbers out, no Django."""
