"""Plain SVG plots for the study: lines and points on axes, readable on light and dark pages. No Django."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 640, 360, 60, 50, 30, 20
COLOURS = ("#0072b2", "#d55e00", "#009e73")


@dataclass(frozen=True)
class Axes:
    title: str
    x_label: str
    y_label: str
    x: tuple[float, float]
    y: tuple[float, float]
    x_ticks: Mapping[float, str]
    y_ticks: Sequence[float]

    def place(self, x: float, y: float) -> tuple[float, float]:
        across = (x - self.x[0]) / (self.x[1] - self.x[0])
        up = (y - self.y[0]) / (self.y[1] - self.y[0])
        return LEFT + across * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - up * (HEIGHT - BOTTOM - TOP)


Series = Mapping[str, Sequence[tuple[float, float]]]


def plot(axes: Axes, series: Series, *, band: tuple[float, float] | None = None, lines: bool = True) -> str:
    """An SVG document. `band`: values of y between which the background is shaded."""
    parts = [*_frame(axes)]
    if band:
        (x, top), (end, bottom) = axes.place(axes.x[0], band[1]), axes.place(axes.x[1], band[0])
        size = f'width="{end - x:.1f}" height="{bottom - top:.1f}"'
        parts.insert(0, f'<rect x="{x:.1f}" y="{top:.1f}" {size} fill="#009e73" opacity="0.15"/>')
    for number, (name, points) in enumerate(series.items()):
        parts += _series(axes, name, points, number, lines)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'font-family="sans-serif" font-size="12"><title>{escape(axes.title)}</title>'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>'
    )
    return "\n".join([head, *parts, "</svg>", ""])


def _frame(axes: Axes) -> list[str]:
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    parts = [f'<text x="{LEFT}" y="18" font-weight="bold">{escape(axes.title)}</text>']
    for value in axes.y_ticks:
        _, y = axes.place(axes.x[0], value)
        parts.append(f'<path d="M{LEFT} {y:.1f}H{right}" stroke="#ddd"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{value:g}</text>')
    for value, label in axes.x_ticks.items():
        x, _ = axes.place(value, axes.y[0])
        parts.append(f'<text x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">{escape(label)}</text>')
    parts.append(f'<path d="M{LEFT} {TOP}V{bottom}H{right}" fill="none" stroke="#333"/>')
    parts.append(
        f'<text x="{(LEFT + right) / 2:.0f}" y="{HEIGHT - 12}" text-anchor="middle">{escape(axes.x_label)}</text>'
    )
    middle = (TOP + bottom) / 2
    turned = f'transform="rotate(-90 16 {middle:.0f})" text-anchor="middle"'
    parts.append(f'<text x="16" y="{middle:.0f}" {turned}>{escape(axes.y_label)}</text>')
    return parts


def _series(axes: Axes, name: str, points: Sequence[tuple[float, float]], number: int, lines: bool) -> list[str]:
    colour, places = COLOURS[number % len(COLOURS)], [axes.place(x, y) for x, y in points]
    parts = [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>' for x, y in places]
    if lines:
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.insert(0, f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
    y = TOP + 16 * (number + 1)
    parts.append(f'<text x="{WIDTH - RIGHT - 8}" y="{y}" text-anchor="end" fill="{colour}">{escape(name)}</text>')
    return parts
