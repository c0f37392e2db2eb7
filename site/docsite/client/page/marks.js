// @ts-check
// Marks the words of the search that led here, without changing the text; Escape takes the marks away.

export function markFoundWords() {
  const KEY = "noctule-words";
  const MOST = 500;

  /** @returns {string[]} the words that led to this page, once */
  function words() {
    try {
      const kept = JSON.parse(window.sessionStorage.getItem(KEY) || "null");
      window.sessionStorage.removeItem(KEY);
      const fits = kept && kept.page === window.location.href.split("#")[0].split("?")[0];
      return fits && Array.isArray(kept.words)
        ? kept.words
            .map(String)
            .filter((/** @type {string} */ word) => word.length > 2 || /[^\x00-\x7f]/.test(word))
        : [];
    } catch {
      return [];
    }
  }

  const found = words();
  const article = document.querySelector("article");
  if (!found.length || !article || typeof Highlight !== "function" || !CSS.highlights) return;
  const pattern = new RegExp(
    found.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|"),
    "giu",
  );
  const marks = new Highlight();
  const walker = document.createTreeWalker(article, NodeFilter.SHOW_TEXT);
  while (walker.nextNode() && marks.size < MOST) {
    const node = walker.currentNode;
    for (const match of (node.nodeValue || "").matchAll(pattern)) {
      const range = new Range();
      range.setStart(node, match.index);
      range.setEnd(node, match.index + match[0].length);
      marks.add(range);
    }
  }
  CSS.highlights.set("noctule-found", marks);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") CSS.highlights.delete("noctule-found");
  });
}
