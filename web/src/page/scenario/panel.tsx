/** The scenario that is edited: its controls, and the same as text. */

import { useMemo } from "preact/hooks";

import { NAMES, type Side } from "../simulation";
import type { Workbench } from "../workbench";
import { Controls } from "./controls";
import { Editor } from "./editor";
import { mistakesOf } from "./mistakes";

export function ScenarioPanel({ bench }: { bench: Workbench }) {
  const { sides, edited, schema } = bench;
  const side = bench.side.value;
  if (!side) return null;
  const areTwo = sides.value.length > 1;
  const edit = (text: string) => bench.edit(text);
  return (
    <section class="scenario" aria-label="Scenario">
      <div class="choices" role="group" aria-label="Scenario to edit">
        {areTwo &&
          NAMES.map((name, at) => (
            <button key={name} type="button" aria-pressed={edited.value === at} onClick={() => (edited.value = at)}>
              Scenario {name}
            </button>
          ))}
        {areTwo ? (
          <button type="button" onClick={() => bench.removeSide()}>
            Remove {NAMES[edited.value]}
          </button>
        ) : (
          <button type="button" onClick={() => bench.addSide()}>
            Compare with a second scenario
          </button>
        )}
      </div>
      <details open>
        <summary>Controls</summary>
        {!side.isToml.value && <p class="note">The controls show the last text without syntax errors.</p>}
        <div class="controls" inert={!side.isToml.value}>
          <Controls document={side.document.value} schema={schema} onEdit={edit} />
        </div>
      </details>
      <details open>
        <summary>Text (TOML)</summary>
        <TextOf side={side} bench={bench} key={edited.value} />
      </details>
    </section>
  );
}

function TextOf({ side, bench }: { side: Side; bench: Workbench }) {
  const reading = side.reading.value;
  const mistakes = useMemo(() => mistakesOf(reading), [reading]);
  return <Editor label="Scenario in TOML" text={side.text} schema={bench.schema} mistakes={mistakes} onEdit={(text) => bench.edit(text)} />;
}

/** Problems of a side's text, and the announcement of a long simulation. */
export function Mistakes({ side, name }: { side: Side; name: string }) {
  const mistakes = mistakesOf(side.reading.value);
  const announcement = side.announcement.value;
  const who = name ? `Scenario ${name}: ` : "";
  return (
    <>
      {mistakes.map((one) => (
        <p key={one.text} class={one.severity === "error" ? "banner error" : "banner"} role={one.severity === "error" ? "alert" : "status"}>
          {who}
          {one.line !== null && `line ${one.line}: `}
          {one.text}
        </p>
      ))}
      {side.failure.value && (
        <p class="banner error" role="alert">
          {who}
          {side.failure.value}
        </p>
      )}
      {announcement && (
        <p class="banner" role="alert">
          {who}one replication would take about {Math.round(announcement.seconds)} s here. Shorter: {announcement.advice.join(", ")}. Outside the
          browser it is faster: save the text and use <code>nodeb run scenario.toml</code>.{" "}
          <button type="button" onClick={() => void side.simulate(true)}>
            Run it here
          </button>
        </p>
      )}
    </>
  );
}
