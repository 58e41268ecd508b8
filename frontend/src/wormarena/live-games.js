// Which games are shown, and what is drawn of each: pure. Every message tells the whole of a game, so the last one counts.

/**
 * @import { Cell, Shown } from "./replay.js"
 * @typedef {{name: string, score: number, move: string | null, rationale: string, death: string | null, result: string | null}} LiveSide
 * @typedef {{gameId: string, width: number, height: number, maxRounds: number, round: number | null, snakes: Record<string, Cell[]>,
 *   apples: Cell[], sides: Record<string, LiveSide>, ended: boolean, replay: string | null}} LiveGame
 * @typedef {{type: "snapshot", games: LiveGame[]} | {type: "game", game: LiveGame}} LiveMessage
 */

import { cellAhead } from "./replay.js";

/** So many games that have ended stay on the page, below those that are being played. */
const ENDED_KEPT = 3;

/** @param {LiveGame[]} games the newest first @param {LiveMessage} message @returns {LiveGame[]} */
export function told(games, message) {
  if (message.type === "snapshot") return ordered(message.games.toReversed());
  const at = games.findIndex(({ gameId }) => gameId === message.game.gameId);
  return ordered(at < 0 ? [message.game, ...games] : games.with(at, message.game));
}

/** @param {LiveGame[]} games */
function ordered(games) {
  const ended = games.filter((game) => game.ended);
  return [...games.filter((game) => !game.ended), ...ended.slice(0, ENDED_KEPT)];
}

/** What the board draws: nobody has moved in a round with a death. @param {LiveGame} game @returns {Shown} */
export function shownOf({ snakes, apples, sides, round }) {
  /** @type {Record<string, Cell>} */
  const deaths = {};
  for (const [slot, { death, move }] of Object.entries(sides)) {
    if (death && snakes[slot]?.length) deaths[slot] = cellAhead(snakes[slot][0], move ?? "");
  }
  return { state: { snakes, apples }, moves: {}, round, deaths };
}
