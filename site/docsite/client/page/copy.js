// @ts-check
// Gives every code block buttons: one copies its text, one wraps long lines.

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

  /**
   * @param {Element} block
   * @param {HTMLElement} buttons
   */
  function offerWrapping(block, buttons) {
    const pre = block.querySelector("pre");
    const isWrapped = block.classList.contains("wrapped");
    if (!pre || buttons.childElementCount > 1 || (!isWrapped && pre.scrollWidth <= pre.clientWidth)) return;
    const button = reader.element(
      "button",
      { type: "button", "aria-pressed": String(isWrapped) },
      say("wrap"),
    );
    button.addEventListener("click", () => {
      button.setAttribute("aria-pressed", String(block.classList.toggle("wrapped")));
    });
    buttons.prepend(button);
  }

  /**
   * @param {Element} code
   * @returns {string} the text; of a session in a terminal, the commands alone, without prompts
   */
  function textOf(code) {
    const written = code.textContent || "";
    if (!code.querySelector(".gp")) return written;
    const session = /** @type {Element} */ (code.cloneNode(true));
    // Marks that no text holds, for a prompt and for output.
    session.querySelectorAll(".gp").forEach((prompt) => prompt.replaceWith("\ue000"));
    session.querySelectorAll(".go, .gt").forEach((output) => output.prepend("\ue001"));
    let isOutput = true;
    const commands = (session.textContent || "").split("\n").filter((line) => {
      if (line.includes("\ue001")) isOutput = true;
      else if (line.includes("\ue000")) isOutput = false;
      return !isOutput;
    });
    const text = commands.map((line) => line.replace(/^\s*\ue000/, "")).join("\n");
    return text.trim() ? `${text.trimEnd()}\n` : written;
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

    const buttons = reader.element("div", { class: "code-buttons" }, button);
    button.addEventListener("click", () => {
      copy(textOf(code), button).then(
        () => show(say("copied")),
        () => show(say("not_copied")),
      );
    });
    block.append(buttons);
    // Measured when somebody comes near: a tab that is not open has no width.
    for (const event of ["pointerenter", "focusin"]) {
      block.addEventListener(event, () => offerWrapping(block, buttons), { once: true });
    }
  });
}
