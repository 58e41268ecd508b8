// The page of a study that waits or plays: it asks how far it is, and loads itself anew when something else is to be told.

const EVERY_MS = 3000;

/** @param {ParentNode} root */
export function followStudy(root) {
  const page = root.querySelector("[data-study-call]");
  if (page instanceof HTMLElement) ask(page);
}

/** @param {HTMLElement} page */
async function ask(page) {
  const { studyCall, studyState } = page.dataset;
  if (!studyCall) return;
  const study = await told(studyCall);
  if (study && study.state !== studyState) return location.reload();
  if (study) show(page, study.pairs);
  setTimeout(() => ask(page), EVERY_MS);
}

/**
 * Null while the server does not answer.
 * @param {string} address
 * @returns {Promise<{state: string, pairs: number} | null>}
 */
async function told(address) {
  try {
    const answer = await fetch(address);
    return answer.ok ? await answer.json() : null;
  } catch {
    return null;
  }
}

/**
 * @param {HTMLElement} page
 * @param {number} pairs
 */
function show(page, pairs) {
  const bar = page.querySelector("progress");
  const count = page.querySelector("[data-part=study-count]");
  if (bar) bar.value = pairs;
  if (count) count.textContent = String(pairs);
}
