// @ts-check
// Gives every code block a button that copies its text.

import { reader } from "../reader/reader.js";

export function addCopyButtons() {
  /** @param {string} key */
  const say = (key) => reader.say("page", key);

  /**
   * @param {string} text
   * @param {HTMLElement} button
   * @returns {Promise<void>}
   */
  function copy(text, button) {
    if (navigator.clipboard && window.isSecureContext) {
      return navigator.clipboard.writeText(text).catch(() => copyBySelection(text, button));
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
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "copy-source";
    area.setAttribute("aria-hidden", "true");
    document.body.append(area);
    area.select();
    let done = false;
    try {
      done = document.execCommand("copy");
    } catch {
      done = false;
    }
    area.remove();
    button.focus();
    return done ? Promise.resolve() : Promise.reject(new Error("the browser did not copy"));
  }

  const blocks = document.querySelectorAll(".code");
  if (!blocks.length) return;
  const status = reader.element("div", { class: "visually-hidden", role: "status" });
  document.body.append(status);

  blocks.forEach((block) => {
    const code = block.querySelector("code");
    if (!code) return;
    const button = reader.element(
      "button",
      { type: "button", class: "copy-button", "aria-label": say("copy_code") },
      say("copy"),
    );
    let timer = 0;

    /** @param {string} label */
    function show(label) {
      button.textContent = label;
      status.textContent = label;
      window.clearTimeout(timer);
      timer = window.setTimeout(() => {
        button.textContent = say("copy");
        status.textContent = "";
      }, 2000);
    }

    button.addEventListener("click", () => {
      copy(code.textContent || "", button).then(
        () => show(say("copied")),
        () => show(say("not_copied")),
      );
    });
    block.append(button);
  });
}
