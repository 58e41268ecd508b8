// Switches the theme without reloading the page; the server sets the cookie.

// The address may have changed since the page was loaded, so the address to return to is set now.
document.querySelector("[data-part=preferences]")?.addEventListener("submit", ({ target }) => {
  const next = target instanceof HTMLFormElement && target.elements.namedItem("next");
  if (next instanceof HTMLInputElement) next.value = location.pathname + location.search;
});

const themes = document.querySelector("[data-part=themes]");

themes?.addEventListener("click", (event) => {
  const button = event.target instanceof Element && event.target.closest("[name=theme]");
  if (!(button instanceof HTMLButtonElement) || !button.form) return;
  event.preventDefault();
  for (const other of themes.querySelectorAll("[name=theme]")) other.setAttribute("aria-pressed", String(other === button));
  document.documentElement.dataset.theme = button.value;
  const scheme = button.value === "system" ? "light dark" : button.value;
  document.querySelector("meta[name=color-scheme]")?.setAttribute("content", scheme);
  document.dispatchEvent(new CustomEvent("themechange"));
  const body = new URLSearchParams({ theme: button.value, next: location.pathname });
  fetch(button.form.action, { method: "POST", body, redirect: "manual" }).catch(() => {
    // The server is unreachable: the choice applies to this page only.
  });
});
