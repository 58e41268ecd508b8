"""A composed scene, as a moderator would write it."""

BREAKFAST = """\
- id: breakfast
  name: Breakfast table
  description: A bowl, a cup and vegetables beside two plates.
  room: plates
  things:
    bowl: {}
    blue_cup: {like: cup, colour: [0.1, 0.25, 0.78], nouns: [{text: blue cup}]}
    red_cube: {area_m: [0.2, 0.39, -0.15, 0.0]}
    carrot: {}
    eggplant: {}
    spoon: {}
  draws:
  - {of: [carrot, eggplant, spoon], least: 1, most: 2}
  suggestions: [put the red cube in the bowl]
"""
