"use strict";
(() => {
  // Paper cannot be opened: what is folded is printed, and folded again afterwards.
  const folded = Array.from(document.querySelectorAll("details:not([open])"));
  window.addEventListener("beforeprint", () => folded.forEach((part) => (part.open = true)));
  window.addEventListener("afterprint", () => folded.forEach((part) => (part.open = false)));
})();
