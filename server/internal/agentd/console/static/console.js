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
let leaves = false; // to load the list again would keep a person from the link that was chosen
addEventListener("beforeunload", () => {
  leaves = true;
});
const reload = () => {
  if (!leaves) location.reload();
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
      if (list) setTimeout(reload, Math.max(0, 1000 - performance.now())); // at most once a second
      else if (changed.dataset.source === JSON.parse(event.data)) changed.hidden = false;
    };
    stream.onerror = () => {
      stream.close();
      setTimeout(follow, pause);
      pause = Math.min(2 * pause, 60_000);
    };
  };
  follow();
}
