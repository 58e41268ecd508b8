"""What the web knows of the pictures that workers draw. Needs nothing."""

LOOK = "look-2"
"""The version of `simulation.pictures`: pictures of another one are drawn again. Raise it with every visible change."""
WIDTH, HEIGHT = 640, 480
