// The battle's events: a websocket that reconnects by itself, with polling while it is closed.

const FIRST_RETRY = 500;
const LONGEST_RETRY = 10_000;
const POLL_EVERY = 2_000;
const QUIET = 15_000;
/** The same after a chunk, which others follow several times a second. */
const QUIET_WHILE_SHOWN = 2_500;
const REFUSED = 4404;

/**
 * Events: "message" (in `detail`), "connection" (`connected` has changed), "refused" (the battle may not be viewed).
 * @import { BattleJson } from "./wire.d.ts"
 * @import { Message } from "./store.js"
 * @typedef {ReturnType<typeof setTimeout> | undefined} Timer
 */
export class BattleFeed extends EventTarget {
  #url;
  #poll;
  /** @type {WebSocket | null} */
  #socket = null;
  #retry = FIRST_RETRY;
  /** @type {Timer} */
  #retryTimer;
  /** @type {Timer} */
  #pollTimer;
  /** @type {Timer} */
  #quietTimer;
  #closed = false;
  #waiting = false;
  #unreachable = false;

  /**
   * @param {string} url of the websocket
   * @param {() => Promise<BattleJson>} poll fetches a snapshot when there is no socket
   */
  constructor(url, poll) {
    super();
    this.#url = url;
    this.#poll = poll;
    /** @type {boolean | null} null until the first attempt has ended one way or the other */
    this.connected = null;
    this.#connect();
  }

  /** Requests a snapshot by socket or by polling. */
  ask() {
    if (this.connected) this.#socket?.send(JSON.stringify({ type: "snapshot" }));
    else this.#pollOnce();
  }

  /**
   * Sets whether a message is expected. The last message of a turn may be lost although the socket stays open, and no
   * later one reveals the gap. A socket that is silent for long is therefore probed, and closed if it does not answer.
   * @param {boolean} waiting
   */
  set waiting(waiting) {
    if (waiting === this.#waiting) return;
    this.#waiting = waiting;
    this.#listen();
  }

  dispose() {
    this.#closed = true;
    clearTimeout(this.#quietTimer);
    clearTimeout(this.#retryTimer);
    clearInterval(this.#pollTimer);
    this.#socket?.close();
  }

  #connect() {
    const socket = new WebSocket(this.#url);
    this.#socket = socket;
    socket.addEventListener("message", ({ data }) => {
      if (socket !== this.#socket) return;
      // A socket counts as connected after its first message: it might close right after opening.
      this.#retry = FIRST_RETRY;
      this.#setConnected(true);
      const message = JSON.parse(data);
      this.#listen("seq" in message || message.type === "snapshot" ? QUIET : QUIET_WHILE_SHOWN);
      this.#tell(message);
    });
    socket.addEventListener("close", ({ code }) => {
      if (this.#closed || socket !== this.#socket) return;
      this.#socket = null;
      if (code === REFUSED) this.#onlyPoll();
      else this.#lost();
    });
  }

  /** Restarts the timer for silence. @param {number} quiet the longest silence before the socket is probed [ms] */
  #listen(quiet = QUIET) {
    clearTimeout(this.#quietTimer);
    if (!this.#waiting || !this.connected || this.#closed) return;
    this.#quietTimer = setTimeout(() => {
      this.ask();
      this.#quietTimer = setTimeout(() => this.#drop(), quiet);
    }, quiet);
  }

  /** Polls from now on: the socket is for the owner only, so staff follow the battle this way. */
  #onlyPoll() {
    this.connected = false;
    this.#pollTimer ??= setInterval(() => this.#pollOnce(), POLL_EVERY);
  }

  /** Gives up a socket that does not answer, without waiting for its farewell, which may never come. */
  #drop() {
    const socket = this.#socket;
    this.#socket = null;
    socket?.close();
    this.#lost();
  }

  #lost() {
    this.#reconnectLater();
    this.#setConnected(false);
    this.#listen();
  }

  /** The server can be reached again. */
  #reconnectNow() {
    if (this.#retryTimer === undefined || this.#closed) return;
    clearTimeout(this.#retryTimer);
    this.#retryTimer = undefined;
    this.#connect();
  }

  #reconnectLater() {
    const wait = this.#retry * (0.75 + Math.random() / 2);
    this.#retry = Math.min(2 * this.#retry, LONGEST_RETRY);
    this.#retryTimer = setTimeout(() => this.#reconnectNow(), wait);
  }

  /** @param {boolean} connected */
  #setConnected(connected) {
    if (connected === this.connected) return;
    this.connected = connected;
    clearInterval(this.#pollTimer);
    this.#pollTimer = connected ? undefined : setInterval(() => this.#pollOnce(), POLL_EVERY);
    this.dispatchEvent(new Event("connection"));
  }

  async #pollOnce() {
    try {
      this.#tell({ type: "snapshot", battle: await this.#poll() });
      if (this.#unreachable) this.#reconnectNow();
      this.#unreachable = false;
    } catch (error) {
      this.#unreachable = true;
      if (/** @type {{status?: number}} */ (error).status === 404) this.dispatchEvent(new Event("refused"));
      // Any other error: still unreachable, as the page shows already. The next poll follows.
    }
  }

  /** @param {Message} message */
  #tell(message) {
    if (!this.#closed) this.dispatchEvent(new CustomEvent("message", { detail: message }));
  }
}
