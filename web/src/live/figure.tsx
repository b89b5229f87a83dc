/** Live figure: one or two scenarios with sliders, their answer and their curves. */

import { signal } from "@preact/signals";
import { useMemo, useState } from "preact/hooks";

import type { Engine, Said } from "../core/api";
import { Chart } from "../page/figures/chart";
import { ZoomBar } from "../page/figures/zoombar";
import { sentenceOf } from "../page/result/answers";
import { chartsOf } from "../page/result/curves";
import { Answers } from "../page/said";
import { pathOf, reread } from "../page/scenario/document";
import { NAMES, Side } from "../page/simulation";
import { changed, type Changes } from "./text";

/** Group of all users. */
const ALL = "all";

/** A slider, which sets keys of the scenarios. */
interface Slider {
  readonly label: string;
  /** Dotted paths of the keys; those that a scenario does not have are left out. */
  readonly keys: readonly string[];
  /** Unit of the values; `%` stands for hundredths without a unit, and an empty text for plain numbers. */
  readonly unit: string;
  readonly from: number;
  readonly to: number;
  readonly step: number;
}

/** Description of a figure in the page (`docs/live.py`). */
export interface FigureAbout {
  readonly name: string;
  readonly title: string;
  readonly scenario: string;
  /** Changes that make scenario B of A; without them there is only A. */
  readonly b?: Changes;
  readonly sliders: readonly Slider[];
  /** Titles of the charts to show. */
  readonly charts: readonly string[];
  /** Names of the metrics to show: of all users, and of each group if there are several. */
  readonly metrics?: readonly string[];
}

export function Figure({ about, engine }: { about: FigureAbout; engine: Engine }) {
  const { sides, answers } = useMemo(() => begin(about, engine), []);
  return (
    <figure class="live" aria-label={about.title}>
      <figcaption>{about.title}</figcaption>
      {about.sliders.map((slider) => (
        <SliderField key={slider.label} slider={slider} sides={sides} />
      ))}
      <Result about={about} sides={sides} answers={answers} />
    </figure>
  );
}

function begin({ scenario, b }: FigureAbout, engine: Engine): { sides: readonly Side[]; answers: Answers } {
  const sides = [scenario, ...(b ? [changed(scenario, b)] : [])].map((text) => {
    const side = new Side(engine);
    side.edit(text);
    return side;
  });
  return { sides, answers: new Answers(engine, signal(sides)) };
}

function SliderField({ slider, sides }: { slider: Slider; sides: readonly Side[] }) {
  const [value, setValue] = useState(() => valueIn(slider, sides));
  const change = (next: number) => {
    setValue(next);
    for (const side of sides) side.edit(slider.keys.reduce((text, key) => replaced(text, key, tomlOf(next, slider.unit)), side.text.value));
  };
  const { label, unit, from, to, step } = slider;
  return (
    <label class="slider">
      <span>{label}</span>
      <input type="range" min={from} max={to} step={step} value={value} aria-valuetext={`${value} ${unit}`} onInput={(event) => change(Number(event.currentTarget.value))} />
      <output>
        {value} {unit}
      </output>
    </label>
  );
}

/** Sets a key that a text has; a text without it stays as it is. */
function replaced(text: string, key: string, toml: string): string {
  const document = reread(text);
  const path = pathOf(key);
  return document.at(path) === undefined ? text : document.set(path, toml);
}

function tomlOf(value: number, unit: string): string {
  if (unit === "%") return String(Number((value / 100).toPrecision(6)));
  return unit ? JSON.stringify(`${value} ${unit}`) : String(value);
}

/** Returns the slider's value in the first scenario that has one of its keys. */
function valueIn({ keys, unit, from }: Slider, sides: readonly Side[]): number {
  for (const side of sides) {
    for (const key of keys) {
      const found = reread(side.text.value).at(pathOf(key));
      if (found === undefined) continue;
      return unit === "%" ? 100 * Number(found) : Number.parseFloat(String(found));
    }
  }
  return from;
}

function Result({ about, sides, answers }: { about: FigureAbout; sides: readonly Side[]; answers: Answers }) {
  const failure = sides.map(failureOf).find(Boolean);
  if (failure) return <p role="alert">{failure}</p>;
  const said = answers.said.value;
  return (
    <div aria-busy={sides.some((side) => side.isBusy.value) || answers.isBusy.value}>
      <p class="answer" role="status">
        {sentenceOf(said) || "Simulating …"}
      </p>
      {about.metrics && said && <Metrics names={about.metrics} said={said} />}
      <Curves about={about} sides={sides} />
    </div>
  );
}

/** Table of metrics with 95 % intervals, a column for each scenario. */
function Metrics({ names, said: { sides } }: { names: readonly string[]; said: Said }) {
  const groups = [...new Set(sides[0]!.summary.map(({ group }) => group))].filter((group) => group !== ALL && group !== "all up");
  const rows = names.flatMap((name) =>
    [ALL, ...(groups.length > 1 ? groups : [])].map((group) =>
      sides.map(({ summary }) => summary.find((row) => row.metric === name && row.group === group && row.mean !== null)),
    ),
  );
  return (
    <table class="metrics">
      <thead>
        <tr>
          <th>{sides[0]!.lead}</th>
          {sides.map((_, at) => (
            <th key={at}>{sides.length > 1 ? NAMES[at] : ""}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((cells, at) => {
          const row = cells.find(Boolean);
          return (
            row && (
              <tr key={at}>
                <th title={row.meaning}>
                  {row.label}
                  {row.group !== ALL && ` (${row.group})`}
                </th>
                {cells.map((cell, side) => (
                  <td key={side}>{cell?.shown.in_one_cell}</td>
                ))}
              </tr>
            )
          );
        })}
      </tbody>
    </table>
  );
}

/** Returns why a scenario has no result; empty if it has one or will have one. */
function failureOf(side: Side): string {
  const { value: announced } = side.announcement;
  const long = announced ? `One replication would take about ${Math.round(announced.seconds)} s in this browser.` : "";
  return side.failure.value || side.reading.value?.problems[0]?.problem || long;
}

function Curves({ about, sides }: { about: FigureAbout; sides: readonly Side[] }) {
  const shown = sides.flatMap((side, at) => (side.first.value ? [{ name: NAMES[at]!, first: side.first.value }] : []));
  const charts = useMemo(() => chartsOf(shown, about.charts), shown.map((one) => one.first));
  if (!shown.length) return null;
  const endS = Math.max(...shown.map((one) => one.first.replication.endS));
  return (
    <>
      <ZoomBar endS={endS} />
      {charts.map(({ title, unit, lines }) => (
        <Chart key={title} title={title} unit={unit} lines={lines} endS={endS} />
      ))}
    </>
  );
}
