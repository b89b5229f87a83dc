/**
 * esbuild plugin: the parts of the reports' page of packet timelines that draw, as the module `life-parts`.
 *
 * The parts are plain scripts, which that page includes one after another.
 */

import { readFileSync } from "node:fs";

const FOLDER = new URL("../python/nodeb/templates/life/", import.meta.url);
const SCRIPTS = ["data", "view", "scene", "frame", "marks", "pick", "controls"];
const NAMES = "View, Scene, Marks, TOP, byUser, lowest, packetAt, blockAt, toldOfPacket, toldOfBlock, inks, fitted, drawAxis, drawGutter, usePointer";

export const lifeParts = {
  name: "life-parts",
  setup(build) {
    build.onResolve({ filter: /^life-parts$/ }, () => ({ path: "life-parts", namespace: "life" }));
    build.onLoad({ filter: /.*/, namespace: "life" }, () => {
      const scripts = SCRIPTS.map((name) => readFileSync(new URL(`${name}.js`, FOLDER), "utf8"));
      return { contents: `${scripts.join("\n")}\nexport { ${NAMES} };`, loader: "js" };
    });
  },
};
