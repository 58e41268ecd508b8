// One clock for both viewers, in seconds and records. It does not read the wall time: `advance` gets the elapsed time.

export const SPEEDS = [0.25, 0.5, 1, 2, 4];

/**
 * How long live playback holds the rows that it has before it starts [s of wall time], so that rows that come late
 * interrupt no motion. Each interruption doubles it, each turn halves it.
 */
const LEAST_MARGIN = 0.08;
const MOST_MARGIN = 0.64;
/** A clock farther behind than this [s of wall time], as after time in a hidden tab, jumps to the live edge. */
const LOST = 1.5;

export class Clock extends EventTarget {
  #filling = false;
  #held = 0;
  #margin = LEAST_MARGIN;
  #disposed = false;

  /** @param {number} period seconds between two records */
  constructor(period) {
    super();
    this.period = period;
    this.time = 0;
    this.duration = 0;
    this.playing = false;
    this.loop = false;
    this.speed = 1;
    this.growing = false;
    /** Whether it follows the live edge; only while the turn grows. */
    this.live = false;
    /** Seconds of recording per second of wall time of a live turn. */
    this.pace = 1;
  }

  /** Index of the record at or before now. */
  get record() {
    return Math.floor(this.time / this.period + 1e-6);
  }

  get lastRecord() {
    return Math.round(this.duration / this.period);
  }

  /** Whether playback waits for more rows. */
  get waiting() {
    return this.growing && this.playing && (this.#filling || this.time >= this.duration);
  }

  /**
   * `growing`: more rows will come (a live turn), so the clock waits at the end instead of stopping.
   * @param {number} duration @param {boolean} growing
   */
  extend(duration, growing) {
    this.duration = duration;
    this.growing = growing;
    this.live &&= growing;
    this.time = Math.min(this.time, duration);
    this.#tell();
  }

  /** Follow the live edge. */
  follow() {
    this.live = this.growing;
    this.playing = true;
    this.#margin = Math.max(LEAST_MARGIN, this.#margin / 2);
    this.#fill(this.live);
    this.#tell();
  }

  play() {
    if (!this.growing && this.time >= this.duration) this.time = 0;
    this.playing = this.duration > 0 || this.growing;
    this.#tell();
  }

  pause() {
    this.#stop();
    this.#tell();
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  /** @param {number} time */
  seek(time) {
    this.live = false;
    this.time = clamp(time, 0, this.duration);
    this.#tell();
  }

  /** Pauses on the record `count` records away from the current one. @param {number} count */
  step(count) {
    this.#stop();
    const between = this.time - this.record * this.period > 1e-6;
    this.seek((this.record + count + (between && count < 0 ? 1 : 0)) * this.period);
  }

  /** @param {number} speed */
  setSpeed(speed) {
    if (!(speed > 0)) throw new RangeError(`a speed is above 0, got ${speed}`);
    this.speed = speed;
    this.#tell();
  }

  /** @param {boolean} loop */
  setLoop(loop) {
    this.loop = loop;
    this.#tell();
  }

  reset() {
    this.time = 0;
    this.duration = 0;
    this.playing = false;
    this.growing = false;
    this.#stop();
    this.#tell();
  }

  /** Stops the clock and its events. */
  dispose() {
    this.playing = false;
    this.#disposed = true;
  }

  /** @param {number} seconds of wall time since the last call */
  advance(seconds) {
    if (!this.playing || seconds <= 0) return;
    const { time: before, playing } = this;
    if (this.live) this.#advanceLive(seconds);
    else this.#advance(seconds);
    // Waiting for the next step changes nothing, so nothing is redrawn and the processor is left to the robots.
    if (this.time !== before || this.playing !== playing) this.#tell();
  }

  /** @param {number} seconds */
  #advance(seconds) {
    const time = this.time + seconds * this.speed;
    if (time < this.duration) this.time = time;
    else if (this.growing) this.time = this.duration;
    else if (this.loop && this.duration > 0) this.time = time % this.duration;
    else {
      this.time = this.duration;
      this.playing = false;
    }
  }

  /** @param {number} seconds */
  #advanceLive(seconds) {
    const behind = (this.duration - this.time) / this.pace;
    if (behind > LOST) this.time = this.duration - this.#margin * this.pace;
    else if (this.#filling && !this.#isReady(behind, seconds)) return;
    this.time = Math.min(this.time + seconds * this.pace, this.duration);
    this.#fill(this.time === this.duration);
    if (this.#filling) this.#margin = Math.min(MOST_MARGIN, 2 * this.#margin);
  }

  /** @param {number} behind @param {number} seconds */
  #isReady(behind, seconds) {
    if (behind > 0) this.#held += seconds;
    return this.#held >= this.#margin;
  }

  /** @param {boolean} filling */
  #fill(filling) {
    this.#filling = filling;
    this.#held = 0;
  }

  #stop() {
    this.playing = false;
    this.live = false;
  }

  #tell() {
    if (!this.#disposed) this.dispatchEvent(new Event("change"));
  }
}

/** @param {number} value @param {number} low @param {number} high */
function clamp(value, low, high) {
  return Math.min(Math.max(value, low), high);
}
