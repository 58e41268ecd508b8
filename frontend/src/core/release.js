// The released part of a running turn by this browser's clock, which may be wrong by hours.

/** The longest time from the first message on a release to its beginning [ms]. */
const FARTHEST = 10_000;

/** @typedef {Pick<import("./wire.d.ts").TurnJson, "turn_id" | "release_from" | "step_s" | "max_steps">} ReleasedTurn */

export class Release {
  /**
   * @type {Map<string, {start: number, last: number | null}>} when a turn's start is released [ms], and the last step that came
   */
  #known = new Map();
  #now;

  /** @param {() => number} now this browser's clock [ms] */
  constructor(now = Date.now) {
    this.#now = now;
  }

  /**
   * Registers a turn of the battle. The server sends the beginning of its release; if this clock makes that impossible,
   * the nearest possible time is used.
   * @param {ReleasedTurn} turn @param {{justNow?: boolean}} options `justNow`: both sides have started in this moment
   */
  hear({ turn_id, release_from, step_s, max_steps }, { justNow = false } = {}) {
    if (!release_from) this.#known.delete(turn_id);
    if (!release_from || this.#known.has(turn_id)) return;
    const now = this.#now();
    const longestAgo = justNow ? 0 : 1000 * step_s * max_steps;
    const start = Math.min(Math.max(Date.parse(release_from), now - longestAgo), now + FARTHEST);
    this.#known.set(turn_id, { start, last: null });
  }

  /** Registers the arrival of a step, which therefore is released. @param {ReleasedTurn} turn @param {number} step */
  came({ turn_id, step_s }, step) {
    this.#known.set(turn_id, { start: this.#now() - 1000 * step_s * step, last: step });
  }

  /**
   * @param {ReleasedTurn} turn
   * @param {boolean} hearing whether chunks can come: then the last that came says more than any clock, and none nothing
   * @returns {number | null} the last step released; null before the first
   */
  step({ turn_id, step_s, max_steps }, hearing) {
    const known = this.#known.get(turn_id);
    if (!known) return null;
    if (hearing) return known.last;
    const step = Math.floor((this.#now() - known.start) / (1000 * step_s));
    return step < 0 ? null : Math.min(step, max_steps);
  }
}
