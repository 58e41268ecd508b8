// `window.vlaArena`: the state of the battle page for tests and debugging. Read-only; documented in frontend/README.md.

/** @import { Side } from "../viewer/sides.js" */

/** @param {import("../core/page.js").BattlePage} page @param {import("./stage.js").Stage} stage */
export function debugHandle(page, stage) {
  const replay = () => {
    if (!stage.replay) throw new Error("the scene is not drawn");
    return stage.replay;
  };
  return {
    get ready() {
      return stage.replay !== null;
    },
    get versions() {
      return { engine: stage.runtime?.engineVersion, recorded: stage.manifest?.engine_version };
    },
    get clock() {
      const { time, duration, record, lastRecord, playing, speed, loop, growing, live, waiting } = replay().clock;
      return { time, duration, record, lastRecord, playing, speed, loop, growing, live, waiting };
    },
    get drawing() {
      return { quality: replay().quality, drawn: replay().drawn, record: replay().drawnRecord, frameTime: replay().frameTime };
    },
    /** The sides whose exact recordings are loaded, and the engine's cost [ms per frame]. */
    get physics() {
      return { exact: replay().exact, cost: replay().cost };
    },
    get insight() {
      return structuredClone(stage.insight);
    },
    /** The state of the current turn's exact recordings: "later", "coming", "here" or "missing". */
    get exactness() {
      return stage.exactness;
    },
    get checks() {
      return structuredClone(stage.checks);
    },
    get moment() {
      return stage.moment;
    },
    /** Numbers that must not grow: objects on the graphics card per canvas, and engine states. */
    async census() {
      const gpu = Object.values(replay().viewers).map(({ held }) => held);
      return { gpu, engine: await stage.runtime?.census() };
    },
    get battle() {
      return structuredClone(page.battle);
    },
    /** Both cameras: position [m] and orientation (x, y, z, w). */
    get cameras() {
      return Object.values(replay().viewers).map(({ camera }) => [...camera.position, ...camera.quaternion]);
    },
    /** The number of a side's records: its start, and one per control step. @param {Side} side */
    records: (side) => (replay().tracks[side]?.count ? (replay().tracks[side]?.steps ?? 0) + 1 : 0),
    /** {bodies: {name: [x, y, z]}, geoms: {...}} [m] in a record, by default the current one. @param {Side} side */
    poses: (side, record = replay().clock.record) => replay().inspect(side, record),
  };
}
