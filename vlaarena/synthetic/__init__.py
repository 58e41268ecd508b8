"""An arena full of synthetic votes and episodes, to measure on: `manage.py seed_load`."""
