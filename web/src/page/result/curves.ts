/** Curves of a replication over time: those that its table has values of. */

import type { Table } from "../../core/api";
import { numbers } from "../../core/columns";
import type { Line } from "../figures/chart";
import type { First } from "../simulation";

/** A chart: its title and unit, and its lines for one scenario. */
interface Kind {
  readonly title: string;
  readonly unit: string;
  readonly lines: readonly { readonly column: string; readonly label: string; readonly isDashed?: boolean }[];
  readonly factor: number;
  readonly isStepped?: boolean;
  readonly isFilled?: boolean;
  /** Whether the values are rates, of which the sum since the start is shown. */
  readonly isSum?: boolean;
}

export interface Curves {
  readonly title: string;
  readonly unit: string;
  readonly lines: readonly Line[];
}

const RECEIVED: Kind = { title: "Received", unit: "kB", lines: [{ column: "delivered_bps", label: "received" }], factor: 1e-3 / 8, isSum: true };
const KINDS: readonly Kind[] = [
  { title: "Throughput", unit: "kbit/s", lines: [{ column: "delivered_bps", label: "received" }], factor: 1e-3, isStepped: true, isFilled: true },
  {
    title: "Congestion window",
    unit: "segments",
    lines: [
      { column: "cwnd_packets", label: "window" },
      { column: "ssthresh_packets", label: "threshold", isDashed: true },
    ],
    factor: 1,
    isStepped: true,
  },
  { title: "Round trip", unit: "ms", lines: [{ column: "rtt_s", label: "round trip" }], factor: 1e3 },
  { title: "Queue at the Node B", unit: "packets", lines: [{ column: "queue_packets", label: "waiting" }], factor: 1, isStepped: true, isFilled: true },
  { title: "Channel quality", unit: "CQI", lines: [{ column: "cqi", label: "CQI" }], factor: 1, isStepped: true },
];
/** Colours of the scenarios A and B. */
const COLOURS = ["--c0", "--c1"];
const POINTS = 300;

/** A scenario whose curves are shown: its name and its first replication. */
interface Shown {
  readonly name: string;
  readonly first: First;
}

/** Returns the charts of one or two scenarios; with two, each line has its scenario's name and colour. */
export function curvesOf(sides: readonly Shown[], kinds: readonly Kind[] = KINDS): Curves[] {
  return kinds.map((kind) => ({ title: kind.title, unit: kind.unit, lines: sides.flatMap((side, at) => linesOf(kind, side, at, sides.length > 1)) })).filter(
    (one) => one.lines.length > 0,
  );
}

/** Returns those charts of one or two scenarios that have the given titles, in this order. */
export function chartsOf(sides: readonly Shown[], titles: readonly string[]): Curves[] {
  return curvesOf(sides, titles.flatMap((title) => [RECEIVED, ...KINDS].find((one) => one.title === title) ?? []));
}

function linesOf(kind: Kind, side: Shown, at: number, areTwo: boolean): Line[] {
  const { overTime } = side.first.replication;
  if (!overTime) return [];
  const rows = rowsOf(overTime.table, side.first.user);
  const times = pick(overTime.table, "t_s", rows);
  const group = Math.max(1, Math.ceil(rows.length / POINTS));
  return (areTwo ? kind.lines.slice(0, 1) : kind.lines).flatMap(({ column, label, isDashed }) => {
    if (!overTime.table.columns.has(column)) return [];
    const values = pick(overTime.table, column, rows).map((value) => value * kind.factor);
    const isRate = column === "delivered_bps";
    const most = kind.lines.length > 1 && isDashed ? largest(pick(overTime.table, kind.lines[0]!.column, rows)) * 1.5 : Infinity;
    const shown = values.map((value) => (value > most ? NaN : value));
    if (!shown.some((value) => Number.isFinite(value) && value !== 0)) return [];
    const [x, y] = kind.isSum ? summed(times, shown, overTime.intervalS, side.first.replication.endS) : isRate ? averaged(times, shown, group) : [times, shown];
    return [
      {
        label: areTwo ? side.name : label,
        colour: areTwo ? COLOURS[at]! : isDashed ? "--muted" : "--c0",
        x,
        y,
        isStepped: kind.isStepped ?? false,
        isFilled: !areTwo && (kind.isFilled ?? false),
        isDashed: areTwo ? at === 1 : (isDashed ?? false),
      },
    ];
  });
}

function rowsOf(table: Table, user: number): number[] {
  const users = numbers(table, "user");
  return [...users.keys()].filter((row) => users[row] === user);
}

function pick(table: Table, name: string, rows: readonly number[]): number[] {
  const values = numbers(table, name);
  return rows.map((row) => values[row]!);
}

function largest(values: readonly number[]): number {
  return values.reduce((most, one) => (one > most ? one : most), 0);
}

/** Returns the sums of rates from the start to the end of each interval; the last one ends with the run. */
function summed(times: readonly number[], rates: readonly number[], intervalS: number, endS: number): [number[], number[]] {
  let sum = 0;
  const ends = times.map((one) => Math.min(one + intervalS, endS));
  return [[0, ...ends], [0, ...rates.map((one, at) => (sum += one * (ends[at]! - times[at]!)))]];
}

/** Returns means of `group` neighbours, which show a rate better than packets one by one. */
function averaged(times: readonly number[], values: readonly number[], group: number): [number[], number[]] {
  const x: number[] = [];
  const y: number[] = [];
  for (let at = 0; at < values.length; at += group) {
    const part = values.slice(at, at + group);
    x.push(times[at]!);
    y.push(part.reduce((sum, one) => sum + one, 0) / part.length);
  }
  return [x, y];
}
