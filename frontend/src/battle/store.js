// What the page knows of one battle. Pure: (state, message) -> state. Snapshot + events = fresh snapshot.

import { decodeFrame } from "../viewer/view.js";

/**
 * @typedef {{from: number, left: Int16Array, right: Int16Array}} Frame the same rows of both sides, `from` the first
 * @typedef {object} State
 * @property {object | null} battle as `GET battles/{id}` answers it
 * @property {Object<string, Frame[]>} frames by turn, as they came; what was missed is missing
 * @property {boolean} needsSnapshot events were missed: ask for a snapshot
 */

const MOST_ROWS = 100_000;

/** @returns {State} */
export function emptyState() {
  return { battle: null, frames: {}, needsSnapshot: false };
}

/** @param {State} state @param {object} message a snapshot or an event of the battle's socket */
export function reduce(state, message) {
  try {
    return message.type === "snapshot" ? takeSnapshot(state, message.battle) : takeEvent(state, message);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    // A message that lacks a part is like one that never came.
    return { ...state, needsSnapshot: true };
  }
}

/** Frames have no number: they change nothing of the battle, and those that were missed are not told again. */
function takeFrame(state, { turn_id, from_row: from, left, right }) {
  if (!state.battle?.turns.some((turn) => turn.turn_id === turn_id)) return state;
  try {
    const frame = frameOf(from, left, right);
    return { ...state, frames: { ...state.frames, [turn_id]: [...(state.frames[turn_id] ?? []), frame] } };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return state;
  }
}

/** @returns {Frame} */
function frameOf(from, left, right) {
  if (!Number.isInteger(from) || from < 0 || from > MOST_ROWS) throw new TypeError("no turn has such a row");
  const frame = { from, left: decodeFrame(left), right: decodeFrame(right) };
  if (frame.left.length !== frame.right.length) throw new TypeError("a frame has the same rows of both sides");
  return frame;
}

function takeEvent(state, message) {
  if (message.type === "rollout.frames") return takeFrame(state, message);
  const { battle } = state;
  if (battle === null) return { ...state, needsSnapshot: true };
  if (message.seq <= battle.seq) return state;
  if (message.seq !== battle.seq + 1 || !Object.hasOwn(changes, message.type)) return { ...state, needsSnapshot: true };
  // Where an event changes what the visitor may do next, it says so itself (`battle`).
  const changed = { ...changes[message.type](battle, message), ...message.battle, seq: message.seq };
  return {
    battle: checked(changed),
    frames: withoutOpened(state.frames, message),
    needsSnapshot: state.needsSnapshot,
  };
}

/** The battle, if it has what everything else relies on. */
function checked(battle) {
  const whole = typeof battle.battle_id === "string" && Number.isSafeInteger(battle.seq) && Array.isArray(battle.turns);
  if (!whole) throw new TypeError("a battle has an id, a number of events and turns");
  return battle;
}

function takeSnapshot(state, battle) {
  checked(battle);
  const same = state.battle?.battle_id === battle.battle_id;
  if (same && battle.seq < state.battle.seq) return state;
  return { battle, frames: same ? state.frames : {}, needsSnapshot: false };
}

const changes = {
  /** A new turn, or one of the same id that starts again in place of what it was. */
  "turn.opened": (battle, { turn }) => ({
    ...battle,
    turns: [...battle.turns.filter(({ turn_id }) => turn_id !== turn.turn_id), turn].sort((a, b) => a.seq - b.seq),
  }),

  "rollout.started": (battle, { turn_id, release_from }) =>
    changeTurn(battle, turn_id, (turn) => ({
      ...turn,
      status: "running",
      release_from,
      left: { ...turn.left, status: "running" },
      right: { ...turn.right, status: "running" },
    })),

  "rollout.finished": (battle, { turn_id, side, steps }) =>
    changeSide(battle, turn_id, side, { status: "completed", steps, error: null }),

  "rollout.failed": (battle, { turn_id, side, steps, reason }) =>
    changeSide(battle, turn_id, side, { status: "failed", steps, error: reason }),

  /** Of an exploration the event brings the whole turn, outcomes included. */
  "turn.finished": (battle, { turn_id, status, turn: whole }) =>
    changeTurn(battle, turn_id, (turn) => ({ ...turn, ...(whole ?? { status }) })),

  "battle.voted": (battle, { vote, left_model, right_model, turns, secret, starts }) => ({
    ...battle,
    vote,
    left_model,
    right_model,
    turns,
    secret,
    starts,
  }),

  "battle.abandoned": (battle) => battle,
};

function changeTurn(battle, turnId, change) {
  return { ...battle, turns: battle.turns.map((turn) => (turn.turn_id === turnId ? change(turn) : turn)) };
}

function changeSide(battle, turnId, side, news) {
  return changeTurn(battle, turnId, (turn) => ({ ...turn, [side]: { ...turn[side], ...news } }));
}

export function isOpen({ status }) {
  return status === "queued" || status === "running";
}

/** A turn that starts again has not been shown yet. */
function withoutOpened(frames, { type, turn }) {
  if (type !== "turn.opened") return frames;
  const { [turn.turn_id]: _startsAgain, ...others } = frames;
  return others;
}
