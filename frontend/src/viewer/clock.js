// One clock for both viewers. It knows seconds and records, no drawing and no wall time: `advance` is told how much passed.

export const SPEEDS = [0.25, 0.5, 1, 2, 4];

export class Clock extends EventTarget {
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
  }

  /** Index of the record at or before now. */
  get record() {
    return Math.floor(this.time / this.period + 1e-6);
  }

  get lastRecord() {
    return Math.round(this.duration / this.period);
  }

  /** Reached what there is, while more is on its way. */
  get waiting() {
    return this.growing && this.playing && this.time >= this.duration;
  }

  /** `growing`: more will come (a live turn), so the end is a place to wait, not to stop. */
  extend(duration, growing) {
    this.duration = duration;
    this.growing = growing;
    this.time = Math.min(this.time, duration);
    this.#tell();
  }

  play() {
    if (!this.growing && this.time >= this.duration) this.time = 0;
    this.playing = this.duration > 0 || this.growing;
    this.#tell();
  }

  pause() {
    this.playing = false;
    this.#tell();
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  seek(time) {
    this.time = clamp(time, 0, this.duration);
    this.#tell();
  }

  /** Pauses on the record `count` away from the one shown. */
  step(count) {
    this.playing = false;
    const between = this.time - this.record * this.period > 1e-6;
    this.seek((this.record + count + (between && count < 0 ? 1 : 0)) * this.period);
  }

  setSpeed(speed) {
    if (!(speed > 0)) throw new RangeError(`a speed is above 0, got ${speed}`);
    this.speed = speed;
    this.#tell();
  }

  setLoop(loop) {
    this.loop = loop;
    this.#tell();
  }

  reset() {
    this.time = 0;
    this.duration = 0;
    this.playing = false;
    this.growing = false;
    this.#tell();
  }

  /** @param {number} seconds of wall time since the last call */
  advance(seconds) {
    if (!this.playing || seconds <= 0) return;
    const time = this.time + seconds * this.speed;
    if (time < this.duration) this.time = time;
    else if (this.growing) this.time = this.duration;
    else if (this.loop && this.duration > 0) this.time = time % this.duration;
    else {
      this.time = this.duration;
      this.playing = false;
    }
    this.#tell();
  }

  #tell() {
    this.dispatchEvent(new Event("change"));
  }
}

function clamp(value, low, high) {
  return Math.min(Math.max(value, low), high);
}
