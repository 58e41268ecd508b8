// The visible track of a turn from `view.bin` or live frames: rows of positions, rounded below what an eye can see.

import { quaternionAddresses } from "./interpolate.js";

const BYTES = 2;

/**
 * @typedef {object} ViewFormat how rows are written
 * @property {number} rate rows per second
 * @property {number} rowsPerStep rows per control step
 * @property {number[]} scale (nq) the size of one unit of a column [m, rad, or 1]
 * @property {number[]} quaternions columns where a quaternion (w, x, y, z) starts
 */

/**
 * @param {Pick<import("./manifest.d.ts").Manifest, "view">} manifest @param {import("./interpolate.js").Joint[]} joints
 * @returns {ViewFormat}
 */
export function viewFormatOf({ view }, joints) {
  return { rate: view.rate_hz, rowsPerStep: view.rows_per_step, scale: view.scale, quaternions: quaternionAddresses(joints) };
}

/** One side of one turn: row k shows the positions k / rate seconds after its start. It may grow. */
export class Track {
  #format;
  /** @type {Float64Array[]} */
  #rows = [];
  /** @type {Set<number>} */
  #missing = new Set();

  /** @param {ViewFormat} format */
  constructor(format) {
    this.#format = format;
  }

  get rate() {
    return this.#format.rate;
  }

  /** The number of rows, substitutes for missed ones included. */
  get count() {
    return this.#rows.length;
  }

  /** The number of control steps reached. */
  get steps() {
    return Math.floor(Math.max(0, this.count - 1) / this.#format.rowsPerStep);
  }

  /** Seconds from the first row to the last. */
  get duration() {
    return Math.max(0, this.count - 1) / this.rate;
  }

  /** Whether no row up to the last was missed. */
  get whole() {
    return this.count > 0 && this.#missing.size === 0;
  }

  /** Positions (nq) [m, rad]; quaternions have length one. @param {number} index */
  qpos(index) {
    return this.#rows[index];
  }

  /** Positions where a control step ended; 0 is the start. @param {number} step */
  atStep(step) {
    return this.qpos(Math.min(step * this.#format.rowsPerStep, this.count - 1));
  }

  /**
   * Adds rows from index `from` on. Known rows are kept. Missed ones before `from` are substituted by the row before
   * them, or else the one after, until they arrive.
   * @param {number} from @param {Int16Array} units whole rows
   */
  put(from, units) {
    const width = this.#format.scale.length;
    if (units.length === 0 || units.length % width !== 0) {
      throw new RangeError(`rows have ${width} numbers each; got ${units.length}`);
    }
    for (let at = 0; at < units.length; at += width) this.#set(from + at / width, units.subarray(at, at + width));
  }

  /** @param {number} index @param {Int16Array} units one row */
  #set(index, units) {
    if (index < this.count && !this.#missing.delete(index)) return;
    const row = toPositions(units, this.#format);
    const standIn = this.#rows.at(-1) ?? row;
    while (this.count < index) {
      this.#missing.add(this.count);
      this.#rows.push(standIn);
    }
    this.#rows[index] = row;
  }
}

/** A whole recording. @param {ArrayBuffer} buffer `view.bin` @param {ViewFormat} format @returns {Track} */
export function decodeView(buffer, format) {
  const rowBytes = BYTES * format.scale.length;
  if (buffer.byteLength === 0 || buffer.byteLength % rowBytes !== 0) {
    throw new RangeError(`a view is rows of ${format.scale.length} int16 (${rowBytes} bytes); got ${buffer.byteLength} bytes`);
  }
  const track = new Track(format);
  track.put(0, toInt16s(buffer));
  return track;
}

/** The positions (nq) [m, rad] of one row. @param {string} text base64 @param {ViewFormat} format */
export function decodeRow(text, format) {
  const track = new Track(format);
  track.put(0, decodeFrame(text));
  return track.qpos(0);
}

/** The rows of a live frame. Throws a TypeError for invalid text. @param {string} text base64 @returns {Int16Array} */
export function decodeFrame(text) {
  const bytes = Uint8Array.from(fromBase64(text), (each) => each.charCodeAt(0));
  if (bytes.length === 0 || bytes.length % BYTES !== 0) throw new TypeError("a frame is at least one int16");
  return toInt16s(bytes.buffer);
}

/** @param {string} text */
function fromBase64(text) {
  if (typeof text !== "string") throw new TypeError("a frame is a string");
  try {
    return atob(text);
  } catch {
    throw new TypeError("a frame is base64");
  }
}

/** Reads little-endian numbers on any machine. @param {ArrayBuffer} buffer */
function toInt16s(buffer) {
  const view = new DataView(buffer);
  return Int16Array.from({ length: buffer.byteLength / BYTES }, (_, i) => view.getInt16(BYTES * i, true));
}

/** @param {Int16Array} units @param {ViewFormat} format */
function toPositions(units, { scale, quaternions }) {
  const qpos = Float64Array.from(units, (unit, column) => unit * scale[column]);
  for (const at of quaternions) {
    const norm = Math.hypot(...qpos.subarray(at, at + 4)) || 1;
    for (let i = at; i < at + 4; i += 1) qpos[i] /= norm;
  }
  return qpos;
}
