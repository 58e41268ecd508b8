"""The kinds of value that the fields of predicates hold. The name of a field with a unit ends with it."""

from __future__ import annotations

from typing import Annotated, Literal

Thing = Annotated[str, "thing"]
Toucher = Annotated[str, "toucher"]
"""A thing, or "tool": any part of the gripper."""
Region = Annotated[str, "region"]
"""A site of the world, whose inside is meant."""
Joint = Annotated[str, "joint"]
"""A slide or hinge of the world, with a range."""
Metres = Annotated[float, "m"]
Degrees = Annotated[float, "deg"]
Share = Annotated[float, "share"]
"""0 to 1."""
Direction = Literal["left", "right", "forward", "back", "any"]
"""As the robot looks: forward is +x, away from it, and left is +y."""
Way = Literal["left", "right", "either"]
"""Of a turn about z, seen from above: left is counter-clockwise."""
End = Literal["low", "high"]
"""Of a joint's range."""
