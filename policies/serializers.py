"""A policy as the public API shows it, where it is called a model."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from policies.models import Policy


class ModelSerializer(serializers.ModelSerializer[Policy]):
    model_id = serializers.CharField(source="id", read_only=True)
    measured = serializers.SerializerMethodField()

    class Meta:
        model = Policy
        fields = [
            "model_id",
            "name",
            "description",
            "organization",
            "license",
            "family",
            "provenance",
            "status",
            "status_reason",
            "reference",
            "revision",
            "measured",
        ]
        read_only_fields = fields

    def get_measured(self, policy: Policy) -> dict[str, Any]:
        """Success per task as measured before it was entered, with intervals; empty for references."""
        return dict(policy.card.get("measured") or {})
