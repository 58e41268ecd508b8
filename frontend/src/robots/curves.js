// Small plots of both sides, one above the other, with the clock's cursor through all of them.

import { closest } from "../core/dom.js";
import { gettext } from "../core/i18n.js";
import { SIDES } from "../viewer/sides.js";

/**
 * @import { Manifest } from "../viewer/manifest.d.ts"
 * @import { Recording } from "../viewer/recording.js"
 * @import { BySide, Side } from "../viewer/sides.js"
 * @import { Trace } from "../viewer/trace.js"
 * @typedef {{times: ArrayLike<number>, values: number[], steps: boolean}} Series `steps`: held from one instant to the next
 * @typedef {Series & {side: Side}} Line
 * @typedef {{label: string, unit: string, lines: Line[]}} Plot
 */

const SVG = "http://www.w3.org/2000/svg";
const [WIDTH, HEIGHT, PAD] = [300, 64, 4];

export class Curves {
  #root;
  /** @type {SVGElement[]} */
  #cursors = [];
  #duration = 1;

  /** @param {HTMLElement} root @param {(time: number) => void} seek */
  constructor(root, seek) {
    this.#root = root;
    root.addEventListener("pointerdown", (event) => this.#point(event, seek));
    root.addEventListener("pointermove", (event) => event.buttons === 1 && this.#point(event, seek));
  }

  /** @param {Plot[]} plots @param {number | undefined} duration [s] */
  draw(plots, duration) {
    this.#duration = duration || 1;
    this.#cursors = [];
    this.#root.replaceChildren(...plots.map((plot) => this.#plot(plot)));
  }

  /** @param {number} time [s] */
  moveTo(time) {
    const x = (WIDTH * Math.min(time, this.#duration)) / this.#duration;
    for (const cursor of this.#cursors) cursor.setAttribute("transform", `translate(${x.toFixed(2)} 0)`);
  }

  /** @param {PointerEvent} event @param {(time: number) => void} seek */
  #point(event, seek) {
    const plot = closest(event, "svg");
    if (!plot) return;
    const { left, width } = plot.getBoundingClientRect();
    seek((this.#duration * Math.min(Math.max(event.clientX - left, 0), width)) / width);
  }

  /** @param {Plot} plot */
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

  /** @param {Line} line @param {number} low @param {number} high */
  #line({ side, times, values, steps }, low, high) {
    const points = [];
    const y = (/** @type {number} */ value) => (HEIGHT - PAD - ((HEIGHT - 2 * PAD) * (value - low)) / (high - low)).toFixed(1);
    const x = (/** @type {number} */ time) => ((WIDTH * time) / this.#duration).toFixed(1);
    for (let i = 0; i < values.length; i += 1) {
      if (steps && i > 0) points.push(`${x(times[i])},${y(values[i - 1])}`);
      points.push(`${x(times[i])},${y(values[i])}`);
    }
    return element("polyline", { class: `curve curve-${side}`, points: points.join(" ") });
  }
}

/** The least range of a plot, in its unit: a line with a smaller range is drawn in the middle. */
const NO_CHANGE = 0.01;

/** @param {Line[]} lines */
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

/** @param {number} low @param {number} high @param {string} unit */
function rangeText(low, high, unit) {
  const digits = Math.max(Math.abs(low), Math.abs(high)) >= 100 ? 0 : high - low < 1 ? 2 : 1;
  const say = (/** @type {number} */ value) => value.toFixed(digits).replace(/^-(0(?:\.0*)?)$/, "$1");
  return gettext("%(low)s to %(high)s %(unit)s", { low: say(low), high: say(high), unit });
}

/** @param {string} name @param {Record<string, string | number>} attributes @returns {SVGElement} */
function element(name, attributes) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  return made;
}

/**
 * The plots of a turn: positions of tool and pads, and the actions once the exact recordings are loaded.
 * @param {BySide<Trace | null>} traces @param {BySide<Recording | null> | null} recordings
 * @param {Pick<Manifest, "pads" | "action" | "action_space">} robot
 * @returns {Plot[]}
 */
export function plotsOf(traces, recordings, robot) {
  if (!traces.left && !traces.right) return []; // a turn that failed
  return [...plotsOfMotion(traces, robot.pads.length > 0), ...(recordings ? plotsOfActions(recordings, robot) : [])];
}

/** @param {string} label @param {string} unit @param {Line[]} lines @returns {Plot} */
const plot = (label, unit, lines) => ({ label, unit, lines });

/**
 * The lines of the sides that have data.
 * @template T @param {BySide<T | null>} each @param {(of: T) => Series} read
 */
const linesOf = (each, read) =>
  SIDES.flatMap((side) => {
    const of = each[side];
    return of === null ? [] : [{ side, ...read(of) }];
  });

/** @param {BySide<Trace | null>} traces @param {boolean} grips whether the robot has a gripper */
function plotsOfMotion(traces, grips) {
  /** @param {(trace: Trace, at: number) => number} read */
  const lines = (read) => linesOf(traces, (trace) => series(trace, read));
  const tool = (/** @type {number} */ axis) => lines((trace, at) => 1000 * trace.tool[3 * at + axis]);
  return [
    plot(gettext("Gripper: forward"), "mm", tool(0)),
    plot(gettext("Gripper: left"), "mm", tool(1)),
    plot(gettext("Gripper: height"), "mm", tool(2)),
    ...(grips ? [plot(gettext("Gripper opening"), "mm", lines((trace, at) => 1000 * trace.opening[at]))] : []),
  ];
}

/** The actions that have plots of their own; those of others are named as the robot names them. */
const BRIDGE = "eef_delta_bridge7";

/** @param {BySide<Recording | null>} recordings @param {Pick<Manifest, "action" | "action_space">} robot */
function plotsOfActions(recordings, robot) {
  const action = (/** @type {number} */ dimension, /** @type {number} */ scale) =>
    linesOf(recordings, (recording) => played(recording, dimension, scale));
  if (robot.action_space !== BRIDGE) {
    return robot.action.map(({ name, unit }, dimension) => plot(gettext("Action: %(name)s", { name }), unit, action(dimension, 1)));
  }
  return [
    plot(gettext("Action: forward"), "mm", action(0, 1000)),
    plot(gettext("Action: left"), "mm", action(1, 1000)),
    plot(gettext("Action: up"), "mm", action(2, 1000)),
    plot(gettext("Action: roll"), "°", action(3, 180 / Math.PI)),
    plot(gettext("Action: pitch"), "°", action(4, 180 / Math.PI)),
    plot(gettext("Action: yaw"), "°", action(5, 180 / Math.PI)),
    plot(gettext("Action: gripper"), gettext("(1 is open)"), action(6, 1)),
  ];
}

/** @param {Trace} trace @param {(trace: Trace, at: number) => number} read @returns {Series} */
function series(trace, read) {
  return { times: trace.times, values: Array.from(trace.times, (_, at) => read(trace, at)), steps: false };
}

/**
 * An action is drawn over its control step, from the record before to its own.
 * @param {Recording} recording @param {number} dimension @param {number} scale @returns {Series}
 */
function played(recording, dimension, scale) {
  const records = Array.from({ length: recording.count }, (_, index) => index);
  const values = records.slice(1).map((index) => scale * recording.action(index)[dimension]);
  return { times: records.map((index) => recording.time(index)), values: [values[0] ?? 0, ...values], steps: true };
}
