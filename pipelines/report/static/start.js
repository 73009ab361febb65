// The theme's button, and the first drawing.
"use strict";
(function () {
  const root = document.documentElement;
  const button = document.getElementById("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const name = () => {
    button.textContent = dark() ? "Light" : "Dark";
    button.setAttribute("aria-label", dark() ? "Switch to light colours" : "Switch to dark colours");
  };
  button.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    try {
      localStorage.setItem("mbw-theme", root.dataset.theme);
    } catch (error) {
      if (!(error instanceof DOMException)) throw error; // as in theme.js
    }
    name();
    mbw.redraw();
  });
  system.addEventListener("change", () => (name(), mbw.redraw()));
  name();

  let width = innerWidth;
  let waiting = null;
  addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      if (innerWidth !== width) {
        width = innerWidth;
        mbw.redraw();
      }
    }, 150);
  });
  // What is folded is printed too.
  addEventListener("beforeprint", () => {
    for (const details of document.querySelectorAll("details.numbers")) details.open = true;
  });
  mbw.redraw();
})();
