/** The page: the scenario on the left, its results on the right. */

import { Mistakes, ScenarioPanel } from "./scenario/panel";
import { ResultPanel } from "./result/panel";
import { sentenceOf } from "./result/answers";
import { commandOf, curvesCsv, metricsCsv, pythonOf } from "./share/formats";
import { Share } from "./share/dialog";
import { fragmentOf } from "./share/link";
import { pictureOf } from "./share/picture";
import { NAMES, type Side } from "./simulation";
import { STARTS } from "./starts";
import type { Workbench } from "./workbench";

export function App({ bench }: { bench: Workbench }) {
  const sides = bench.sides.value;
  const start = bench.start.value;
  const sentence = sentenceOf(bench.answers.said.value);
  return (
    <div class="play">
      <header class="top">
        <div class="topbar">
          <p class="eyebrow">nodeb <span class="muted">playground</span></p>
          <label>
            Question{" "}
            <select value={start?.name ?? ""} onChange={(event) => choose(bench, event.currentTarget.value)}>
              <option value="" disabled>
                your own scenario
              </option>
              {STARTS.map((one) => (
                <option key={one.name} value={one.name}>
                  {one.question}
                </option>
              ))}
            </select>
          </label>
          <Share texts={() => textsOf(bench)} picture={() => picture(bench, sentence)} />
        </div>
        {bench.problem.value && <p class="banner" role="alert">{bench.problem.value}</p>}
        {start && <p class="question">{start.about}</p>}
        <h1 aria-live="polite" aria-busy={sides.some((side) => side.isBusy.value)}>{sentence || waiting(sides)}</h1>
        {sides.map((side, at) => (
          <Mistakes key={at} side={side} name={sides.length > 1 ? NAMES[at]! : ""} />
        ))}
      </header>
      <div class="columns">
        <ScenarioPanel bench={bench} />
        <ResultPanel bench={bench} />
      </div>
      <footer>This page computes all results itself and sends no data.</footer>
    </div>
  );
}

/** Returns the heading of a page without an answer. */
function waiting(sides: readonly Side[]): string {
  const isStopped = sides.some((side) => side.announcement.value || side.failure.value || side.reading.value?.problems.length);
  return isStopped ? "Not simulated." : "Simulating \u2026";
}

function choose(bench: Workbench, name: string): void {
  const start = STARTS.find((one) => one.name === name);
  bench.problem.value = "";
  if (start) bench.begin(start);
}

const ON_DISK =
  "This page is a file on this disk, and so is what the link opens: others need the file too. " +
  "`nodeb play scenario.toml --out page.html` writes one file with the scenario in it; or pass on the TOML.";

async function textsOf(bench: Workbench) {
  const texts = bench.sides.value.map((side) => side.text.value);
  const address = location.href.replace(/#.*$/, "") + (await fragmentOf(texts));
  const results = (bench.answers.said.value?.sides ?? []).map((said, at) => ({ name: NAMES[at]!, said }));
  const first = bench.side.value?.first.value;
  return {
    Link: { content: address, file: "link.txt", ...(location.protocol === "file:" && { warning: ON_DISK }) },
    TOML: { content: bench.side.value?.text.value ?? "", file: "scenario.toml" },
    "Command line": { content: commandOf(texts), file: "run.sh" },
    Python: { content: pythonOf(texts), file: "run.py" },
    "CSV of metrics": { content: metricsCsv(results), file: "summary.csv" },
    "CSV of curves": { content: first ? curvesCsv(first.replication) : "", file: "curves.csv" },
  };
}

function picture(bench: Workbench, headline: string): Promise<Blob> {
  const side = bench.side.value!;
  const first = side.first.value;
  const bars = bench.answers.said.value?.sides[bench.edited.value]?.causes?.bars ?? [];
  return pictureOf({ headline, bars, explanation: first?.explanation, endS: first?.replication.endS ?? 1 });
}
