// Of every page: theme and shortcuts without reloading (the server sets the cookies), drawings that are not there yet, copying, studies.

import { enableCopying } from "./copy.js";
import { awaitDrawings } from "./drawn.js";
import { followStudy } from "./study.js";

awaitDrawings(document);
enableCopying(document);
followStudy(document);

// The address may have changed since the page was loaded, so the address to return to is set now.
document.querySelector("[data-part=preferences]")?.addEventListener("submit", ({ target }) => {
  const next = target instanceof HTMLFormElement && target.elements.namedItem("next");
  if (next instanceof HTMLInputElement) next.value = location.pathname + location.search;
});

/** @type {Record<string, (value: string) => void>} */
const apply = {
  theme(value) {
    document.documentElement.dataset.theme = value;
    const scheme = value === "system" ? "light dark" : value;
    document.querySelector("meta[name=color-scheme]")?.setAttribute("content", scheme);
    document.dispatchEvent(new CustomEvent("themechange"));
  },
  shortcuts(value) {
    document.documentElement.dataset.shortcuts = value;
    document.dispatchEvent(new CustomEvent("shortcutschange"));
  },
};

document.addEventListener("click", (event) => {
  const button = event.target instanceof Element && event.target.closest("button.preference");
  if (!(button instanceof HTMLButtonElement) || !button.form || !(button.name in apply)) return;
  event.preventDefault();
  for (const other of document.querySelectorAll(`button.preference[name=${button.name}]`)) {
    other.setAttribute("aria-pressed", String(other instanceof HTMLButtonElement && other.value === button.value));
  }
  apply[button.name](button.value);
  const body = new URLSearchParams({ [button.name]: button.value, next: location.pathname });
  fetch(button.form.action, { method: "POST", body, redirect: "manual" }).catch(() => {
    // The server is unreachable: the choice applies to this page only.
  });
});
