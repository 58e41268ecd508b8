"""Thirty sentences as people type them, of all kinds, and what each asks for."""

from __future__ import annotations

SENTENCES: dict[str, tuple[str, dict[str, str]] | None] = {
    # In words that the catalogue knows.
    "pick up the red cube": ("pick", {"object": "red_cube"}),
    "Please put the green ball on the right plate.": ("place", {"object": "green_sphere", "target": "right_plate"}),
    "Stack the yellow block on top of the blue can!": ("stack", {"object": "yellow_cube", "base": "blue_cylinder"}),
    "could you pick up the blue cylinder?": ("pick", {"object": "blue_cylinder"}),
    "Take the red block and put it on the plate on the left": ("place", {"object": "red_cube", "target": "left_plate"}),
    "grab the green orb": ("pick", {"object": "green_sphere"}),
    "PUT THE YELLOW CUBE ON THE RED CUBE": ("stack", {"object": "yellow_cube", "base": "red_cube"}),
    "on the left plate, put the blue tin": ("place", {"object": "blue_cylinder", "target": "left_plate"}),
    # The opposite, or something else than it.
    "don't pick up the red cube": None,
    "do not put the red cube on the left plate": None,
    "pick up the cube that is not red": None,
    "pick up anything but the red cube": None,
    "pick up the red cube ❌": None,
    "put the red cube next to the left plate": None,
    # Two things at once, or after another.
    "pick up the red cube and then the green ball": None,
    "put the red cube on the left plate and the yellow cube on the right plate": None,
    "pick up the red cube, put it down again, and wave": None,
    # What nothing here can judge.
    "make a tower of all blocks, the ball on top, as high as you can": None,
    "would you kindly rearrange everything so that nothing touches anything": None,
    "move the cube 12.5 cm to the left, at 37 degrees": None,
    "put it on the other one": None,
    "which cube is the heaviest?": None,
    "hello robots, how are you today?": None,
    "do a little dance": None,
    # Slips, other languages, other scripts.
    "pick up teh rde cueb": None,
    "Lege den roten Würfel auf den linken Teller": None,
    "把红色方块放在左边的盘子上": None,
    "拿起 the red cube": None,
    "👉🟥 pick it up 🙏": None,
    "Donaudampfschifffahrtsgesellschaftskapitän, take the antidisestablishmentarianist's cube": None,
}
