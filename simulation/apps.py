"""The Django side of the simulation; the physics itself is loaded by workers and commands only."""

from django.apps import AppConfig


class SimulationConfig(AppConfig):
    name = "simulation"
    default_auto_field = "django.db.models.BigAutoField"
