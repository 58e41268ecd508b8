// The socket of a call. A connection that is lost is taken up again for as long as the server waits.

const RETRY_MS = 1000;
const WITHIN_MS = 10_000;

/**
 * @typedef {{type: "started" | "resumed", position_ms: number, most_seconds: number, most_turns: number}} Started
 * @typedef {{type: "said", role: "caller" | "agent", text: string}} Said
 * @typedef {{type: "ended", reason: string, again: boolean}} Ended
 * @typedef {{type: "error", code: string, detail: string}} Refused
 * @typedef {Started | Said | Ended | Refused | {type: "clear"}} Message
 */

export class Line {
  #url;
  #take;
  /** @type {WebSocket | null} */
  #socket = null;
  #over = false;
  /** When the connection was lost; null while there is one. @type {number | null} */
  #lostAt = null;

  /** @param {string} url @param {{message: (message: Message) => void, audio: (piece: Int16Array) => void, lost: (forGood: boolean) => void}} take */
  constructor(url, take) {
    this.#url = url;
    this.#take = take;
    this.#open();
  }

  #open() {
    const socket = new WebSocket(this.#url);
    socket.binaryType = "arraybuffer";
    this.#socket = socket;
    socket.addEventListener("message", ({ data }) => this.#heard(data));
    socket.addEventListener("close", () => this.#closed());
  }

  /** @param {string | ArrayBuffer} data */
  #heard(data) {
    this.#lostAt = null;
    if (typeof data !== "string") return this.#take.audio(new Int16Array(data));
    const message = /** @type {Message} */ (JSON.parse(data));
    if (message.type === "ended" || message.type === "error") this.#over = true;
    this.#take.message(message);
  }

  #closed() {
    if (this.#over) return;
    this.#lostAt ??= performance.now();
    const forGood = performance.now() - this.#lostAt > WITHIN_MS;
    this.#over = forGood;
    this.#take.lost(forGood);
    if (!forGood) setTimeout(() => this.#over || this.#open(), RETRY_MS);
  }

  /** @param {Int16Array} piece */
  speak(piece) {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(/** @type {ArrayBufferView<ArrayBuffer>} */ (piece));
  }

  /** @param {object} message */
  tell(message) {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  close() {
    this.#over = true;
    this.#socket?.close();
  }
}
