"""An arena full of made-up votes and episodes, to measure on: `manage.py seed_load`."""
