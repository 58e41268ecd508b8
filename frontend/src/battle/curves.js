// Small plots of what both sides did, one over the other, with the clock's cursor through all of them.

import { gettext } from "../i18n.js";

const SVG = "http://www.w3.org/2000/svg";
const [WIDTH, HEIGHT, PAD] = [300, 64, 4];

export class Curves {
  #root;
  #cursors = [];
  #duration = 1;

  /** @param {HTMLElement} root @param {(time: number) => void} seek */
  constructor(root, seek) {
    this.#root = root;
    root.addEventListener("pointerdown", (event) => this.#point(event, seek));
    root.addEventListener("pointermove", (event) => event.buttons === 1 && this.#point(event, seek));
  }

  /** @param {{label: string, unit: string, lines: {side: string, times: ArrayLike<number>, values: ArrayLike<number>, steps: boolean}[]}[]} plots */
  draw(plots, duration) {
    this.#duration = duration || 1;
    this.#cursors = [];
    this.#root.replaceChildren(...plots.map((plot) => this.#plot(plot)));
  }

  moveTo(time) {
    const x = (WIDTH * Math.min(time, this.#duration)) / this.#duration;
    for (const cursor of this.#cursors) cursor.setAttribute("transform", `translate(${x.toFixed(2)} 0)`);
  }

  #point({ target, clientX }, seek) {
    const plot = target.closest?.("svg");
    if (!plot) return;
    const { left, width } = plot.getBoundingClientRect();
    seek((this.#duration * Math.min(Math.max(clientX - left, 0), width)) / width);
  }

  #plot({ label, unit, lines }) {
    const figure = document.createElement("figure");
    const caption = document.createElement("figcaption");
    const [low, high] = rangeOf(lines);
    caption.append(label, Object.assign(document.createElement("small"), { textContent: rangeText(low, high, unit) }));
    const svg = element("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img" });
    svg.setAttribute("aria-label", gettext("%(what)s of both sides over time, %(range)s", { what: label, range: rangeText(low, high, unit) }));
    const cursor = element("line", { class: "cursor", x1: 0, x2: 0, y1: 0, y2: HEIGHT });
    svg.append(...lines.map((line) => this.#line(line, low, high)), cursor);
    this.#cursors.push(cursor);
    figure.append(caption, svg);
    return figure;
  }

  #line({ side, times, values, steps }, low, high) {
    const points = [];
    const y = (value) => (HEIGHT - PAD - ((HEIGHT - 2 * PAD) * (value - low)) / (high - low)).toFixed(1);
    const x = (time) => ((WIDTH * time) / this.#duration).toFixed(1);
    for (let i = 0; i < values.length; i += 1) {
      if (steps && i > 0) points.push(`${x(times[i])},${y(values[i - 1])}`);
      points.push(`${x(times[i])},${y(values[i])}`);
    }
    return element("polyline", { class: `curve curve-${side}`, points: points.join(" ") });
  }
}

/** Less than this, in the plot's unit, is no change: room around it puts its line in the middle. */
const NO_CHANGE = 0.01;

function rangeOf(lines) {
  let [low, high] = [Infinity, -Infinity];
  for (const { values } of lines) {
    for (const value of values) {
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  }
  return high - low > NO_CHANGE ? [low, high] : [low - 0.5, low + 0.5];
}

function rangeText(low, high, unit) {
  const digits = Math.max(Math.abs(low), Math.abs(high)) >= 100 ? 0 : high - low < 1 ? 2 : 1;
  const say = (value) => value.toFixed(digits).replace(/^-(0(?:\.0*)?)$/, "$1");
  return gettext("%(low)s to %(high)s %(unit)s", { low: say(low), high: say(high), unit });
}

function element(name, attributes) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

/**
 * What is plotted of a turn: where tool and pads are seen, and the actions once the exact recordings are here.
 * @param {{left: object | null, right: object | null}} traces see viewer/trace.js
 * @param {{left: import("../viewer/recording.js").Recording | null, right: object | null} | null} recordings
 */
export function plotsOf(traces, recordings) {
  if (sidesOf(traces).length === 0) return []; // a turn that failed
  return [...plotsOfMotion(traces), ...(recordings ? plotsOfActions(recordings) : [])];
}

const plot = (label, unit, lines) => ({ label, unit, lines });
const sidesOf = (each) => ["left", "right"].filter((side) => each[side]);

function plotsOfMotion(traces) {
  const lines = (read) => sidesOf(traces).map((side) => ({ side, ...series(traces[side], read) }));
  const tool = (axis) => lines((trace, at) => 1000 * trace.tool[3 * at + axis]);
  return [
    plot(gettext("Tool, forward"), "mm", tool(0)),
    plot(gettext("Tool, to its left"), "mm", tool(1)),
    plot(gettext("Tool, height"), "mm", tool(2)),
    plot(gettext("Gripper opening"), "mm", lines((trace, at) => 1000 * trace.opening[at])),
  ];
}

function plotsOfActions(recordings) {
  const action = (dimension, scale) =>
    sidesOf(recordings).map((side) => ({ side, ...played(recordings[side], dimension, scale), steps: true }));
  return [
    plot(gettext("Action: forward"), "mm", action(0, 1000)),
    plot(gettext("Action: to its left"), "mm", action(1, 1000)),
    plot(gettext("Action: up"), "mm", action(2, 1000)),
    plot(gettext("Action: roll"), "°", action(3, 180 / Math.PI)),
    plot(gettext("Action: pitch"), "°", action(4, 180 / Math.PI)),
    plot(gettext("Action: yaw"), "°", action(5, 180 / Math.PI)),
    plot(gettext("Action: gripper"), gettext("(1 is open)"), action(6, 1)),
  ];
}

function series(trace, read) {
  return { times: trace.times, values: Array.from(trace.times, (_, at) => read(trace, at)), steps: false };
}

/** An action is shown over the step that it was played in, from the record before to its own. */
function played(recording, dimension, scale) {
  const records = Array.from({ length: recording.count }, (_, index) => index);
  const values = records.slice(1).map((index) => scale * recording.action(index)[dimension]);
  return { times: records.map((index) => recording.time(index)), values: [values[0] ?? 0, ...values] };
}
