/**
 * Builds the playground, one HTML file that works without a network, and the script of live figures in other pages.
 *
 *     node build.mjs MODULE.wasm FOLDER
 *
 * writes FOLDER/play.html and FOLDER/live.js.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

import { build } from "esbuild";

import { lifeParts } from "./life-parts.mjs";

const HERE = fileURLToPath(new URL(".", import.meta.url));

const OPTIONS = {
  absWorkingDir: HERE,
  bundle: true,
  minify: true,
  write: false,
  format: "iife",
  target: ["es2022"],
  charset: "utf8",
  legalComments: "none",
  loader: { ".toml": "text" },
  jsx: "automatic",
  jsxImportSource: "preact",
  logLevel: "warning",
};

/** esbuild plugin: the simulator's module, compressed, in base64. */
const simulator = (file) => ({
  name: "simulator",
  setup(build) {
    build.onResolve({ filter: /^nodeb-web\.wasm$/ }, ({ path }) => ({ path, namespace: "simulator" }));
    build.onLoad({ filter: /.*/, namespace: "simulator" }, () => ({
      contents: gzipSync(readFileSync(file), { level: 9 }).toString("base64"),
      loader: "text",
    }));
  },
});

/** esbuild plugin: the script of a worker as a text. */
const workers = {
  name: "workers",
  setup(build) {
    build.onResolve({ filter: /^worker:/ }, ({ path, resolveDir }) => ({
      path: join(resolveDir, path.slice("worker:".length)),
      namespace: "worker",
    }));
    build.onLoad({ filter: /.*/, namespace: "worker" }, async ({ path }) => ({
      contents: (await bundled(path, [])).script,
      loader: "text",
    }));
  },
};

/** Returns the script and the style sheet of an entry. */
async function bundled(entry, plugins) {
  const { outputFiles } = await build({ ...OPTIONS, entryPoints: [entry], outdir: "out", plugins });
  const text = (end) => outputFiles.find(({ path }) => path.endsWith(end))?.text ?? "";
  return { script: text(".js"), style: text(".css") };
}

/** Returns the page with the script and the style sheet in it. */
function filled(template, { script, style }) {
  const inside = script.replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
  return template
    .replace("</head>", () => `  <style>${style}</style>\n  </head>`)
    .replace("</body>", () => `  <script>${inside}</script>\n  </body>`);
}

/** Returns a script that also adds the style sheet to the page. */
function withStyle({ script, style }) {
  return `document.head.append(Object.assign(document.createElement("style"),{textContent:${JSON.stringify(style)}}));${script}`;
}

function write(file, text) {
  writeFileSync(file, text);
  const sizes = [text.length, gzipSync(text, { level: 9 }).length].map((bytes) => `${(bytes / 1e6).toFixed(2)} MB`);
  console.log(`${file}: ${sizes[0]}, ${sizes[1]} compressed`);
}

const [module, folder] = process.argv.slice(2);
if (!folder) {
  console.error("usage: node build.mjs MODULE.wasm FOLDER");
  process.exit(2);
}
const plugins = [lifeParts, simulator(module), workers];
const template = readFileSync(`${HERE}/index.html`, "utf8");
write(`${folder}/play.html`, filled(template, await bundled("src/page/main.tsx", plugins)));
write(`${folder}/live.js`, withStyle(await bundled("src/live/main.tsx", plugins)));
