// A recorded game of Snake as what is shown of each round: pure.

/**
 * @typedef {[number, number]} Cell (0, 0) is at the bottom left
 * @typedef {{snakes: Record<string, Cell[]>, apples: Cell[], alive?: Record<string, boolean>, scores?: Record<string, number>}} State
 * @typedef {{move: string, rationale?: string}} Move
 * @typedef {{round: number, state?: State, moves?: Record<string, Move>}} Frame
 * @typedef {{result: string, final_score: number, death?: {reason: string, round?: number} | null}} Player
 * @typedef {{initial_state?: State, frames: Frame[], players: Record<string, Player>}} Replay the file
 * @typedef {{state: State, moves: Record<string, Move>, round: number | null, deaths: Record<string, Cell>}} Shown
 *   after a round (null: before the first); `deaths`: where the head of each that died in it would have been
 */

/** @type {Record<string, Cell>} */
const STEPS = { UP: [0, 1], DOWN: [0, -1], LEFT: [-1, 0], RIGHT: [1, 0] };
const EMPTY = { snakes: {}, apples: [] };

/** @param {Replay} replay @returns {Shown[]} the start, then every round */
export function positionsOf(replay) {
  const start = replay.initial_state ?? EMPTY;
  /** @type {Shown[]} */
  const shown = [{ state: start, moves: {}, round: null, deaths: {} }];
  for (const { round, state, moves = {} } of roundsOf(replay)) {
    const before = shown[shown.length - 1].state;
    shown.push({ state: state ?? before, moves, round, deaths: deathsIn(before, state ?? before, moves) });
  }
  return shown;
}

/**
 * The frames with the state after the round. Files from before December 2025 have the state before it, and one frame more,
 * which has the last state and the last moves once more: there the first frame is the start, with everybody alive.
 * @param {Replay} replay @returns {Frame[]}
 */
function roundsOf({ initial_state: start, frames }) {
  const first = frames[0]?.state;
  const moved = JSON.stringify(first?.snakes) !== JSON.stringify(start?.snakes);
  if (!first?.alive || moved || Object.values(first.alive).includes(false)) return frames;
  return frames.slice(0, -1).map((frame, at) => ({ ...frame, state: frames[at + 1].state }));
}

/** @param {State} before @param {State} after @param {Record<string, Move>} moves @returns {Record<string, Cell>} */
function deathsIn(before, after, moves) {
  /** @type {Record<string, Cell>} */
  const deaths = {};
  for (const [slot, alive] of Object.entries(after.alive ?? {})) {
    const head = before.snakes[slot]?.[0];
    if (alive || before.alive?.[slot] === false || !head) continue;
    deaths[slot] = cellAhead(head, moves[slot]?.move ?? "");
  }
  return deaths;
}

/** @param {Cell} head @param {string} move @returns {Cell} */
export function cellAhead([x, y], move) {
  const [dx, dy] = STEPS[move] ?? [0, 0];
  return [x + dx, y + dy];
}

/**
 * The move that decided the game: the last death; without one, the last round in which the winner took the lead.
 * @param {Replay} replay @param {Shown[]} shown @returns {number} a place in `shown`
 */
export function decisiveOf(replay, shown) {
  const death = shown.findLastIndex(({ deaths }) => Object.keys(deaths).length > 0);
  if (death >= 0) return death;
  const winner = Object.keys(replay.players).find((slot) => replay.players[slot].result === "won");
  if (winner === undefined) return shown.length - 1;
  const behind = shown.findLastIndex(({ state }) => !leads(state, winner));
  return Math.min(behind + 1, shown.length - 1);
}

/** @param {State} state @param {string} slot */
function leads({ scores = {} }, slot) {
  return Object.entries(scores).every(([other, score]) => other === slot || score < (scores[slot] ?? 0));
}

/** @param {Shown[]} shown @returns {number[]} the places at which somebody died */
export const deathsAt = (shown) => shown.flatMap(({ deaths }, place) => (Object.keys(deaths).length ? [place] : []));

/** The place that an address asks for, by its round. @param {string} search @param {Shown[]} shown */
export function placeAsked(search, shown) {
  const asked = new URLSearchParams(search).get("round");
  if (asked === null || !/^\d{1,9}$/.test(asked)) return 0;
  const place = shown.findIndex(({ round }) => round === Number(asked));
  return place < 0 ? shown.length - 1 : place;
}
