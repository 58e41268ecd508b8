// The visitor's own sessions, newest first; the open one with its battles.

import { gettext, ngettext } from "../i18n.js";
import { voteName } from "./vote.js";
import { ago } from "./words.js";

/** Wide enough for the list to stand beside the battle; else it starts folded above it. */
const BESIDE = "(min-width: 1101px)";

/** Fewer need no search. */
const SEARCH_FROM = 4;

export class SessionList {
  #root;
  #list;
  #sessionTemplate;
  #battleTemplate;

  /** @param {HTMLElement} root @param {{open: (battleId: string) => void, start: () => void, page: string}} options */
  constructor(root, { open, start, page }) {
    this.#root = root;
    this.page = page;
    this.#list = root.querySelector("[data-part=sessions]");
    this.#sessionTemplate = root.querySelector("[data-part=session-template]");
    this.#battleTemplate = root.querySelector("[data-part=session-battle-template]");
    const beside = window.matchMedia(BESIDE);
    const fold = () => (root.querySelector("details").open = beside.matches);
    beside.addEventListener("change", fold);
    fold();
    root.querySelector("[data-part=new-session]").addEventListener("click", start);
    root.querySelector("[data-part=session-search]").addEventListener("input", () => this.#search());
    this.#list.addEventListener("click", (event) => {
      const link = event.target.closest("[data-battle]");
      if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      open(link.dataset.battle);
    });
  }

  /** @param {object[]} sessions @param {object | null} current the open session with its battles @param {string} battleId */
  render(sessions, current, battleId) {
    const focused = this.#list.contains(document.activeElement) ? document.activeElement.dataset.battle : undefined;
    this.#list.replaceChildren(...sessions.map((session) => this.#session(session, current, battleId)));
    if (focused) this.#list.querySelector(`[data-battle="${focused}"]`)?.focus();
    this.#root.querySelector("[data-part=no-sessions]").hidden = sessions.length > 0;
    this.#root.querySelector("[data-part=session-search-label]").hidden = sessions.length < SEARCH_FROM;
    this.#search();
  }

  /** Hides what does not fit; says so where nothing is left. */
  #search() {
    const sought = this.#root.querySelector("[data-part=session-search]").value.trim();
    const items = [...this.#list.children];
    for (const item of items) item.hidden = !fits(item.textContent, sought);
    this.#root.querySelector("[data-part=nothing-found]").hidden = items.length === 0 || items.some((item) => !item.hidden);
  }

  #session(session, current, battleId) {
    const item = this.#sessionTemplate.content.firstElementChild.cloneNode(true);
    const isCurrent = session.session_id === current?.session_id;
    this.#fillLink(item.querySelector("[data-battle]"), session.last_battle_id, isCurrent && session.last_battle_id === battleId);
    item.querySelector("[data-part=session-title]").textContent = session.title || gettext("No instruction yet");
    item.querySelector("[data-part=session-meta]").textContent = metaOf(session);
    item.dataset.current = String(isCurrent);
    const battles = isCurrent && current.battles.length > 1 ? current.battles : [];
    const list = item.querySelector("[data-part=session-battles]");
    list.hidden = battles.length === 0;
    list.replaceChildren(...battles.map((battle) => this.#battle(battle, battleId)));
    return item;
  }

  #battle(battle, battleId) {
    const item = this.#battleTemplate.content.firstElementChild.cloneNode(true);
    this.#fillLink(item.querySelector("[data-battle]"), battle.battle_id, battle.battle_id === battleId);
    item.querySelector("[data-part=session-battle-title]").textContent = battle.title || gettext("Battle %(number)s", { number: battle.seq });
    item.querySelector("[data-part=session-battle-vote]").textContent = resultOf(battle.status, battle.vote);
    return item;
  }

  #fillLink(link, battleId, current) {
    link.dataset.battle = battleId;
    link.href = `${this.page}/${battleId}`;
    if (current) link.setAttribute("aria-current", "page");
  }
}

const STATUS = {
  ongoing: gettext("No vote yet"),
  voted: "",
  abandoned: gettext("Left without a vote"),
};

const resultOf = (status, vote) => (vote ? voteName(vote) : STATUS[status] ?? status);

/** "Left is better · 3 battles · 5 min ago" */
function metaOf({ title, battle_count, last_active_at, last_status, last_vote }) {
  const battles = battle_count > 1 ? ngettext("%(count)s battle", "%(count)s battles", battle_count) : "";
  return [title ? resultOf(last_status, last_vote) : "", battles, ago(last_active_at)].filter(Boolean).join(" · ");
}

/** Whether every word sought is in the title. */
export function fits(title, sought) {
  const text = title.toLowerCase();
  return sought.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}
