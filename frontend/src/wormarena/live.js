// The page of games that are being played: a socket that reconnects by itself, and a board for each game.

import { cloneOf, part } from "../core/dom.js";
import { gettext } from "../core/i18n.js";
import { Board } from "./board.js";
import { shownOf, told } from "./live-games.js";
import { deathText, moveText, resultText } from "./words.js";

/** @import { LiveGame, LiveSide } from "./live-games.js" */

const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 10_000;

class GameView {
  /** @param {HTMLElement} page @param {LiveGame} game */
  constructor(page, game) {
    this.element = cloneOf(page, "game");
    const svg = /** @type {SVGSVGElement} */ (this.element.querySelector("[data-part=board]"));
    this.board = new Board(svg, game.width, game.height);
    for (const [slot, { name }] of Object.entries(game.sides)) {
      part(this.element, `name-${slot}`).textContent = name;
      this.side(slot).querySelector(".worm-reason")?.setAttribute("aria-label", gettext("What %(name)s thought", { name }));
    }
  }

  /** @param {string} slot */
  side(slot) {
    return /** @type {HTMLElement} */ (this.element.querySelector(`[data-slot="${slot}"]`));
  }

  /** @param {LiveGame} game */
  show(game) {
    this.board.draw(shownOf(game));
    part(this.element, "round").textContent = roundText(game);
    for (const [slot, side] of Object.entries(game.sides)) this.tell(this.side(slot), side);
    const replay = part(this.element, "replay", HTMLAnchorElement);
    replay.hidden = game.replay === null;
    if (game.replay !== null) replay.href = game.replay;
  }

  /** @param {HTMLElement} element @param {LiveSide} side */
  tell(element, { score, move, rationale, death, result }) {
    part(element, "score").textContent = String(score);
    part(element, "move").textContent = [move ? moveText(move) : "", death ? deathText(death) : ""].filter(Boolean).join(" · ");
    part(element, "reason").textContent = rationale || (move ? gettext("It gave no reasons.") : "");
    const shown = part(element, "result");
    shown.hidden = result === null;
    shown.className = `result result-${result}`;
    shown.textContent = result === null ? "" : resultText(result);
  }
}

class LivePage {
  /** @param {HTMLElement} page */
  constructor(page) {
    this.page = page;
    /** @type {LiveGame[]} */
    this.games = [];
    /** @type {Map<string, GameView>} */
    this.views = new Map();
    this.retry = FIRST_RETRY_MS;
  }

  connect() {
    const address = new URL(this.page.dataset.socket ?? "", location.href);
    address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(address);
    socket.addEventListener("message", ({ data }) => {
      this.retry = FIRST_RETRY_MS;
      part(this.page, "lost").hidden = true;
      this.games = told(this.games, JSON.parse(data));
      this.show();
    });
    socket.addEventListener("close", () => {
      part(this.page, "lost").hidden = false;
      setTimeout(() => this.connect(), this.retry * (0.75 + Math.random() / 2));
      this.retry = Math.min(2 * this.retry, LONGEST_RETRY_MS);
    });
  }

  show() {
    const views = this.games.map((game) => this.viewOf(game));
    const place = part(this.page, "games");
    const elements = views.map(({ element }) => element);
    // Elements that stay in their place keep the focus and how far they are scrolled.
    if (elements.some((element, at) => place.children[at] !== element) || place.children.length > elements.length) {
      place.replaceChildren(...elements);
    }
    this.views = new Map(this.games.map(({ gameId }, at) => [gameId, views[at]]));
    part(this.page, "none").hidden = this.games.length > 0;
  }

  /** @param {LiveGame} game */
  viewOf(game) {
    const known = this.views.get(game.gameId);
    const view = known ?? new GameView(this.page, game);
    view.show(game);
    if (game.ended && !known?.element.classList.contains("worm-ended")) this.announce(view, game);
    return view;
  }

  /** @param {GameView} view @param {LiveGame} game */
  announce(view, game) {
    view.element.classList.add("worm-ended");
    const results = Object.values(game.sides).map(({ name, result }) => `${name}: ${resultText(result ?? "")}`);
    part(this.page, "told").textContent = results.join(", ");
  }
}

/** @param {LiveGame} game */
function roundText({ round, maxRounds, ended }) {
  if (ended) return gettext("Ended after round %(round)s.", { round: round ?? 0 });
  if (round === null) return gettext("Start");
  return gettext("Round %(round)s of %(last)s", { round, last: maxRounds - 1 });
}

/** @param {HTMLElement} page */
export const openLive = (page) => new LivePage(page).connect();
