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
if (list || changed) {
  const stream = new EventSource("/events");
  stream.onmessage = (event) => {
    if (list) location.reload();
    else if (changed.dataset.source === JSON.parse(event.data)) changed.hidden = false;
  };
}
