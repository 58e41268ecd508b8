// Both sides of a recording in a loop, without a battle around them: the home page's two robots.

import { ApiError } from "../core/api.js";
import { gettext } from "../core/i18n.js";
import { Replay } from "../viewer/replay.js";
import { Runtime } from "../viewer/runtime.js";
import { decodeView, viewFormatOf } from "../viewer/view.js";
import { RobotApi } from "./api.js";
import { lastMove } from "./last-move.js";

/**
 * @import { Track } from "../viewer/view.js"
 */

/** The loop goes on for so long after the last move [s]. */
const REST = 1;

/**
 * Loads engine, scene and both recordings, each once, and draws their start. The data of `root` say which.
 * @param {HTMLElement} root @param {() => void} stopped the pictures are gone
 */
export async function act(root, stopped) {
  const { worker = "", wasm = "", robot = "", scene = "", left = "", right = "" } = root.dataset;
  const runtime = new Runtime({ workerUrl: worker, wasmUrl: wasm, wasmBytes: 0 });
  /** @type {Replay | null} */
  let replay = null;
  const leave = () => {
    replay?.dispose();
    runtime.dispose();
  };
  try {
    const [manifest, ...views] = await Promise.all([
      new RobotApi("/api/").scene(robot, scene),
      fetchView(left),
      fetchView(right),
    ]);
    const { joints } = await runtime.load(manifest);
    const format = viewFormatOf(manifest, joints);
    const tracks = { left: decodeView(views[0], format), right: decodeView(views[1], format) };
    replay = new Replay(runtime, manifest, screensOf(root), { labels: LABELS });
    replay.setTracks(tracks);
    replay.clock.extend(endOf(Object.values(tracks)), false);
    replay.clock.setLoop(true);
    for (const event of ["failed", "lost"]) {
      replay.addEventListener(event, () => {
        leave();
        stopped();
      });
    }
    return controlsOf(replay);
  } catch (error) {
    leave();
    throw error;
  }
}

const LABELS = { left: gettext("Replay of the left robot"), right: gettext("Replay of the right robot") };

/** @param {Replay} replay */
function controlsOf(replay) {
  return {
    play: () => replay.clock.play(),
    pause: () => replay.clock.pause(),
    refreshTheme: () => replay.refreshTheme(),
    /** For tests and the curious. */
    get clock() {
      const { time, duration, playing, loop } = replay.clock;
      return { time, duration, playing, loop, drawn: replay.drawn };
    },
  };
}

/** @param {HTMLElement} root */
function screensOf(root) {
  const screen = (/** @type {string} */ side) => /** @type {HTMLElement} */ (root.querySelector(`[data-screen=${side}]`));
  return { left: screen("left"), right: screen("right") };
}

/** @param {Track[]} tracks */
function endOf(tracks) {
  const longest = Math.max(...tracks.map(({ duration }) => duration));
  return Math.min(Math.max(...tracks.map(lastMove)) + REST, longest);
}

/** @param {string} url */
async function fetchView(url) {
  const response = await fetch(url);
  if (!response.ok) throw new ApiError(response.status, { code: "no_view", detail: `${url}: ${response.status}` });
  return response.arrayBuffer();
}
