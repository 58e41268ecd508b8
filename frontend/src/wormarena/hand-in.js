// The admin's page on which operators hand in files of games: each is compressed here and posted to the API, one after
// another, and what came of it is listed. Bodies of the site are small, and files compress to a tenth.

import { part } from "../core/dom.js";

/** @typedef {{file: string, text: string, good: boolean}} Outcome */

/** @param {File} file @param {string} address @param {string} token @returns {Promise<Outcome>} */
async function handIn(file, address, token) {
  const packed = file.stream().pipeThrough(new CompressionStream("gzip"));
  const headers = { "Content-Type": "application/json", "Content-Encoding": "gzip", "X-CSRFToken": token };
  const response = await fetch(address, { method: "POST", headers, body: await new Response(packed).blob() });
  const told = await response.json();
  if (!response.ok) return { file: file.name, text: told.detail ?? String(response.status), good: false };
  return { file: file.name, text: told.new ? `handed in as ${told.gameId}` : `${told.gameId} is known already`, good: true };
}

/** @param {HTMLFormElement} form */
async function handInAll(form) {
  const list = part(form, "outcomes");
  const token = /** @type {HTMLInputElement} */ (form.elements.namedItem("csrfmiddlewaretoken")).value;
  list.replaceChildren();
  for (const file of part(form, "files", HTMLInputElement).files ?? []) {
    const line = document.createElement("li");
    line.textContent = `${file.name}: …`;
    list.append(line);
    const { text, good } = await handIn(file, form.action, token).catch(() => ({ text: "the arena cannot be reached", good: false }));
    line.textContent = `${file.name}: ${text}`;
    line.className = good ? "success" : "error";
  }
}

const form = document.querySelector("[data-page=worm-hand-in]");
if (form instanceof HTMLFormElement) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = part(form, "send", HTMLButtonElement);
    button.disabled = true;
    await handInAll(form);
    button.disabled = false;
  });
}
