// Makes the classic scripts that pages load of the client's modules: `make bundle`, or `node bundle.mjs
// FOLDER` to put them elsewhere. A bundle begins with a hash of its sources, so that a stale one is noticed
// without this tool.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const client = join(here, "docsite", "client");
const target = process.argv[2] || join(client, "bundles");
const BUNDLES = {
  "engine.js": "search/main.js",
  "theme.js": "theme/main.js",
  "page.js": "page/main.js",
  "dialog.js": "dialog/main.js",
  "agent.js": "agent/main.js",
  "playground.js": "playground/main.js",
  "component.js": "component/main.js",
  "worker.js": "offline/worker.js",
  "redirect.js": "redirect/main.js",
};

/**
 * The hash of sources: for each in the order of their names the name and the content, both followed by a zero
 * byte.
 */
function hashOf(names) {
  const hash = createHash("sha256");
  for (const name of names) {
    hash
      .update(name)
      .update("\0")
      .update(readFileSync(join(client, name)))
      .update("\0");
  }
  return hash.digest("hex").slice(0, 16);
}

for (const [name, entry] of Object.entries(BUNDLES)) {
  const { outputFiles, metafile } = await build({
    absWorkingDir: here,
    entryPoints: [join(client, entry)],
    bundle: true,
    format: "iife",
    target: "es2022",
    // Other scripts and the tests know objects by the names of their properties, which stay.
    minify: true,
    charset: "ascii",
    legalComments: "none",
    metafile: true,
    write: false,
  });
  const inputs = Object.keys(metafile.inputs).map((path) =>
    relative(client, join(here, path)).split(sep).join("/"),
  );
  writeFileSync(join(target, name), `/* sources ${hashOf(inputs.sort())} */\n${outputFiles[0].text}`);
}
