"""Signals to other packages. A receiver runs inside the sender's transaction, and rolls it back if it raises."""

from __future__ import annotations

from django.dispatch import Signal

vote_cast = Signal()
"""A vote was stored. Sent with `vote: arena.models.Vote`, before the transaction is committed."""
