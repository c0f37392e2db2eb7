// @ts-check
// What the page's script has published for scripts that are loaded later: the search dialog and the
// playground.

export const reader = window.noctuleReader;
