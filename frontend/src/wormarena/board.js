// Draws a position as SVG, one unit per cell: sharp at any size, in the colours of the theme.

/** @import { Cell, Shown } from "./replay.js" */

const SVG = "http://www.w3.org/2000/svg";
const MARGIN = 0.35;

export class Board {
  /** @param {SVGSVGElement} svg @param {number} width @param {number} height in cells */
  constructor(svg, width, height) {
    this.height = height;
    const size = [-MARGIN, -MARGIN, width + 2 * MARGIN, height + 2 * MARGIN];
    svg.setAttribute("viewBox", size.join(" "));
    this.pieces = element("g", {});
    const floor = element("rect", { class: "worm-floor", x: 0, y: 0, width, height, rx: 0.15 });
    svg.replaceChildren(floor, grid(width, height), this.pieces);
  }

  /** @param {Shown} shown */
  draw({ state, deaths }) {
    const apples = state.apples.map((cell) => this.apple(cell));
    const snakes = Object.entries(state.snakes).map(([slot, cells]) => this.snake(slot, cells, slot in deaths));
    const marks = Object.values(deaths).map((cell) => this.cross(cell));
    this.pieces.replaceChildren(...apples, ...snakes, ...marks);
  }

  /** @param {Cell} cell @returns {[number, number]} the middle of a cell, where y points down */
  middle([x, y]) {
    return [x + 0.5, this.height - y - 0.5];
  }

  /** @param {Cell} cell */
  apple(cell) {
    const [cx, cy] = this.middle(cell);
    return element("circle", { class: "worm-apple", cx, cy, r: 0.26 });
  }

  /** @param {string} slot @param {Cell[]} cells head first @param {boolean} dies */
  snake(slot, cells, dies) {
    const whole = element("g", { class: `worm-snake snake-${slot}${dies ? " worm-dies" : ""}` });
    if (!cells.length) return whole;
    const [cx, cy] = this.middle(cells[0]);
    if (cells.length > 1) {
      const points = cells.map((cell) => this.middle(cell).join(",")).join(" ");
      whole.append(element("polyline", { class: "worm-body", points }));
    }
    whole.append(element("circle", { class: "worm-head", cx, cy, r: 0.42 }), ...this.eyes(cells));
    return whole;
  }

  /** Looking away from the neck; up where there is none. @param {Cell[]} cells */
  eyes([head, neck]) {
    const [cx, cy] = this.middle(head);
    const [dx, dy] = neck ? [head[0] - neck[0], neck[1] - head[1]] : [0, -1];
    return [-1, 1].map((side) =>
      element("circle", { class: "worm-eye", cx: cx + 0.16 * dx + 0.17 * side * dy, cy: cy + 0.16 * dy + 0.17 * side * dx, r: 0.075 }),
    );
  }

  /** @param {Cell} cell where somebody would have been */
  cross(cell) {
    const [x, y] = this.middle(cell);
    const d = `M${x - 0.3} ${y - 0.3}l.6 .6m0 -.6l-.6 .6`;
    return element("path", { class: "worm-death", d });
  }
}

/** @param {number} width @param {number} height */
function grid(width, height) {
  const across = Array.from({ length: height - 1 }, (_, row) => `M0 ${row + 1}h${width}`);
  const down = Array.from({ length: width - 1 }, (_, column) => `M${column + 1} 0v${height}`);
  return element("path", { class: "worm-grid", d: [...across, ...down].join("") });
}

/** @param {string} name @param {Record<string, string | number>} attributes */
export function element(name, attributes) {
  const made = document.createElementNS(SVG, name);
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, String(value));
  return made;
}
