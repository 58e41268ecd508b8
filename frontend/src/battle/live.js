// While a turn waits or runs: where it stands in the queue, how far it is, and a way to stop it.

import { gettext, ngettext } from "../i18n.js";
import { part } from "./part.js";
import { sayStart } from "./starts.js";

/** How often the queue is asked about [ms]; a turn that starts at once is never asked about. */
const ASK_EVERY = 2_000;
const PATIENCE = 800;

export class LiveStrip {
  #root;
  #api;
  #battle = null;
  #turn = null;
  #queue = null;
  #timer = null;
  #cancelling = false;
  #begun = false;

  /** @param {HTMLElement} root @param {import("./api.js").Api} api @param {(error: Error) => void} onError */
  constructor(root, api, onError) {
    this.#root = root;
    this.#api = api;
    this.onError = onError;
    part(root, "cancel").addEventListener("click", () => this.cancel());
  }

  /** @param {object} battle @param {object | undefined} turn under way @param {number | null} released its last step released */
  render(battle, turn, released) {
    this.#battle = battle;
    this.#begun = released !== null;
    const status = turn?.status;
    const open = status === "queued" || status === "running";
    if (turn?.turn_id !== this.#turn?.turn_id || status !== "queued") this.#stopAsking();
    this.#turn = open ? turn : null;
    if (status === "queued" && this.#timer === null) this.#timer = setTimeout(() => this.#ask(), PATIENCE);
    this.#show();
  }

  async cancel() {
    if (!this.#turn || this.#cancelling) return;
    this.#cancelling = true;
    this.#show();
    try {
      await this.#api.cancelTurn(this.#turn.turn_id);
    } catch (error) {
      this.onError(error);
    } finally {
      this.#cancelling = false;
      this.#show();
    }
  }

  dispose() {
    this.#stopAsking();
  }

  async #ask() {
    const { turn_id } = this.#turn;
    try {
      this.#queue = await this.#api.queue(turn_id);
    } catch {
      this.#queue = null; // it is a comfort only: what is wrong shows itself where it matters
    }
    if (this.#turn?.turn_id !== turn_id || this.#timer === null) return;
    this.#timer = setTimeout(() => this.#ask(), ASK_EVERY);
    this.#show();
  }

  #stopAsking() {
    clearTimeout(this.#timer);
    this.#timer = null;
    this.#queue = null;
  }

  #show() {
    this.#root.hidden = this.#turn === null;
    if (this.#turn === null) return;
    this.#root.dataset.status = this.#turn.status;
    const text = part(this.#root, "live-text");
    const said = this.#cancelling ? gettext("Stopping…") : this.#say();
    if (text.textContent !== said) text.textContent = said; // it is read aloud when it changes
    part(this.#root, "cancel").setAttribute("aria-disabled", String(this.#cancelling));
  }

  #say() {
    const start = sayStart(this.#turn, this.#battle);
    return start ? `${start}. ${this.#sayTurn()}` : this.#sayTurn();
  }

  #sayTurn() {
    if (this.#turn.status === "running") {
      return this.#begun
        ? gettext("Both robots are at work: you see them at their own speed.")
        : gettext("Both robots are getting ready: you will see them in a moment.");
    }
    if (this.#queue === null) return gettext("Waiting for the robots.");
    return sayQueue(this.#queue);
  }
}

/** @param {{ahead: number, expected_wait_s: number | null}} queue */
export function sayQueue({ ahead, expected_wait_s: seconds }) {
  if (ahead === 0) return gettext("You are next.");
  const place = ngettext("%(count)s turn is ahead of yours.", "%(count)s turns are ahead of yours.", ahead);
  if (seconds === null) return place;
  const wait =
    seconds < 90
      ? gettext("It should start in about %(seconds)s s.", { seconds: Math.max(1, Math.round(seconds)) })
      : gettext("It should start in about %(minutes)s min.", { minutes: Math.round(seconds / 60) });
  return `${place} ${wait}`;
}
