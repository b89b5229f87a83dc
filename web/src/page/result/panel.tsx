/** Results of the scenarios: answer, critical paths, curves, packet timelines, metrics. */

import { useMemo } from "preact/hooks";

import type { SideSaid } from "../../core/api";
import { BarChart } from "../figures/bars";
import { Chart } from "../figures/chart";
import { Strip } from "../figures/strip";
import { shownSpan } from "../figures/time";
import { ZoomBar } from "../figures/zoombar";
import { Lives } from "../lives/lives";
import { type First, NAMES, type Side } from "../simulation";
import type { Workbench } from "../workbench";
import { AllMetrics, Answer, Comparison } from "./answers";
import { curvesOf } from "./curves";

export function ResultPanel({ bench }: { bench: Workbench }) {
  const sides = bench.sides.value;
  const side = bench.side.value;
  const { said } = bench.answers;
  const compared = said.value?.compared;
  const mine = said.value?.sides[bench.edited.value];
  const first = side?.first.value;
  if (!side) return null;
  return (
    <section class="result" aria-label="Result" aria-busy={sides.some((one) => one.isBusy.value) || bench.answers.isBusy.value}>
      <Progress sides={sides} />
      {sides.some(isOutdated) && <p class="note" role="status">These results belong to an earlier text; the present one was not simulated.</p>}
      {compared ? <Comparison compared={compared} /> : mine && first && <Answer said={mine} />}
      {compared && <Causes sides={said.value!.sides} />}
      <OverTime bench={bench} />
      {mine && <AllMetrics said={mine} />}
    </section>
  );
}

/** Returns true if a side shows the results of an earlier text, and no others are coming. */
function isOutdated({ first, text, isBusy }: Side): boolean {
  return first.value !== undefined && first.value.text !== text.value && !isBusy.value;
}

/** Causes of both sides' transfers, if both are known. */
function Causes({ sides }: { sides: readonly SideSaid[] }) {
  if (!sides.every(({ causes }) => causes)) return null;
  return (
    <div class="pair">
      {sides.map(({ causes }, at) => (
        <div key={at}>
          <BarChart title={`${causes!.title}: ${NAMES[at]}`} bars={causes!.bars} />
        </div>
      ))}
    </div>
  );
}

function Progress({ sides }: { sides: readonly Side[] }) {
  const running = sides.filter((side) => side.progress.value !== undefined);
  if (!running.length) return null;
  const stop = () => running.forEach((side) => side.stop());
  return (
    <p class="progress">
      <progress value={Math.min(...running.map((side) => side.progress.value!))} aria-label="Simulation" />{" "}
      <button type="button" onClick={stop}>
        Stop
      </button>
    </p>
  );
}

/** Figures on one time axis; with two scenarios, both are in each chart. */
function OverTime({ bench }: { bench: Workbench }) {
  const sides = bench.sides.value;
  const shown = sides.flatMap((side, at) => (side.first.value ? [{ name: NAMES[at]!, first: side.first.value }] : []));
  const charts = useMemo(() => curvesOf(shown), shown.map((one) => one.first));
  const side = bench.side.value!;
  if (!shown.length) return null;
  const endS = Math.max(...shown.map((one) => one.first.replication.endS));
  const span = shownSpan(endS);
  return (
    <>
      <div class="over-time">
        <h2>Over time</h2>
        <ZoomBar endS={endS} />
        <Phone side={side} first={side.first.value} />
        {side.first.value && !side.first.value.explanation && (
          <button type="button" onClick={() => void side.explainNow()}>
            Explain this phone's transfer
          </button>
        )}
      </div>
      {shown.map(
        ({ name, first }) =>
          first.explanation && (
            <Strip key={name} title={shown.length > 1 ? `Why it waited: ${name}` : "Why it waited"} explanation={first.explanation} span={span} endS={endS} />
          ),
      )}
      {charts.map((one) => (
        <Chart key={one.title} title={one.title} unit={one.unit} lines={one.lines} endS={endS} />
      ))}
      {side.first.value && <Lives engine={bench.engine} first={side.first.value} />}
      <p class="note">One replication, number 0. Drag across a chart to zoom; Home shows all.</p>
    </>
  );
}

/** List of the phones to look at. */
function Phone({ side, first }: { side: Side; first: First | undefined }) {
  const users = first?.scenario.users ?? 1;
  if (users < 2) return null;
  return (
    <label>
      Phone{" "}
      <select value={side.user.value} onChange={(event) => side.look(Number(event.currentTarget.value))}>
        {Array.from({ length: Math.min(users, 200) }, (_, user) => (
          <option key={user}>{user}</option>
        ))}
      </select>
    </label>
  );
}
