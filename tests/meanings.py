"""Sentences of visitors, and the goal that each means: one task with its slots, or none.

A sentence without a goal is free text, which only people judge. A wrong goal is worse than none: whatever may change
what a sentence asks for must leave it without one.
"""

from __future__ import annotations

RED, YELLOW, BLUE, GREEN = "red_cube", "yellow_cube", "blue_cylinder", "green_sphere"
LEFT, RIGHT = "left_plate", "right_plate"

PICK = {
    "pick up the red cube": RED,
    "Pick up the red cube.": RED,
    "PICK UP A RED CUBE!!!": RED,
    "pick the yellow block up": YELLOW,
    "please pick up the blue can": BLUE,
    "pick up the green ball, please": GREEN,
    "can you pick up the green ball?": GREEN,
    "Could you please lift the blue cylinder": BLUE,
    "would you take the yellow box": YELLOW,
    "I want you to pick up the red block": RED,
    "i'd like you to raise the green sphere": GREEN,
    "hey robot, grab the blue tin": BLUE,
    "robots, please fetch the red cube now": RED,
    "grasp the green orb and lift it up": GREEN,
    "take hold of the red cube and raise it": RED,
    "lift the yellow cube off the table": YELLOW,
    "pick the blue can up from the table": BLUE,
    "pick up the red-coloured cube": RED,
    "pick up the red colored block": RED,
    "lift the yelow cube": YELLOW,
    "raise the blue cylnider": BLUE,
    "pick up the green shpere": GREEN,
    "grsap the red cube": RED,
    "(pick up the red cube)": RED,
    "now lift up the green ball for me, thanks": GREEN,
}
PLACE = {
    "put the red cube on the left plate": (RED, LEFT),
    "Put the RED cube onto the left plate!": (RED, LEFT),
    "place the yellow block upon the right dish": (YELLOW, RIGHT),
    "put the blue can on the left-hand plate": (BLUE, LEFT),
    "put the blue can on the right-hand-side plate": (BLUE, RIGHT),
    "set the green ball down on the plate on the right": (GREEN, RIGHT),
    "lay the red cube down on the plate on the left": (RED, LEFT),
    "on the left plate, place the green orb": (GREEN, LEFT),
    "take the red block and put it on the right plate": (RED, RIGHT),
    "pick the red block up and put it down on the right plate": (RED, RIGHT),
    "grab the blue tin and bring it to the left plate": (BLUE, LEFT),
    "can you move the yellow cube to the left plate": (YELLOW, LEFT),
    "bring the yellow cube over to the right plate": (YELLOW, RIGHT),
    "carry the green sphere to the leftmost plate": (GREEN, LEFT),
    "put the red cube on top of the left plate": (RED, LEFT),
    "drop the blue cylinder on to the right plate": (BLUE, RIGHT),
    "putt teh red cube on the left plate": None,
    "place the green sphere on the left platee": (GREEN, LEFT),
    "palce the red cube on the rihgt plate": (RED, RIGHT),
    "put down the red cube on the left plate": (RED, LEFT),
}
STACK = {
    "stack the red cube on the yellow cube": (RED, YELLOW),
    "stack the red cube on top of the yellow one": None,
    "Stack the yellow block on top of the blue can!": (YELLOW, BLUE),
    "put the blue cylinder on the red cube": (BLUE, RED),
    "place the red box onto the blue tin": (RED, BLUE),
    "pile the yellow cube upon the red cube": (YELLOW, RED),
    "balance the blue can on the yellow block": (BLUE, YELLOW),
    "on the red cube stack the yellow cube": (YELLOW, RED),
    "take the red cube and stack it on the yellow cube": (RED, YELLOW),
    "could you kindly move the blue can onto the red block?": (BLUE, RED),
    "stakc the red cube on the yellow cube": (RED, YELLOW),
    "stack the red cube atop the yellow cube": (RED, YELLOW),
    "stack the green ball on the red cube": None,
    "stack the red cube on the green ball": None,
    "stack the red cube on the red cube": None,
}
PUSH = {
    "push the red cube to the left": (RED, "left"),
    "push the red cube left": (RED, "left"),
    "slide the yellow block towards the right": (YELLOW, "right"),
    "nudge the blue can a little bit forward": (BLUE, "forward"),
    "shove the green ball away from you": (GREEN, "forward"),
    "move the red cube back": (RED, "back"),
    "push the red cube backwards": (RED, "back"),
    "give the blue cylinder a gentle push forwards": (BLUE, "forward"),
    "can you drag the yellow cube towards you?": (YELLOW, "back"),
    "move the green ball over to the left": (GREEN, "left"),
    "push the red cube": None,
    "push the red cube 10 cm to the left": None,
    "push the red cube to the left edge": None,
    "push the red cube left and right": None,
    "push the red cube off the table": None,
    "push the blue can over to the left": None,
    "push the left plate to the right": None,
}
NEXT_TO = {
    "put the red cube next to the yellow cube": (RED, YELLOW),
    "Move the blue can beside the green ball.": (BLUE, GREEN),
    "set the green orb down right next to the red block": (GREEN, RED),
    "take the yellow cube and place it alongside the blue tin": (YELLOW, BLUE),
    "next to the red cube put the green ball": (GREEN, RED),
    "put the red cube next to itself": None,
    "put the red cube next to the left plate": None,
    "put the red cube near the yellow cube": None,
    "put the red cube to the left of the yellow cube": None,
}
BETWEEN = {
    "put the red cube between the yellow cube and the blue can": (RED, YELLOW, BLUE),
    "place the green ball in between the red block and the yellow block": (GREEN, RED, YELLOW),
    "between the red cube and the green ball, put the blue cylinder": (BLUE, RED, GREEN),
    "slide the yellow cube betwen the red cube and the green orb": (YELLOW, RED, GREEN),
    "put the red cube between the two plates": None,
    "put the red cube between the red cube and the blue can": None,
    "put the red cube between them": None,
}
SWAP = {
    "swap the red cube and the yellow cube": (RED, YELLOW),
    "swap the red cube with the blue can": (RED, BLUE),
    "Exchange the places of the green ball and the red block": (GREEN, RED),
    "let the blue can and the yellow cube trade places": (BLUE, YELLOW),
    "switch the positions of the red cube and the green orb, please": (RED, GREEN),
    "swap the plates": None,
    "swap the red cube": None,
    "swap the red cube for a better one": None,
}
TOUCH = {
    "touch the red cube": RED,
    "tap on the blue can": BLUE,
    "poke the green ball with your gripper": GREEN,
    "reach out and touch the yellow block": YELLOW,
    "could you touch the green sphere?": GREEN,
    "go to the red cube and tap it": RED,
    "tuoch the red cube": RED,
    "touch everything": None,
    "touch the red cube twice": None,
    "touch the red cube with the blue can": None,
    "touch the table": None,
    "couch the red cube": None,
}
KNOCK = {
    "knock over the blue can": BLUE,
    "knock the blue cylinder over!": BLUE,
    "tip the blue tin over": BLUE,
    "lay the blue can on its side": BLUE,
    "make the blue can fall over": BLUE,
    "push the blue cylinder over": BLUE,
    "knock the red cube over": None,
    "knock the blue can over the edge": None,
}
TURN = {
    "turn the red cube": RED,
    "rotate the yellow block a little": YELLOW,
    "spin the red box around": RED,
    "give the yellow cube a twist": YELLOW,
    "turn the red cube over": None,
    "turn the red cube upside down": None,
    "turn the red cube by 90 degrees": None,
    "turn around": None,
    "turn around the red cube": None,
    "turn off the red cube": None,
}
GATHER = {
    "put all the cubes on the left plate": LEFT,
    "put both blocks on the right plate": RIGHT,
    "gather the cubes on the plate on the left": LEFT,
    "place all of the cubes onto the right dish": RIGHT,
    "bring every cube to the left plate": LEFT,
    "put all the cubes on a plate": None,
    "put everything on the left plate": None,
    "put all the things on the left plate": None,
    "put all the cubes on both plates": None,
}
NONE = (
    # Negated, limited, excepted.
    "don't pick up the red cube", "do not pick up the red cube", "never pick up the red cube",
    "pick up the red cube, not", "pick up no red cube", "pick up anything except the red cube",
    "avoid the red cube", "without touching the plate, pick up the red cube",
    "pick up the red cube without moving the ball", "pick up the red cube with the left finger",
    "stop picking up the red cube", "pick up the cube that is not red", "refuse to pick up the red cube",
    "pretend to pick up the red cube", "please do nothing and leave the red cube",
    # More than one thing to do, or an order of things.
    "pick up the red cube and the green ball", "pick up the red cube, then the green ball",
    "pick up the red cube and then put it down", "after that pick up the red cube",
    "put the red cube on the left plate and the yellow cube on the right plate",
    "put the red cube on the left plate and then back", "first pick up the red cube",
    "push the red cube left, then right", "pick up the red cube and wave",
    "pick up the red cube or the blue can", "if the ball is green, pick up the red cube",
    # Manner, number and time.
    "pick up the red cube slowly", "pick up the red cube twice", "carefully put the red cube on the left plate",
    "pick up the red cube for ten seconds", "pick up two red cubes", "pick up the red cubes",
    "put the red cube halfway onto the left plate", "put the red cube at the rim of the left plate",
    # Something else that sounds alike.
    "pick up the red one", "pick up the cube", "pick up the light plate", "put the red cube on the light plate",
    "put the red cube under the left plate", "pick up the left plate", "pick up the bread cube",
    "stick the red cube on the yellow cube", "pick up the black cube", "pick up the red tube",
    "put the red cube on the lift plate", "put the red cube on the tight plate", "push the red cube write",
    "put the red cube", "on the left plate", "the red cube", "pick up", "put it on the left plate",
    "put the left plate on the red cube", "is the red cube on the left plate?", "why pick up the red cube?",
    "which robot will pick up the red cube?", "say pick up the red cube", "take the red cube on the left plate",
    "lift the red cube on the left plate", "hold on to the red cube", "throw the red cube on the left plate",
    # No words that anything here knows.
    "", "?", "dance", "hello", "hello robots", "thanks", "wave hello", "12345", "🙏", "pick up the red cube 🚫",
    "拿起红色方块", "Nimm den roten Würfel", "prends le cube rouge",
)  # fmt: skip


def meanings() -> dict[str, tuple[str, dict[str, str]] | None]:
    """Every sentence -> task and slots, or None."""
    named = {
        "pick": (PICK, ("object",)),
        "place": (PLACE, ("object", "target")),
        "stack": (STACK, ("object", "base")),
        "push": (PUSH, ("object", "direction")),
        "next_to": (NEXT_TO, ("object", "other")),
        "between": (BETWEEN, ("object", "one", "other")),
        "swap": (SWAP, ("one", "other")),
        "touch": (TOUCH, ("object",)),
        "knock_over": (KNOCK, ("object",)),
        "turn": (TURN, ("object",)),
        "gather_cubes": (GATHER, ("target",)),
    }
    found: dict[str, tuple[str, dict[str, str]] | None] = dict.fromkeys(NONE)
    for task_id, (table, slots) in named.items():
        for sentence, said in table.items():
            values = (said,) if isinstance(said, str) else said
            found[sentence] = (task_id, dict(zip(slots, values, strict=True))) if values else None
    return found
