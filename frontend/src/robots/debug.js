// `window.vlaArena`: what tests and the curious may ask the battle page. Read-only; documented in frontend/README.md.

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
      const { time, duration, record, lastRecord, playing, speed, loop, growing, live } = replay().clock;
      return { time, duration, record, lastRecord, playing, speed, loop, growing, live };
    },
    get drawing() {
      return { quality: replay().quality, drawn: replay().drawn, record: replay().drawnRecord, frameTime: replay().frameTime };
    },
    /** Whose exact recordings are here, and what the engine costs [ms per picture]. */
    get physics() {
      return { exact: replay().exact, cost: replay().cost };
    },
    get insight() {
      return structuredClone(stage.insight);
    },
    /** "later", "coming", "here" or "missing": the exact recordings of the turn shown. */
    get exactness() {
      return stage.exactness;
    },
    get checks() {
      return structuredClone(stage.checks);
    },
    get moment() {
      return stage.moment;
    },
    /** What must not grow: kept by the graphics card for each canvas, and by the engine. */
    async census() {
      const gpu = Object.values(replay().viewers).map(({ held }) => held);
      return { gpu, engine: await stage.runtime?.census() };
    },
    get battle() {
      return structuredClone(page.battle);
    },
    /** Both cameras: position [m], then orientation (x, y, z, w). */
    get cameras() {
      return Object.values(replay().viewers).map(({ camera }) => [...camera.position, ...camera.quaternion]);
    },
    /** Records that a side has: its start, and one per control step. @param {Side} side */
    records: (side) => (replay().tracks[side]?.count ? (replay().tracks[side]?.steps ?? 0) + 1 : 0),
    /** {bodies: {name: [x, y, z]}, geoms: {...}} [m] in a record; the one shown unless told. @param {Side} side */
    poses: (side, record = replay().clock.record) => replay().inspect(side, record),
  };
}
