/** Chart of values over time, drawn by uPlot. Dragging across it zooms all figures. */

import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";

import { ink } from "./paints";
import { isDark, onZoomKey, show, shownSpan } from "./time";

/** Width of the left and right margins of all figures over time, so that their axes agree. */
export const LEFT = 56;
export const RIGHT = 12;
const HEIGHT = 150;

export interface Line {
  readonly label: string;
  /** Name of the colour, such as `--c0`. */
  readonly colour: string;
  readonly x: ArrayLike<number>;
  readonly y: ArrayLike<number>;
  readonly isStepped?: boolean;
  readonly isFilled?: boolean;
  readonly isDashed?: boolean;
}

interface ChartProps {
  readonly title: string;
  readonly unit: string;
  readonly lines: readonly Line[];
  readonly endS: number;
}

/** Charts that are on the page, by title, for pictures of them. */
export const charts = new Map<string, uPlot>();

export function Chart({ title, unit, lines, endS }: ChartProps) {
  const parent = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const end = useRef(endS);
  end.current = endS;
  const shape = lines.map((one) => [one.label, one.colour, one.isStepped, one.isFilled, one.isDashed].join()).join("|");
  const dark = isDark.value;
  const [from, to] = shownSpan(endS);

  useEffect(() => {
    const width = parent.current!.clientWidth;
    const made = new uPlot(optionsOf(unit, lines, width, () => end.current), joined(lines), parent.current!);
    made.over.parentElement!.setAttribute("aria-hidden", "true");
    plot.current = made;
    charts.set(title, made);
    const resizing = new ResizeObserver(([entry]) =>
      made.setSize({ width: Math.floor(entry!.contentRect.width), height: HEIGHT }),
    );
    resizing.observe(parent.current!);
    return () => {
      resizing.disconnect();
      charts.delete(title);
      made.destroy();
    };
  }, [shape, dark, title, unit]);

  useEffect(() => plot.current!.setData(joined(lines), false), [lines]);
  useEffect(() => plot.current!.setScale("x", { min: from, max: to }), [from, to, lines, shape, dark]);

  return (
    <figure class="chart" tabIndex={0} onKeyDown={(event) => onZoomKey(event, endS)} role="group" aria-label={sentence(title, unit, lines)}>
      <figcaption>
        <b>{title}</b> <small>{unit}</small>
        {lines.length > 1 &&
          lines.map((one) => (
            <span class="key" key={one.label}>
              <i class={one.isDashed ? "dashed" : ""} style={{ borderColor: `var(${one.colour})` }} />
              {one.label}
            </span>
          ))}
      </figcaption>
      <div ref={parent} />
    </figure>
  );
}

/** Returns what a chart shows, for screen readers. */
function sentence(title: string, unit: string, lines: readonly Line[]): string {
  const each = lines.map((one) => {
    let most = -Infinity;
    for (let at = 0; at < one.y.length; at++) if (one.y[at]! > most) most = one.y[at]!;
    const name = lines.length > 1 ? `${one.label}: ` : "";
    return most > -Infinity ? `${name}at most ${Number(most.toPrecision(3))} ${unit}` : `${name}no values`;
  });
  return `${title} over time, ${each.join("; ")}`;
}

/** Returns the lines on one common time axis. */
function joined(lines: readonly Line[]): uPlot.AlignedData {
  const tables = lines.map((one): uPlot.AlignedData => [Array.from(one.x), Array.from(one.y, (y) => (Number.isFinite(y) ? y : null))]);
  return tables.length === 1 ? tables[0]! : uPlot.join(tables, lines.map(() => [1]));
}

function optionsOf(unit: string, lines: readonly Line[], width: number, endS: () => number): uPlot.Options {
  const muted = ink("--muted");
  const axis = { stroke: muted, grid: { stroke: ink("--grid"), width: 1 }, ticks: { stroke: ink("--grid"), size: 4 }, font: "12px system-ui, sans-serif" };
  return {
    width,
    height: HEIGHT,
    padding: [8, RIGHT, 0, 0],
    legend: { show: false },
    cursor: { sync: { key: "time" }, drag: { x: true, y: false, setScale: false }, points: { size: 6 } },
    scales: { x: { time: false }, y: { range: (_, __, most) => [0, most > 0 ? most * 1.08 : 1] } },
    axes: [
      { ...axis, size: 26, values: (_, ticks) => ticks.map((one) => `${Number(one.toPrecision(9))} s`) },
      { ...axis, size: LEFT, values: (_, ticks) => ticks.map((one) => String(Number(one.toPrecision(6)))) },
    ],
    series: [{}, ...lines.map(seriesOf)],
    hooks: {
      setSelect: [
        (made) => {
          const { left, width: wide } = made.select;
          if (wide < 3) return;
          show(endS(), made.posToVal(left, "x"), made.posToVal(left + wide, "x"));
          made.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        },
      ],
      setCursor: [(made) => showValues(made, unit)],
    },
  };
}

function seriesOf(line: Line): uPlot.Series {
  const colour = ink(line.colour);
  return {
    label: line.label,
    stroke: colour,
    width: 1.6,
    points: { show: false },
    spanGaps: true,
    ...(line.isDashed ? { dash: [5, 3] } : {}),
    ...(line.isFilled ? { fill: `${colour}33` } : {}),
    ...(line.isStepped ? { paths: uPlot.paths.stepped!({ align: 1 }) } : {}),
  };
}

/** Shows the values under the pointer in the chart's corner. */
function showValues(made: uPlot, unit: string): void {
  const { idxs, left } = made.cursor;
  const values = made.series.slice(1).flatMap((one, at) => {
    const row = idxs?.[at + 1];
    const value = row === null || row === undefined ? null : made.data[at + 1]![row];
    return value === null || value === undefined ? [] : [`${made.series.length > 2 ? `${String(one.label)} ` : ""}${Number(value.toPrecision(4))} ${unit}`];
  });
  const time = left !== undefined && left >= 0 ? `${Number(made.posToVal(left, "x").toPrecision(5))} s: ` : "";
  made.over.dataset["values"] = time && values.length ? time + values.join(", ") : "";
}
