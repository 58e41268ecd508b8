// Optional script of the leaderboard: sorts, searches and changes boards without reloading the page.

import { closest, opensElsewhere, part } from "../core/dom.js";
import { ngettext } from "../core/i18n.js";

/** A search starts after this long without typing [ms]. */
const TYPING_PAUSE = 250;
const PARTS = ["tabs", "board"];

const page = /** @type {HTMLElement} */ (document.querySelector("[data-page=leaderboard]"));
const form = formOf(page);
let latest = 0;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let typing;

page.classList.add("enhanced");
form.addEventListener("input", ({ target }) => {
  clearTimeout(typing);
  const isSearch = target instanceof HTMLInputElement && target.type === "search";
  typing = setTimeout(() => show(addressOf(form)), isSearch ? TYPING_PAUSE : 0);
});
form.addEventListener("submit", (event) => {
  event.preventDefault();
  clearTimeout(typing);
  show(addressOf(form));
});
page.addEventListener("click", (event) => {
  const link = closest(event, "[data-part=tabs] a, [data-part=board] a[href^='?'], a[data-sort]");
  if (!(link instanceof HTMLAnchorElement) || opensElsewhere(event)) return;
  event.preventDefault();
  show(new URL(link.href), link.dataset.sort);
});

/** @param {HTMLFormElement} filters */
function addressOf(filters) {
  const address = new URL(location.href);
  for (const { name, value } of choices(filters)) {
    if (value) address.searchParams.set(name, value);
    else address.searchParams.delete(name);
  }
  address.searchParams.delete("order");
  return address;
}

/**
 * Loads a page and shows its board. Of concurrent calls, the last one wins.
 * @param {URL} address @param {string} [focusSort]
 */
async function show(address, focusSort) {
  latest += 1;
  const request = latest;
  part(page, "board").setAttribute("aria-busy", "true");
  const fresh = await fetchPage(address);
  if (request !== latest) return;
  if (fresh === null) {
    location.assign(address);
    return;
  }
  for (const name of PARTS) part(page, name).replaceWith(part(fresh, name));
  syncForm(formOf(fresh));
  history.replaceState(null, "", address);
  const shown = page.querySelectorAll("[data-part=board] [data-model]").length;
  part(page, "announce").textContent = ngettext("%(count)s model shown.", "%(count)s models shown.", shown);
  if (focusSort) /** @type {HTMLElement | null} */ (page.querySelector(`[data-sort=${focusSort}]`))?.focus();
}

/** @param {URL} address @returns {Promise<HTMLElement | null>} */
async function fetchPage(address) {
  try {
    const response = await fetch(address);
    if (!response.ok) return null;
    const html = new DOMParser().parseFromString(await response.text(), "text/html");
    return html.querySelector("[data-page=leaderboard]");
  } catch {
    return null;
  }
}

/**
 * Copies the values that a link changed into the form, which is kept so that no typing is lost.
 * @param {HTMLFormElement} fresh
 */
function syncForm(fresh) {
  for (const field of form.querySelectorAll("input[type=hidden]")) field.remove();
  form.prepend(...fresh.querySelectorAll("input[type=hidden]"));
  for (const field of choices(form)) {
    const wanted = choices(fresh).find(({ name }) => name === field.name);
    if (!wanted || (field === document.activeElement && field.type === "search")) continue;
    const { value } = wanted;
    if (wanted instanceof HTMLSelectElement) field.replaceChildren(...wanted.options); // families are those of the board
    field.value = value;
  }
}

/** @param {HTMLFormElement} filters */
function choices(filters) {
  /** @type {NodeListOf<HTMLInputElement | HTMLSelectElement>} */
  const found = filters.querySelectorAll("select, input[type=search]");
  return [...found];
}

/** @param {HTMLElement} root */
function formOf(root) {
  return /** @type {HTMLFormElement} */ (root.querySelector("form"));
}
