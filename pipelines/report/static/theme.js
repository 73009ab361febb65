// Light or dark before anything is drawn: what was chosen here last, else what the system asks for.
"use strict";
(function () {
  let chosen = null;
  try {
    chosen = localStorage.getItem("mbw-theme");
  } catch (error) {
    // Some browsers keep nothing for pages opened from a file: then the choice holds for this page only.
    if (!(error instanceof DOMException)) throw error;
  }
  if (chosen === "dark" || chosen === "light") document.documentElement.dataset.theme = chosen;
})();
