// The instruction box: suggestions, the start of a follow-up turn, and why sending is closed.

import { gettext } from "../i18n.js";
import { characters, sayTooLong } from "./words.js";

export class Composer {
  #form;
  #input;
  #button;
  #why;
  #restart;
  #sending = false;

  /** @param {HTMLFormElement} form @param {(instruction: string, start: string) => Promise<boolean>} send true: sent */
  constructor(form, send) {
    this.#form = form;
    this.#input = form.elements.instruction;
    this.#button = form.querySelector("[data-part=send]");
    this.#why = form.querySelector("[data-part=send-why]");
    this.#restart = form.querySelector("[data-part=restart]");
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit(send);
    });
    form.addEventListener("click", ({ target }) => {
      const chip = target.closest("[data-suggestion]");
      if (chip) this.suggest(chip.dataset.suggestion);
    });
    this.#input.addEventListener("input", () => this.#input.setCustomValidity(""));
  }

  focus() {
    this.#input.focus();
  }

  suggest(text) {
    this.#input.value = text;
    this.#form.querySelector("details")?.removeAttribute("open");
    this.focus();
  }

  /** @param {{phase: string, canVote: boolean, blocked: string | null}} view */
  render({ phase, canVote, blocked }) {
    this.blocked = blocked;
    this.#button.setAttribute("aria-disabled", String(blocked !== null));
    this.#why.textContent = blocked ?? "";
    this.#restart.hidden = phase !== "settled";
    const label = phase === "settled" && !canVote ? LABELS.again : LABELS[phase];
    this.#form.querySelector("[data-part=composer-label]").textContent = label ?? LABELS.idle;
  }

  /** What keeps an instruction from being sent, before the server has to say it; "" if nothing does. */
  #faultOf(instruction) {
    if (instruction === "") return gettext("Write what the robots should do, for instance: pick up the red cube.");
    const longest = Number(this.#input.dataset.longest);
    return characters(instruction) > longest ? sayTooLong(longest) : "";
  }

  async #submit(send) {
    const instruction = this.#input.value.trim();
    if (this.blocked !== null || this.#sending) return;
    const fault = this.#faultOf(instruction);
    if (fault !== "") {
      this.#input.setCustomValidity(fault);
      this.#input.reportValidity();
      return;
    }
    const again = !this.#restart.hidden && this.#form.elements.restart.checked;
    this.#sending = true;
    try {
      if (!(await send(instruction, again ? "reset" : "continue"))) return;
      this.#input.value = "";
      this.#form.elements.restart.checked = false;
    } finally {
      this.#sending = false;
    }
  }
}

const LABELS = {
  idle: gettext("Tell both robots what to do"),
  settled: gettext("Not sure yet? Give both another instruction"),
  again: gettext("Give both another instruction"),
  voted: gettext("Next battle: give two new robots an instruction"),
  abandoned: gettext("Next battle: give two new robots an instruction"),
};
