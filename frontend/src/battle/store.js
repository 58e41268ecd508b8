// What the page knows of one battle. Pure: (state, message) -> state. Snapshot + events = fresh snapshot.

/**
 * @typedef {object} State
 * @property {object | null} battle as `GET battles/{id}` answers it
 * @property {Object<string, {left: number[][], right: number[][], whole: boolean}>} frames live rows
 *   `[time, ...qpos]` by turn, from step 0; rows that were missed are null, and `whole` is false then
 * @property {boolean} needsSnapshot events were missed: ask for a snapshot
 */

const MOST_STEPS = 10_000;

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

function takeEvent(state, message) {
  const { battle } = state;
  if (battle === null) return { ...state, needsSnapshot: true };
  if (message.seq <= battle.seq) return state;
  if (message.seq !== battle.seq + 1 || !Object.hasOwn(changes, message.type)) return { ...state, needsSnapshot: true };
  // Where an event changes what the visitor may do next, it says so itself (`battle`).
  const changed = { ...changes[message.type](battle, message), ...message.battle, seq: message.seq };
  return {
    battle: checked(changed),
    frames: changeFrames(state.frames, message),
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

  "rollout.started": (battle, { turn_id }) =>
    changeTurn(battle, turn_id, (turn) => ({
      ...turn,
      status: "running",
      left: { ...turn.left, status: "running" },
      right: { ...turn.right, status: "running" },
    })),

  "rollout.frames": (battle, { turn_id, to_step }) =>
    changeTurn(battle, turn_id, (turn) => ({ ...turn, released_steps: to_step })),

  "rollout.finished": (battle, { turn_id, side, steps }) =>
    changeSide(battle, turn_id, side, { status: "completed", steps, error: null }),

  "rollout.failed": (battle, { turn_id, side, steps, reason }) =>
    changeSide(battle, turn_id, side, { status: "failed", steps, error: reason }),

  /** Of an exploration the event brings the whole turn, outcomes included. */
  "turn.finished": (battle, { turn_id, status, turn: whole }) =>
    changeTurn(battle, turn_id, (turn) => ({ ...turn, ...(whole ?? { status }) })),

  "battle.voted": (battle, { vote, left_model, right_model, turns }) => ({
    ...battle,
    vote,
    left_model,
    right_model,
    turns,
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

function changeFrames(frames, message) {
  if (message.type === "rollout.frames") return addFrames(frames, message);
  if (message.type !== "turn.opened") return frames;
  const { [message.turn.turn_id]: _startsAgain, ...others } = frames;
  return others;
}

function addFrames(frames, { turn_id, from_step, left, right }) {
  if (!Number.isInteger(from_step) || from_step < 0 || from_step > MOST_STEPS) throw new TypeError("no turn has such a step");
  const known = frames[turn_id] ?? { left: [], right: [], whole: true };
  const reach = Math.max(known.left.length, known.right.length);
  return {
    ...frames,
    [turn_id]: {
      left: grow(known.left, left, from_step),
      right: grow(known.right, right, from_step),
      whole: known.whole && from_step <= reach,
    },
  };
}

/** Rows already here are kept; missed ones are null. A side that ended earlier sends none, and misses none. */
function grow(rows, more, fromStep) {
  const fresh = (more?.steps ?? []).slice(Math.max(0, rows.length - fromStep));
  if (fresh.length === 0) return rows;
  const missed = Array(Math.max(0, fromStep - rows.length)).fill(null);
  return [...rows, ...missed, ...fresh];
}
