// What a visitor adds to a vote of theirs, after it: reasons, a sentence, and how far each side came.

import { part } from "./dom.js";
import { gettext } from "./i18n.js";
import { explainError } from "./words.js";
import { ApiError } from "./api.js";

/**
 * @import { Api } from "./api.js"
 * @import { BattleJson, FeedbackJson } from "./wire.d.ts"
 */

const SIDES = /** @type {const} */ (["left", "right"]);

export class FeedbackPanel {
  #root;
  #api;
  #form;
  #battleId = "";
  #loaded = false;
  /** @type {Promise<void>} */
  #saving = Promise.resolve();

  /** @param {HTMLDetailsElement | null} root null on pages where there is nothing to add @param {Pick<Api, "feedback" | "saveFeedback">} api */
  constructor(root, api) {
    this.#root = root;
    this.#api = api;
    this.#form = root?.querySelector("form") ?? null;
    root?.addEventListener("toggle", () => this.#load());
    this.#form?.addEventListener("input", (event) => this.#touched(event));
    this.#form?.addEventListener("change", () => this.#save());
    this.#form?.addEventListener("submit", (event) => event.preventDefault());
    this.#form?.addEventListener("reset", () => this.#reset());
  }

  /** @param {BattleJson} battle */
  render({ battle_id, vote }) {
    if (!this.#root) return;
    this.#root.hidden = vote === null;
    if (!vote || battle_id === this.#battleId) return;
    this.#battleId = battle_id;
    this.#loaded = false;
    this.#root.open = false;
    this.#fill({ reasons: {}, why: "", progress: { left: null, right: null } });
    // What was said with the vote stands above, and is not asked again.
    for (const each of this.#fieldsets) each.hidden = Boolean(vote.reasons[each.dataset.reason ?? ""]);
  }

  /** Fetches what was added before, when the panel opens. */
  async #load() {
    if (!this.#root?.open || this.#loaded) return;
    const battleId = this.#battleId;
    try {
      const feedback = await this.#api.feedback(battleId);
      if (battleId !== this.#battleId || this.#loaded) return;
      this.#loaded = true;
      if (feedback.updated_at) this.#fill(feedback);
    } catch (error) {
      this.#explain(error);
    }
  }

  /** @param {Event} event */
  #touched({ target }) {
    this.#loaded = true; // what is typed is not replaced by what was there before
    if (target instanceof HTMLInputElement && target.type === "range") this.#judge(target, Number(target.value));
  }

  /** Saves all of it; saves of several changes go one after the other. */
  #save() {
    const battleId = this.#battleId;
    this.#loaded = true;
    this.#saving = this.#saving.then(async () => {
      try {
        await this.#api.saveFeedback(battleId, this.#read());
        this.#say(gettext("Saved."));
      } catch (error) {
        this.#explain(error);
      }
    });
  }

  #reset() {
    for (const range of this.#ranges) this.#judge(range, null);
    queueMicrotask(() => this.#save()); // the fields are cleared after this event
  }

  /** @returns {Pick<FeedbackJson, "reasons" | "why" | "progress">} */
  #read() {
    const data = new FormData(/** @type {HTMLFormElement} */ (this.#form));
    const reasons = this.#fieldsets.map(({ dataset }) => [dataset.reason, data.get(dataset.reason ?? "")]);
    const [left, right] = this.#ranges.map((range) => ("judged" in range.dataset ? Number(range.value) : null));
    return { reasons: Object.fromEntries(reasons), why: String(data.get("why") ?? ""), progress: { left, right } };
  }

  /** @param {Pick<FeedbackJson, "reasons" | "why" | "progress">} feedback */
  #fill({ reasons, why, progress }) {
    for (const radio of this.#radios) radio.checked = reasons[radio.name] === radio.value;
    part(this.#root ?? document.body, "feedback-why", HTMLTextAreaElement).value = why;
    for (const [place, range] of this.#ranges.entries()) this.#judge(range, progress[SIDES[place]]);
    this.#say("");
  }

  /** @param {HTMLInputElement} range @param {number | null} value null: not judged */
  #judge(range, value) {
    range.value = String(value ?? 50);
    range.toggleAttribute("data-judged", value !== null);
    const text = value === null ? gettext("not judged") : `${value} %`;
    range.setAttribute("aria-valuetext", text);
    part(this.#root ?? document.body, `${range.name}-said`).textContent = text;
  }

  /** @param {unknown} error */
  #explain(error) {
    if (!(error instanceof ApiError)) throw error;
    this.#say(explainError(error));
  }

  /** @param {string} text */
  #say(text) {
    part(this.#root ?? document.body, "feedback-said").textContent = text;
  }

  /** @returns {HTMLElement[]} */
  get #fieldsets() {
    return [...(this.#form?.querySelectorAll("[data-reason]") ?? [])].filter((each) => each instanceof HTMLElement);
  }

  get #radios() {
    return /** @type {HTMLInputElement[]} */ ([...(this.#form?.querySelectorAll("input[type=radio]") ?? [])]);
  }

  /** The left side's, then the right side's. */
  get #ranges() {
    return /** @type {HTMLInputElement[]} */ ([...(this.#form?.querySelectorAll("input[type=range]") ?? [])]);
  }
}
