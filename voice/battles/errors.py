"""Refusals that only voice battles have."""

from __future__ import annotations

from arena.errors import ArenaError


class CallsMissing(ArenaError):
    status, code = 409, "calls_missing"
    detail = "Talk to both agents first: the turn is made of both calls."


class ConsentMissing(ArenaError):
    status, code = 422, "consent_missing"
    detail = "Calls are recorded: say `consent: true` to agree."


class SlotUsed(ArenaError):
    status, code = 409, "slot_used"
    detail = "This agent was called already: each agent is called once in a battle."


class OtherAgentFirst(ArenaError):
    status, code = 409, "other_agent_first"
    detail = "Agent A is called first, and agent B after that call has ended."


class CallRunning(ArenaError):
    status, code = 409, "call_running"
    detail = "This agent is on the phone: the page that called it has to end the call first."


class VoiceOff(ArenaError):
    status, code = 503, "voice_off"
    detail = "This site holds no calls now."
