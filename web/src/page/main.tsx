/** Entry of the page. */

import { render } from "preact";

import "../../../python/nodeb/templates/style.css";
import { open } from "../core/pool";
import { App } from "./app";
import { paintSheet } from "./figures/paints";
import "./style.css";
import { missing } from "./support";
import { Workbench } from "./workbench";

async function begin(): Promise<void> {
  const page = document.getElementById("page")!;
  document.head.append(Object.assign(document.createElement("style"), { textContent: paintSheet() }));
  const problem = missing();
  if (problem) {
    page.textContent = problem;
    return;
  }
  try {
    const engine = await open();
    Object.assign(globalThis, { nodeb: engine }); // for the browser's console, and for tests
    const bench = new Workbench(engine, await engine.about());
    page.replaceChildren();
    render(<App bench={bench} />, page);
    await bench.openAddress();
  } catch (error) {
    page.textContent = `The simulator did not start: ${error instanceof Error ? error.message : String(error)}`;
  }
}

void begin();
