// @ts-check
// What a person types becomes words and operators: "a phrase", -word, begin*.

/**
 * `plain` is what is left to read; `partial` is the word that is still being typed, if it is one.
 * @typedef {{plain: string, phrases: string[], excluded: string[], prefixes: string[], partial: string}}
 *   Typed
 */

const MOST_QUERY_CHARS = 1000;

/**
 * The words and the operators of a query; one of nothing but exclusions is read as words.
 * @param {string} text
 * @returns {Typed}
 */
export function takenApart(text) {
  const read = text
    .slice(0, MOST_QUERY_CHARS)
    .replace(/[“”„«»]/g, '"')
    .replace(/\0/g, " ")
    .trimStart();
  /** @type {Typed} */
  const typed = { plain: "", phrases: [], excluded: [], prefixes: [], partial: "" };
  /** @type {string[]} */
  const plain = [];
  for (const [token, minus, phrase, word] of read.matchAll(/((?<!\S)-)?(?:"([^"]*)"?|([^\s"]+))/g)) {
    const value = (phrase ?? word ?? "").trim();
    const prefix = /^([\p{L}\p{N}_]{2,})\*$/u.exec(token);
    if (!/[\p{L}\p{N}]/u.test(value)) plain.push(token);
    else if (minus && (phrase !== undefined || /^[\p{L}][\p{L}\p{N}_]+$/u.test(value)))
      typed.excluded.push(value);
    else if (prefix) typed.prefixes.push(prefix[1]);
    else {
      if (phrase !== undefined) typed.phrases.push(value);
      plain.push(phrase === undefined ? token : value);
    }
  }
  if (!plain.length && !typed.prefixes.length) return { ...typed, plain: read, excluded: [] };
  const partial = /[\p{L}\p{N}_]+$/u.exec(read);
  typed.partial = partial && !typed.excluded.some((value) => read.endsWith(value)) ? partial[0] : "";
  return { ...typed, plain: plain.join(" ") };
}
