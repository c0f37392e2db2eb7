// A double of the search engine's interface, for tests of the dialog: answers by the words of the query.
window.noctule = {
  opened: [],
  asked: [],
  warmed: [],
  open({ base }) {
    if (base.includes("/away/")) return Promise.reject(new Error("not there"));
    if (base.includes("/slow/")) return new Promise(() => undefined);
    const engine = {
      warm: (prefix) => window.noctule.warmed.push(prefix),
      suggest: async () => [],
      facets: async (answer) => (answer || window.noctule.answer("", { filters: {} })).own,
      browse: async (options) => {
        window.noctule.browsed = options.filters;
        return { ...window.noctule.answer("", { filters: {} }), total: 9 };
      },
      more: async (answer, count) => {
        window.noctule.grown = (window.noctule.grown || 0) + 1;
        const from = answer.hits.length;
        return Array.from({ length: Math.min(count, 12 - from) }, (_, i) => ({
          ...answer.hits[1],
          url: `more/${from + i}.html`,
          title: `More ${from + i}`,
        }));
      },
      search: (query, options) => {
        window.noctule.asked.push({
          query,
          filters: options.filters,
          weights: options.weights,
          facets: options.facets,
        });
        const wait = query.includes("slow") ? 400 : 0;
        const early = {
          url: "early.html",
          title: "Early",
          breadcrumb: [],
          score: 1,
          why: { terms: [] },
          sections: [],
        };
        if (query.includes("early")) window.setTimeout(() => options.early([early]), 50);
        return new Promise((resolve, reject) => {
          window.setTimeout(() => {
            if (query.includes("damaged"))
              reject(Object.assign(new Error("shard 7 is damaged"), { code: "damaged" }));
            else if (query.includes("rebuilt"))
              reject(Object.assign(new Error("other build"), { code: "other-build" }));
            else if (query.includes("crash")) reject(new Error("no memory <b>left</b>"));
            else resolve(window.noctule.answer(query, options));
          }, wait);
        });
      },
    };
    window.noctule.opened.push(base);
    return Promise.resolve(engine);
  },
  answer(query, options) {
    const took = { ms: 1, bytes: 2, requests: 3 };
    const facets = {
      section: [
        { value: "guide", count: 7 },
        { value: "api", count: 2 },
        { value: "", count: 1 },
      ],
      tag: Array.from({ length: 9 }, (_, i) => ({ value: `tag${i}`, count: 9 - i })),
      community: [
        { value: 0, label: "bats, caves", count: 4 },
        { value: 1, label: "owls", count: 1 },
      ],
      language: [
        { value: "en", count: 8 },
        { value: "ar", count: 1 },
      ],
    };
    if (query.includes("zzz")) {
      return {
        hits: [],
        total: 0,
        facets: {},
        spelling: [{ from: "zzz", to: "bats", offered: false }],
        near: ["owls", "bats"],
        took,
      };
    }
    const weights = options.weights || { keyword: 1, semantic: 1, links: 1, support: 1 };
    const pages = [
      ["guide/install.html", "Install the <b>bats</b>", ["Guide", "Start"], 0.8, 0.2],
      ["index.html", "Home", [], 0.5, 0.6],
      ["guide/hostile.html", "مرحبا Hostile", ["Guide"], 0.1, 0.7],
      ["javascript:document.title='owned'", "Outlaw", [], 0.05, 0.05],
    ];
    const hits = pages.map(([url, title, breadcrumb, keyword, semantic], place) => ({
      url,
      title,
      breadcrumb,
      score: keyword * weights.keyword + semantic * weights.semantic,
      why: { keyword, semantic, links: 1.1, support: 1, boost: 1, terms: ["bats", "owls"] },
      modified: place ? undefined : "2026-08-31",
      sections: place
        ? []
        : [
            {
              url,
              title: "",
              breadcrumb,
              excerpt: "All about bats & <img src=x onerror=\"document.title='owned'\"> owls",
              marks: [
                [10, 14],
                [12, 13],
                [900, 901],
              ],
            },
            {
              url: `${url}#step-1`,
              title: "Step 1",
              breadcrumb,
              excerpt: "Words about bats",
              marks: [[12, 16]],
            },
            {
              url: `${url}#step-2`,
              title: "Step 2",
              breadcrumb,
              excerpt: "let bats = 1;",
              marks: [],
              code: true,
            },
            { url: `${url}#step-3`, title: "Step 3", breadcrumb, excerpt: "Too many", marks: [] },
          ],
    }));
    hits.sort((a, b) => b.score - a.score);
    const kept = options.filters.tag ? hits.slice(0, 1) : hits;
    return {
      hits: kept,
      total: options.filters.tag ? 1 : 12,
      facets: {},
      own: facets,
      spelling: query.includes("batz") ? [{ from: "batz", to: "bats", offered: query.includes(" ") }] : [],
      near: [],
      took,
    };
  },
};
