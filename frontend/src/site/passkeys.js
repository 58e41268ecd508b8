// Signing in with a passkey, and making one. The server asks in JSON and gets the answer in a hidden field of the form.

/** @typedef {{ challenge: string, [key: string]: any }} Options */

/** @param {string} text */
const bytes = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));

/** @param {ArrayBuffer | null} buffer */
const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer ?? new ArrayBuffer(0))))
  .replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

/** @param {{ id: string }[] | undefined} credentials */
const known = (credentials) => (credentials ?? []).map((each) => ({ ...each, type: /** @type {const} */ ("public-key"), id: bytes(each.id) }));

/** A new passkey, which the device itself finds again and which asks its owner to confirm. @param {Options} asked */
async function create(asked) {
  const made = await navigator.credentials.create({
    publicKey: /** @type {any} */ ({
      ...asked,
      challenge: bytes(asked.challenge),
      user: { ...asked.user, id: bytes(asked.user.id) },
      excludeCredentials: known(asked.excludeCredentials),
      authenticatorSelection: {
        ...asked.authenticatorSelection, residentKey: "required", requireResidentKey: true, userVerification: "required",
      },
    }),
  });
  if (!(made instanceof PublicKeyCredential) || !(made.response instanceof AuthenticatorAttestationResponse)) return null;
  const { response } = made;
  return answer(made, {
    attestationObject: text(response.attestationObject), transports: response.getTransports?.() ?? [],
  });
}

/** The passkey that its owner chooses. @param {Options} asked */
async function get(asked) {
  const found = await navigator.credentials.get({
    publicKey: { ...asked, challenge: bytes(asked.challenge), allowCredentials: known(asked.allowCredentials) },
  });
  if (!(found instanceof PublicKeyCredential) || !(found.response instanceof AuthenticatorAssertionResponse)) return null;
  const { authenticatorData, signature, userHandle } = found.response;
  return answer(found, {
    authenticatorData: text(authenticatorData), signature: text(signature), userHandle: text(userHandle),
  });
}

/** @param {PublicKeyCredential} credential @param {Record<string, unknown>} response */
function answer(credential, response) {
  return {
    id: credential.id,
    rawId: text(credential.rawId),
    type: credential.type,
    clientExtensionResults: credential.getClientExtensionResults(),
    response: { clientDataJSON: text(credential.response.clientDataJSON), ...response },
  };
}

/** @param {HTMLFormElement} form @returns {Promise<Options>} */
async function options(form) {
  if (form.dataset.passkey === "create") {
    return JSON.parse(document.getElementById("passkey-options")?.textContent ?? "{}").creation_options.publicKey;
  }
  const asked = await fetch(form.action, { headers: { Accept: "application/json" } });
  if (!asked.ok) throw new Error(`${form.action} answers ${asked.status}`);
  return (await asked.json()).request_options.publicKey;
}

/** @param {HTMLFormElement} form @param {string} part @param {boolean} shown */
function show(form, part, shown) {
  const element = form.querySelector(`[data-part=${part}]`);
  if (element instanceof HTMLElement) element.hidden = !shown;
}

/** @param {HTMLFormElement} form */
async function submit(form) {
  show(form, "refused", false);
  try {
    const asked = await options(form);
    const credential = await (form.dataset.passkey === "create" ? create(asked) : get(asked));
    const field = form.elements.namedItem("credential");
    if (!credential || !(field instanceof HTMLInputElement)) throw new Error("no passkey");
    field.value = JSON.stringify(credential);
    form.submit();
  } catch {
    show(form, "refused", true); // its owner said no, or the device has none for this site
  }
}

// A passkey belongs to a name: browsers make none for an address that is a number.
const possible = "PublicKeyCredential" in window && !/^[\d.]+$|^\[/.test(location.hostname);

for (const form of document.querySelectorAll("form[data-passkey]")) {
  if (!(form instanceof HTMLFormElement)) continue;
  if (!possible) {
    show(form, "unsupported", true);
    for (const button of form.querySelectorAll("button")) button.disabled = true;
    continue;
  }
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void submit(form);
  });
}
