// The pages work without this script. It says when the list has changed, and arms the buttons again
// when the page comes back into view.
"use strict";
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState !== "visible") return;
  for (const button of document.querySelectorAll("button.yes, .offers button")) {
    button.style.animation = "none";
    void button.offsetWidth;
    button.style.animation = "";
  }
});
