// `window.vlaArena`: what tests and the curious may ask the battle page. Read-only; documented in frontend/README.md.

export function debugHandle(page) {
  const replay = () => page.stage.replay;
  return {
    get ready() {
      return replay() !== null;
    },
    get versions() {
      return { engine: page.stage.runtime?.engineVersion, recorded: page.stage.manifest?.engine_version };
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
      return structuredClone(page.stage.insight);
    },
    /** "later", "coming", "here" or "missing": the exact recordings of the turn shown. */
    get exactness() {
      return page.stage.exactness;
    },
    get checks() {
      return structuredClone(page.stage.checks);
    },
    get moment() {
      return page.stage.moment;
    },
    /** What must not grow: kept by the graphics card for each canvas, and by the engine. */
    async census() {
      const gpu = Object.values(replay().viewers).map(({ held }) => held);
      return { gpu, engine: await page.stage.runtime.census() };
    },
    get battle() {
      return structuredClone(page.state.battle);
    },
    /** Both cameras: position [m], then orientation (x, y, z, w). */
    get cameras() {
      return Object.values(replay().viewers).map(({ camera }) => [...camera.position, ...camera.quaternion]);
    },
    /** Records that a side has: its start, and one per control step. */
    records: (side) => (replay().tracks[side]?.count ? replay().tracks[side].steps + 1 : 0),
    /** {bodies: {name: [x, y, z]}, geoms: {...}} [m] in a record; the one shown unless told. */
    poses: (side, record = replay().clock.record) => replay().inspect(side, record),
  };
}
