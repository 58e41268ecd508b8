// A vote that is held for some seconds, in which it can be taken back, and then sent.

/** How often the seconds left are told [ms]. */
const TELL_EVERY = 200;

/**
 * @typedef {object} Held
 * @property {string} battleId the battle that was open when the vote was given
 * @property {string} vote
 */

export class VoteHold {
  #seconds;
  #send;
  #changed;
  /** @type {Held | null} */
  #held = null;
  #ends = 0;
  /** @type {import("./socket.js").Timer} */
  #end;
  /** @type {import("./socket.js").Timer} */
  #telling;

  /**
   * @param {number} seconds
   * @param {{send: (held: Held) => Promise<boolean>, changed: () => void}} on `send` resolves to whether it was accepted;
   * `changed`: another vote is held, or none, or another number of seconds is left
   */
  constructor(seconds, { send, changed }) {
    this.#seconds = seconds;
    this.#send = send;
    this.#changed = changed;
  }

  get held() {
    return this.#held;
  }

  /** Whole seconds until it is sent. */
  get left() {
    return this.#held ? Math.max(1, Math.ceil((this.#ends - performance.now()) / 1000)) : 0;
  }

  /** Holds a vote. One that is held already is replaced, and its seconds begin anew. @param {Held} vote */
  hold(vote) {
    if (this.#held?.vote === vote.vote && this.#held.battleId === vote.battleId) return;
    this.#stop();
    this.#held = vote;
    this.#ends = performance.now() + 1000 * this.#seconds;
    this.#end = setTimeout(() => this.flush(), 1000 * this.#seconds);
    this.#telling = setInterval(() => this.#changed(), TELL_EVERY);
    this.#changed();
  }

  /** Takes the vote back, which is then sent nowhere. @returns {Held | null} it */
  take() {
    const held = this.#held;
    this.#stop();
    if (held) this.#changed();
    return held;
  }

  /** Sends the held vote now. @returns {Promise<boolean | null>} whether it was accepted; null if none was held */
  async flush() {
    const held = this.take();
    return held ? this.#send(held) : null;
  }

  #stop() {
    clearTimeout(this.#end);
    clearInterval(this.#telling);
    this.#held = null;
  }
}
