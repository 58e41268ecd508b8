"""Synthetic votes and episodes for load measurements: `manage.py seed_load`."""
