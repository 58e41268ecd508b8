// Pictures that a worker draws on demand: while the server answers that it is drawing, the page asks again.

const PAUSES_MS = [1500, 2500, 4000, 6000, 10_000, 20_000, 40_000];
/** In place of a picture that is not there yet: the browser's sign for a broken one would be wrong. */
const NOTHING = "data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==";

/** @param {ParentNode} root */
export function awaitDrawings(root) {
  for (const picture of root.querySelectorAll("img[data-drawn]")) {
    if (picture instanceof HTMLImageElement) keepAsking(picture);
  }
}

/** @param {HTMLImageElement} picture */
function keepAsking(picture) {
  const address = picture.src;
  let asked = 0;
  const wait = () => {
    picture.src = NOTHING;
    if (asked === PAUSES_MS.length) return;
    setTimeout(() => (picture.src = `${address}?again=${asked}`), PAUSES_MS[asked]);
    asked += 1;
  };
  picture.addEventListener("error", wait);
  if (picture.complete && picture.naturalWidth === 0) wait();
}
