// @ts-check
// Gives every code block a button that copies its text.
(function () {
  "use strict";

  /**
   * @param {string} text
   * @param {HTMLElement} button
   * @returns {Promise<void>}
   */
  function copy(text, button) {
    if (navigator.clipboard && window.isSecureContext) {
      return navigator.clipboard.writeText(text).catch(function () {
        return copyBySelection(text, button);
      });
    }
    return copyBySelection(text, button);
  }

  /**
   * The way that also works where there is no clipboard API (plain http).
   * @param {string} text
   * @param {HTMLElement} button
   * @returns {Promise<void>}
   */
  function copyBySelection(text, button) {
    var area = document.createElement("textarea");
    area.value = text;
    area.className = "copy-source";
    area.setAttribute("aria-hidden", "true");
    document.body.appendChild(area);
    area.select();
    var done = false;
    try {
      done = document.execCommand("copy");
    } catch (_) {
      done = false;
    }
    area.remove();
    button.focus();
    return done ? Promise.resolve() : Promise.reject(new Error("the browser did not copy"));
  }

  var status = document.createElement("div");
  status.className = "visually-hidden";
  status.setAttribute("role", "status");
  document.body.appendChild(status);

  document.querySelectorAll(".code").forEach(function (block) {
    var code = block.querySelector("code");
    if (!code) return;
    var button = document.createElement("button");
    button.type = "button";
    button.className = "copy-button";
    button.textContent = "Copy";
    button.setAttribute("aria-label", "Copy code");
    /** @type {number | undefined} */
    var timer;

    /** @param {string} label */
    function say(label) {
      button.textContent = label;
      status.textContent = label;
      window.clearTimeout(timer);
      timer = window.setTimeout(function () {
        button.textContent = "Copy";
        status.textContent = "";
      }, 2000);
    }

    button.addEventListener("click", function () {
      copy(code ? code.textContent || "" : "", button).then(
        function () {
          say("Copied");
        },
        function () {
          say("Not copied");
        }
      );
    });
    block.appendChild(button);
  });
})();
