// Notices at the top of the page: failures and a lost connection.

import { part } from "./dom.js";

/** A shorter loss of the connection is not reported [ms]. */
const HICCUP = 2_000;

export class Notices {
  #root;
  /** @type {import("./socket.js").Timer} */
  #timer;
  /** @type {(() => void) | undefined} */
  #retry;

  /** @param {HTMLElement} root */
  constructor(root) {
    this.#root = root;
    part(root, "error-close").addEventListener("click", () => this.clear());
    part(root, "error-retry").addEventListener("click", () => {
      this.clear();
      this.#retry?.();
    });
  }

  /** @param {string} text @param {{code: string, retry?: () => void}} options `retry`: offered as a button */
  error(text, { code, retry }) {
    this.#retry = retry;
    part(this.#root, "error-retry").hidden = !retry;
    part(this.#root, "error-text").textContent = text;
    part(this.#root, "error").hidden = false;
    part(this.#root, "error").dataset.code = code;
  }

  clear() {
    part(this.#root, "error").hidden = true;
  }

  /** @param {boolean | null} connected */
  connection(connected) {
    clearTimeout(this.#timer);
    const notice = part(this.#root, "connection");
    if (connected) notice.hidden = true;
    else this.#timer = setTimeout(() => (notice.hidden = false), HICCUP);
  }
}
