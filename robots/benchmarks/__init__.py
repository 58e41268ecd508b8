"""The tables of benchmarks of the field: what was published, and what `manage.py evaluate` measured here."""
