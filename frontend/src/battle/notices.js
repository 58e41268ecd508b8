// Sentences at the top of the page: what failed, a lost connection, engines that differ.

import { gettext } from "../i18n.js";

const PATIENCE = 2_000;

export class Notices {
  #root;
  #timer = null;
  #retry = undefined;

  constructor(root) {
    this.#root = root;
    this.#part("error-close").addEventListener("click", () => this.clear());
    this.#part("error-retry").addEventListener("click", () => {
      this.clear();
      this.#retry();
    });
  }

  /** @param {string} text @param {{code?: string, retry?: () => void}} options `retry`: offered as a button */
  error(text, { code, retry } = {}) {
    this.#retry = retry;
    this.#part("error-retry").hidden = !retry;
    this.#part("error-text").textContent = text;
    this.#part("error").hidden = false;
    this.#part("error").dataset.code = code ?? "";
  }

  clear() {
    this.#part("error").hidden = true;
  }

  /** A short hiccup is not worth a word. */
  connection(connected) {
    clearTimeout(this.#timer);
    if (connected) this.#part("connection").hidden = true;
    else this.#timer = setTimeout(() => (this.#part("connection").hidden = false), PATIENCE);
  }

  /** @param {{recorded: string, here: string} | null} mismatch */
  engine(mismatch) {
    this.#part("engine").hidden = mismatch === null;
    if (mismatch) {
      this.#part("engine").textContent = gettext(
        "Recorded with MuJoCo %(recorded)s but shown by %(here)s: positions may differ slightly.",
        mismatch,
      );
    }
  }

  #part(name) {
    return this.#root.querySelector(`[data-part=${name}]`);
  }
}
