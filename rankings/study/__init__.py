"""Simulated voters: what the rankings promise, measured. `manage.py ranking_study` writes it down. No Django."""
