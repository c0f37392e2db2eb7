// @ts-check
// Runs in <head> before anything is painted, so that a chosen theme never flashes the other one, and tabs
// do not jump.

var KEY = "noctule-theme";
var CHOICES = ["auto", "light", "dark"];
var root = document.documentElement;

/** @returns {string} one of CHOICES; storage may be forbidden, then it is "auto" */
function stored() {
  try {
    var value = window.localStorage.getItem(KEY);
    return value !== null && CHOICES.indexOf(value) > 0 ? value : "auto";
  } catch (_) {
    return "auto";
  }
}

/** @param {string} choice */
function store(choice) {
  try {
    window.localStorage.setItem(KEY, choice);
  } catch (_) {
    // The choice then holds for this page only.
  }
}

/** @param {string} choice */
function apply(choice) {
  if (choice === "auto") root.removeAttribute("data-theme");
  else root.setAttribute("data-theme", choice);
}

var current = stored();
apply(current);

// Until the page's script has arranged them, boxes that will be tabs take the room of tabs. If it does not
// come, all of them show.
root.setAttribute("data-arranging", "");
window.addEventListener("load", function () {
  root.removeAttribute("data-arranging");
});

document.addEventListener("DOMContentLoaded", function () {
  var button = document.querySelector("[data-theme-toggle]");
  if (!(button instanceof HTMLButtonElement)) return;
  var toggle = button;

  function show() {
    var say = window.noctuleReader.say;
    var theme = say("page", current);
    toggle.textContent = say("page", "theme", { theme: theme });
    toggle.setAttribute("aria-label", say("page", "theme_label", { theme: theme }));
  }

  toggle.addEventListener("click", function () {
    current = CHOICES[(CHOICES.indexOf(current) + 1) % CHOICES.length];
    apply(current);
    store(current);
    show();
  });
  show();
  toggle.hidden = false;
});

window.addEventListener("storage", function (event) {
  if (event.key === KEY) {
    current = stored();
    apply(current);
  }
});
