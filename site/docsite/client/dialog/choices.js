// @ts-check
// The rows of the list that the arrow keys reach, and the one of them that is chosen.

export const rows = {
  /** @type {Choice[]} */
  choices: [],
  active: -1,
};

/** @param {DialogParts} parts @param {number} place */
export function activate(parts, place) {
  rows.choices[rows.active]?.link.setAttribute("aria-selected", "false");
  rows.active = place;
  const choice = rows.choices[place];
  if (!choice) {
    parts.input.removeAttribute("aria-activedescendant");
    return;
  }
  choice.link.setAttribute("aria-selected", "true");
  choice.link.scrollIntoView({ block: "nearest" });
  parts.input.setAttribute("aria-activedescendant", choice.link.id);
}

/**
 * Follows a key that moves, if it is one.
 * @param {DialogParts} parts
 * @param {KeyboardEvent} event
 * @returns {boolean}
 */
export function moved(parts, event) {
  const { choices, active } = rows;
  const down = event.key === "ArrowDown" || (event.ctrlKey && event.key === "n");
  const up = event.key === "ArrowUp" || (event.ctrlKey && event.key === "p");
  const ends = (event.key === "Home" || event.key === "End") && active >= 0;
  if (!down && !up && !ends) return false;
  event.preventDefault();
  const next = down ? active + 1 : (active < 0 ? choices.length : active) - 1;
  if (ends) activate(parts, event.key === "Home" ? 0 : choices.length - 1);
  else if (choices.length) activate(parts, (next + choices.length) % choices.length);
  return true;
}
