// The pages work without this script. It arms the buttons again when a page comes back into view, and
// says or shows that what waits has changed.
"use strict";
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState !== "visible") return;
  for (const button of document.querySelectorAll("button.yes, .offers button")) {
    button.style.animation = "none";
    void button.offsetWidth;
    button.style.animation = "";
  }
});
const list = document.getElementById("inbox");
const changed = document.getElementById("changed");
const shows = list || changed;
// load shows the list as it is now. It does not load the page, which would keep a person from a link
// that was just chosen.
let loaded = 0; // when
let waits = false;
const load = () => {
  waits = false;
  loaded = performance.now();
  const request = new XMLHttpRequest();
  request.responseType = "document";
  request.onloadend = () => {
    if (request.status === 0 || request.status === 429 || request.status >= 500) return void setTimeout(load, 10_000);
    const main = request.response?.querySelector("#inbox") && request.response.querySelector("main");
    if (!main) return; // such as when the login has ended: the next click says so
    const focused = document.activeElement?.getAttribute("href");
    document.querySelector("main").replaceWith(document.adoptNode(main));
    if (focused) main.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  };
  request.open("GET", location.href);
  request.send();
};
if (shows) {
  let position = shows.dataset.position;
  let pause = 10_000; // grows while the server refuses
  const follow = () => {
    const stream = new EventSource("/events?position=" + encodeURIComponent(position));
    const goOn = (event) => {
      position = event.lastEventId || position;
      pause = 10_000;
    };
    stream.addEventListener("position", goOn);
    stream.onmessage = (event) => {
      goOn(event);
      if (list && !waits) {
        waits = true;
        setTimeout(load, Math.max(0, loaded + 1000 - performance.now())); // at most once a second
      } else if (!list && changed.dataset.source === JSON.parse(event.data)) changed.hidden = false;
    };
    stream.onerror = () => {
      stream.close();
      setTimeout(follow, pause);
      pause = Math.min(2 * pause, 60_000);
    };
  };
  follow();
}
