"""The social preview of a voted battle: both sides side by side, what was asked, who they were, who was preferred."""

from __future__ import annotations

from functools import cache
from io import BytesIO
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from arena.models import GalleryEntry, VoteChoice

SIZE = (1200, 630)
PICTURE = (598, 448)
"""Of each side; between them are four pixels."""
PAPER, INK, SOFT, WON = "#14171c", "#f2f0eb", "#a9adb6", "#7fd08a"
FONT = Path(__file__).parent / "fonts" / "AtkinsonHyperlegibleNext.ttf"
MARGIN, LINES = 40, 2
QUALITY = 88
FOOT = "VLA Arena: two models, one instruction, one blind vote"
SAID = {
    VoteChoice.LEFT_BETTER: "preferred",
    VoteChoice.RIGHT_BETTER: "preferred",
    VoteChoice.TIE: "a tie",
    VoteChoice.BOTH_BAD: "both bad",
}


def compose(entry: GalleryEntry, left: bytes, right: bytes) -> bytes:
    """JPEG, 1200 x 630, from the pictures of both sides. Its words are English: one picture is for all readers."""
    card = Image.new("RGB", SIZE, PAPER)
    draw = ImageDraw.Draw(card)
    vote = VoteChoice(entry.vote.vote)
    for side, (content, name) in enumerate(((left, entry.left_model.name), (right, entry.right_model.name))):
        x = _place(card, content, side)
        won = vote == (VoteChoice.LEFT_BETTER, VoteChoice.RIGHT_BETTER)[side]
        _name(draw, x, name, won)
    _words(draw, entry.instruction, SAID[vote] if vote in (VoteChoice.TIE, VoteChoice.BOTH_BAD) else "")
    return _jpeg(card)


def compose_general(left: bytes, right: bytes) -> bytes:
    """The site's own card, which tells of no battle: JPEG, 1200 x 630, from two pictures."""
    card = Image.new("RGB", SIZE, PAPER)
    for side, content in enumerate((left, right)):
        _place(card, content, side)
    draw = ImageDraw.Draw(card)
    y = PICTURE[1] + 30
    draw.text((MARGIN, y), "VLA Arena", font=_font(64, 700), fill=INK)
    draw.text((MARGIN, SIZE[1] - 36), FOOT.partition(": ")[2], font=_font(32, 450), fill=SOFT, anchor="ls")
    return _jpeg(card)


def _place(card: Image.Image, content: bytes, side: int) -> int:
    """Paste the picture of a side (0 left, 1 right). Returns where it begins."""
    x = side * (SIZE[0] - PICTURE[0])
    with Image.open(BytesIO(content)) as picture:
        card.paste(picture.convert("RGB").resize(PICTURE, Image.Resampling.LANCZOS), (x, 0))
    return x


def _jpeg(card: Image.Image) -> bytes:
    kept = BytesIO()
    card.save(kept, "JPEG", quality=QUALITY, optimize=True)
    return kept.getvalue()


def _name(draw: ImageDraw.ImageDraw, x: int, name: str, won: bool) -> None:
    """The name in the corner of a side's picture; the winner's on green, with a frame."""
    font = _font(30, 650)
    text = _fitting(f"{name} · preferred" if won else name, font, PICTURE[0] - 80)
    if won:
        draw.rectangle((x, 0, x + PICTURE[0] - 1, PICTURE[1] - 1), outline=WON, width=8)
    width = font.getlength(text)
    box = (x + 24, 24, x + 24 + width + 36, 76)
    draw.rounded_rectangle(box, 12, fill=WON if won else PAPER)
    draw.text((x + 42, (box[1] + box[3]) / 2), text, font=font, fill=PAPER if won else INK, anchor="lm")


def _words(draw: ImageDraw.ImageDraw, instruction: str, verdict: str) -> None:
    """The instruction, in at most two lines, and the name of the place."""
    said = f"“{instruction}”" if instruction and _has_glyphs(instruction) else ""
    font = _font(44 if len(said) < 90 else 36, 700)
    lines = _wrapped(said, font, SIZE[0] - 2 * MARGIN)
    y = PICTURE[1] + 30.0
    for line in lines:
        draw.text((MARGIN, y), line, font=font, fill=INK)
        y += font.size + 8
    draw.text((MARGIN, SIZE[1] - 26), FOOT, font=_font(24, 450), fill=SOFT, anchor="ls")
    if verdict:
        draw.text((SIZE[0] - MARGIN, SIZE[1] - 26), f"Vote: {verdict}", font=_font(26, 650), fill=WON, anchor="rs")


def _wrapped(text: str, font: ImageFont.FreeTypeFont, width: float) -> list[str]:
    """At most LINES lines; what does not fit ends in an ellipsis."""
    lines: list[str] = []
    words = text.split()
    while words and len(lines) < LINES:
        if len(lines) == LINES - 1:
            return [*lines, _fitting(" ".join(words), font, width)]
        count = max((n for n in range(1, len(words) + 1) if font.getlength(" ".join(words[:n])) <= width), default=1)
        lines.append(_fitting(" ".join(words[:count]), font, width))
        words = words[count:]
    return lines


def _fitting(text: str, font: ImageFont.FreeTypeFont, width: float) -> str:
    """The beginning of the text that is no wider, with an ellipsis if something was left out."""
    if font.getlength(text) <= width:
        return text
    while text and font.getlength(f"{text}…") > width:
        text = text[:-1]
    return f"{text.rstrip()}…"


def _has_glyphs(text: str) -> bool:
    """Whether the font can write it. A text in another script is left out, rather than shown as boxes."""
    font = _font(20, 400)
    unknown = bytes(font.getmask("\uffff"))
    return all(bytes(font.getmask(character)) != unknown for character in set(text) if not character.isspace())


@cache
def _font(size: int, weight: int) -> ImageFont.FreeTypeFont:
    font = ImageFont.truetype(FONT, size)
    font.set_variation_by_axes([weight])
    return font
