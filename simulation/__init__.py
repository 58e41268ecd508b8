"""Robots, scenes, physics and cameras: what happens between an instruction and an episode."""
