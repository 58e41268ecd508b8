// One clock for both viewers. It knows seconds and records, no drawing and no wall time: `advance` is told how much passed.

export const SPEEDS = [0.25, 0.5, 1, 2, 4];

/** What is new at the live edge is reached in this time [s], so that bursts become motion. */
const CATCH_UP = 0.08;
/** After a live turn its end is held for this long [s] before the recording plays from the start. */
const HOLD = 0.9;

export class Clock extends EventTarget {
  #rate = 0;
  #hold = 0;
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
    /** Follows what is being made, however fast it comes; only while it grows. */
    this.live = false;
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
    if (this.live && this.playing && !growing) this.#hold = HOLD;
    this.duration = duration;
    this.growing = growing;
    this.live &&= growing;
    this.time = Math.min(this.time, duration);
    this.#rate = (duration - this.time) / CATCH_UP;
    this.#tell();
  }

  /** Follows the live edge from now on. */
  follow() {
    this.live = this.growing;
    this.playing = true;
    this.#rate = (this.duration - this.time) / CATCH_UP;
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

  seek(time) {
    this.live = false;
    this.#hold = 0;
    this.time = clamp(time, 0, this.duration);
    this.#tell();
  }

  /** Pauses on the record `count` away from the one shown. */
  step(count) {
    this.#stop();
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
    this.#stop();
    this.#tell();
  }

  /** From now on it stands still and tells nobody. */
  dispose() {
    this.playing = false;
    this.#disposed = true;
  }

  /** @param {number} seconds of wall time since the last call */
  advance(seconds) {
    if (!this.playing || seconds <= 0) return;
    const { time: before, playing } = this;
    const rate = this.live || this.#hold > 0 ? Math.max(this.#rate, 1) : this.speed;
    const time = this.time + seconds * rate;
    if (time < this.duration) this.time = time;
    else if (this.growing) this.time = this.duration;
    else if (this.#hold > 0) this.#holdEnd(seconds);
    else if (this.loop && this.duration > 0) this.time = time % this.duration;
    else {
      this.time = this.duration;
      this.playing = false;
    }
    // Waiting for the next step is no change: nothing is drawn anew, and the machine has its strength for the robots.
    if (this.time !== before || this.playing !== playing) this.#tell();
  }

  #holdEnd(seconds) {
    this.time = this.duration;
    this.#hold -= seconds;
    if (this.#hold <= 0) this.time = 0;
  }

  #stop() {
    this.playing = false;
    this.live = false;
    this.#hold = 0;
  }

  #tell() {
    if (!this.#disposed) this.dispatchEvent(new Event("change"));
  }
}

function clamp(value, low, high) {
  return Math.min(Math.max(value, low), high);
}
