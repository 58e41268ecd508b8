"""Votes and counts in files, and ratings from them. No Django."""
