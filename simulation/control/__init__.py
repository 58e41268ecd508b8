"""Controllers (simulation.worlds.plugins.Controller): from actions to motor commands, for robots to choose from.

Only MuJoCo's own linear algebra is used, in a fixed order, so that the same actions give the same bits.
"""
