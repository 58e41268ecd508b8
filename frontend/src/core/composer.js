// The instruction box: suggestions, how many words are left, the start of a follow-up turn, and why sending is disabled.

import { closest, part } from "./dom.js";
import { faultOfLength, isNearlyFull, sayLeft } from "./sentence.js";
import { ofKind } from "./words.js";

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
  /** @type {import("./sentence.js").Limit} */
  #limit;
  #sending = false;
  #kept = "";
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
    const { mostWords, longest } = this.#input.dataset;
    this.#limit = { words: mostWords ? Number(mostWords) : null, characters: Number(longest) };
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit(send);
    });
    form.addEventListener("click", (event) => {
      const { suggestion } = closest(event, "[data-suggestion]")?.dataset ?? {};
      if (suggestion) this.suggest(suggestion);
      else if (closest(event, "[data-part=random]")) this.#suggestAny();
    });
    form.addEventListener("toggle", (event) => this.#foldOthers(event), { capture: true }); // it does not bubble
    this.#input.addEventListener("input", () => this.#changed());
    if (this.#input.localName === "textarea") this.#input.addEventListener("keydown", (event) => this.#sendByEnter(event));
    this.#tellLength();
  }

  focus() {
    this.#input.focus();
  }

  /** @param {string} text */
  suggest(text) {
    this.#input.value = text;
    this.#changed();
    this.#fold();
    this.focus();
  }

  /** Puts back what was sent and not carried out, unless something else was written since. @param {string} text */
  putBack(text) {
    if (this.#sending) this.#kept = text; // stopped before the answer to sending it came
    else if (this.#input.value.trim() === "") this.#input.value = text;
    this.focus();
  }

  /** In a box of several lines: with Shift, and on a screen keyboard, Enter makes a line. @param {KeyboardEvent} event */
  #sendByEnter(event) {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || window.matchMedia("(pointer: coarse)").matches) return;
    event.preventDefault();
    /** @type {HTMLFormElement} */ (this.#form).requestSubmit();
  }

  /** Suggests any judged task but the one that stands in the box. */
  #suggestAny() {
    const offered = [...this.#form.querySelectorAll("[data-suggestion]:not([hidden], [data-free] *)")];
    const texts = new Set(offered.map((each) => /** @type {HTMLElement} */ (each).dataset.suggestion ?? ""));
    texts.delete(this.#input.value);
    const text = [...texts][Math.floor(Math.random() * texts.size)];
    if (text) this.suggest(text);
  }

  /** Keeps one category open at a time. @param {Event} event of a `details` */
  #foldOthers({ target }) {
    if (target instanceof HTMLDetailsElement && target.open) this.#fold(target);
  }

  /** @param {HTMLDetailsElement} [but] the category that stays open */
  #fold(but) {
    for (const details of this.#form.querySelectorAll("details[open]")) if (details !== but) details.removeAttribute("open");
  }

  #changed() {
    this.#input.setCustomValidity("");
    this.#tellLength();
  }

  /** Shows what is left; reads it out only once it is little, so that typing stays quiet. */
  #tellLength() {
    const text = this.#input.value.trim();
    const left = sayLeft(text, this.#limit);
    const counter = part(this.#form, "words-left");
    counter.textContent = left;
    const over = faultOfLength(text, this.#limit) !== "";
    counter.dataset.over = String(over);
    this.#input.setAttribute("aria-invalid", String(over));
    part(this.#form, "words-left-said").textContent = isNearlyFull(text, this.#limit) ? left : "";
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
    return instruction === "" ? ofKind().emptyInstruction : faultOfLength(instruction, this.#limit);
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
      this.#input.value = this.#kept;
      this.#changed();
      this.#fold();
      again.checked = false;
    } finally {
      this.#sending = false;
      this.#kept = "";
    }
  }
}

/** @param {HTMLElement} form @param {string} name */
const control = (form, name) => /** @type {HTMLInputElement} */ (form.querySelector(`[name=${name}]`));
