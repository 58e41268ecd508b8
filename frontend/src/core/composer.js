// The instruction box: suggestions, the start of a follow-up turn, and the reason if sending is disabled.

import { closest, part } from "./dom.js";
import { characters, ofKind, sayTooLong } from "./words.js";

/**
 * @typedef {object} Manner
 * @property {"continue" | "reset"} start of a follow-up turn
 * @property {boolean} several whether a new battle has several starts
 */

export class Composer {
  #form;
  #input;
  #restart;
  #starts;
  #sending = false;
  /** @type {string | null} */
  #blocked = null;

  /**
   * @param {HTMLElement} form
   * @param {(instruction: string, manner: Manner) => Promise<boolean>} send resolves to true when sent
   */
  constructor(form, send) {
    this.#form = form;
    this.#input = control(form, "instruction");
    this.#restart = part(form, "restart");
    this.#starts = part(form, "starts");
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit(send);
    });
    form.addEventListener("click", (event) => {
      const { suggestion } = closest(event, "[data-suggestion]")?.dataset ?? {};
      if (suggestion) this.suggest(suggestion);
    });
    this.#input.addEventListener("input", () => this.#input.setCustomValidity(""));
  }

  focus() {
    this.#input.focus();
  }

  /** @param {string} text */
  suggest(text) {
    this.#input.value = text;
    this.#form.querySelector("details")?.removeAttribute("open");
    this.focus();
  }

  /** @param {{phase: import("./phase.js").Phase, several: boolean, canVote: boolean, blocked: string | null}} view */
  render({ phase, several, canVote, blocked }) {
    this.#blocked = blocked;
    part(this.#form, "send").setAttribute("aria-disabled", String(blocked !== null));
    part(this.#form, "send-why").textContent = blocked ?? "";
    this.#restart.hidden = phase !== "settled" || several;
    this.#starts.hidden = !("offered" in this.#starts.dataset) || !["idle", "voted", "abandoned"].includes(phase);
    const settled = several ? "after" : canVote ? "settled" : "again";
    const name = phase === "settled" ? settled : phase === "voted" || phase === "abandoned" ? phase : "idle";
    part(this.#form, "composer-label").textContent = ofKind().instructionLabels[name];
  }

  /**
   * Why the server would refuse an instruction; "" if it would not.
   * @param {string} instruction
   */
  #faultOf(instruction) {
    if (instruction === "") return ofKind().emptyInstruction;
    const longest = Number(this.#input.dataset.longest);
    return characters(instruction) > longest ? sayTooLong(longest) : "";
  }

  /** @param {(instruction: string, manner: Manner) => Promise<boolean>} send */
  async #submit(send) {
    const instruction = this.#input.value.trim();
    if (this.#blocked !== null || this.#sending) return;
    const fault = this.#faultOf(instruction);
    if (fault !== "") {
      this.#input.setCustomValidity(fault);
      this.#input.reportValidity();
      return;
    }
    const again = control(this.#form, "restart");
    const start = !this.#restart.hidden && again.checked ? "reset" : "continue";
    const several = !this.#starts.hidden && control(this.#form, "starts").checked;
    this.#sending = true;
    try {
      if (!(await send(instruction, { start, several }))) return;
      this.#input.value = "";
      again.checked = false;
    } finally {
      this.#sending = false;
    }
  }
}

/** @param {HTMLElement} form @param {string} name */
const control = (form, name) => /** @type {HTMLInputElement} */ (form.querySelector(`[name=${name}]`));
