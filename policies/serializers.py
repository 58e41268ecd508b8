"""A policy as the public API shows it, where it is called a model."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from policies.models import Policy
from proportions import Success


class ModelSerializer(serializers.ModelSerializer[Policy]):
    model_id = serializers.CharField(source="id", read_only=True)
    measured = serializers.SerializerMethodField()
    success = serializers.SerializerMethodField()
    hosted = serializers.SerializerMethodField()

    class Meta:
        model = Policy
        fields = [
            *("model_id", "name", "description", "organization", "license", "family", "provenance", "training_data"),
            *("source", "parameters", "weights_bytes", "statistics_key", "status", "status_reason", "reference"),
            *("revision", "measured", "success", "hosted"),
        ]
        read_only_fields = fields

    def get_measured(self, policy: Policy) -> dict[str, Any]:
        """Success per task as measured before it was entered, with intervals; empty for references."""
        return dict(policy.card.get("measured") or {})

    def get_success(self, policy: Policy) -> Success | None:
        """All tasks taken together, with the 95 % Wilson interval; null for what was never measured."""
        return policy.success

    def get_hosted(self, policy: Policy) -> bool | None:
        """Whether a worker that can play it announces itself; null while no worker announces anything."""
        able: set[str] | None = self.context.get("able")
        return None if able is None else policy.id in able
