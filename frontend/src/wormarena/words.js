// Words for what happens in a game of Snake.

import { gettext } from "../core/i18n.js";

/** @type {Record<string, () => string>} */
const MOVES = {
  UP: () => gettext("up"),
  DOWN: () => gettext("down"),
  LEFT: () => gettext("left"),
  RIGHT: () => gettext("right"),
};
/** @type {Record<string, () => string>} */
const RESULTS = {
  won: () => gettext("won"),
  lost: () => gettext("lost"),
  tied: () => gettext("tied"),
};
/** @type {Record<string, () => string>} */
const DEATHS = {
  wall: () => gettext("Hit a wall"),
  head_collision: () => gettext("Hit the other head"),
  body_collision: () => gettext("Hit a body"),
};

/** @param {string} move */
export const moveText = (move) => MOVES[move]?.() ?? move;

/** @param {string} result */
export const resultText = (result) => RESULTS[result]?.() ?? result;

/** @param {string} cause */
export const deathText = (cause) => DEATHS[cause]?.() ?? gettext("Died otherwise");
