"""What other rooms may listen to. A listener runs inside the sender's transaction; one that raises takes it back."""

from __future__ import annotations

from django.dispatch import Signal

vote_cast = Signal()
"""A vote was stored. Sent with `vote: arena.models.Vote`, before the transaction is committed."""
