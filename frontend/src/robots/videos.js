// Films of one side each, drawn on the server when somebody asks: the page waits for the film and then saves it.

import { ApiError } from "../core/api.js";
import { gettext } from "../core/i18n.js";
import { explainError } from "../core/words.js";
import { save } from "./capture.js";

/** @typedef {(text: string) => void} Tell */

const GIVE_UP_MS = 5 * 60_000;
const PAUSE_MS = 2000;

/** Saves the film of an episode, and says meanwhile what is going on. @param {string} episodeId @param {string} name @param {Tell} tell */
export async function saveVideo(episodeId, name, tell) {
  tell(gettext("The server is making the video. This may take a minute."));
  try {
    const film = await drawn(`/api/episodes/${episodeId}/video.mp4`);
    if (film) save(film, name);
    tell(film ? gettext("Saved.") : gettext("The video is not ready yet. Ask for it again later."));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    tell(explainError({ ...error, message: error.message }));
  }
}

/** @param {string} address @returns {Promise<Blob | null>} null if it takes too long */
async function drawn(address) {
  const until = Date.now() + GIVE_UP_MS;
  let answer = await ask(address, "POST");
  while (answer.status === 202 && Date.now() < until) {
    const seconds = Number(answer.headers.get("Retry-After"));
    await new Promise((done) => setTimeout(done, seconds ? 1000 * seconds : PAUSE_MS));
    answer = await ask(address, "GET");
  }
  return answer.status === 200 ? answer.blob() : null;
}

/** @param {string} address @param {string} method */
async function ask(address, method) {
  const answer = await fetch(address, { method }).catch(() => {
    throw new ApiError(0, { code: "unreachable", detail: "" });
  });
  if (!answer.ok) throw new ApiError(answer.status, await answer.json(), Number(answer.headers.get("Retry-After")) || null);
  return answer;
}
