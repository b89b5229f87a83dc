/** Tables of packet timelines, in the form that the drawing parts of the reports' page take. */

import { byUser, type LifeAbout, type LifeData, lowest } from "life-parts";

import type { Life, Scenario, Table } from "../../core/api";
import { numbers } from "../../core/columns";

/** Kinds of events that are shown as marks. */
const MOMENTS = ["recovery", "channel", "handover", "transfer", "given up"];

/** Returns the description and the columns that the drawing parts need. */
export function drawn(life: Life, scenario: Scenario): { about: LifeAbout; data: LifeData } {
  const [packets, events] = [life.tables.get("packets")!, life.tables.get("events")!];
  const kinds = life.names.get("kind")!;
  const rows = packetRows(packets);
  const hops = hopRows(life.tables.get("hops")!, rows.packet!, rows.rows);
  const ends = numbers(events, "time_ns");
  const last = Math.max(ends.at(-1) ?? 0, ...lastOf(hops.left!), 1);
  const users = [...new Set(numbers(events, "user"))].sort((a, b) => a - b);
  const about: LifeAbout = {
    lanes: life.lanes,
    places: life.places.map(({ name, from, to }) => [name, from, to]),
    nodeB: life.nodeB,
    ttiNs: scenario.ttiS === null ? null : scenario.ttiS * 1e9,
    beginNs: 0,
    endNs: last,
    knownNs: Math.min(last, life.untilS * 1e9),
    users: users.map((user) => ({ user, group: "" })),
    names: Object.fromEntries(["purpose", "end", "cause", "kind", "detail"].map((name) => [name, life.names.get(name)!])),
  };
  const data: LifeData = {
    packets: rows,
    hops,
    air: airRows(events, kinds.indexOf("block"), life.names.get("place")!.indexOf("uplink")),
    carried: carriedRows(events, kinds.indexOf("carries"), rows.packet!, rows.rows),
    moments: momentRows(events, kinds),
  };
  data.moments.of = byUser(data.moments as never, about.users);
  return { about, data };
}

type Columns = Record<string, Float64Array>;

function packetRows(table: Table): LifeData["packets"] {
  const names = ["packet", "user", "seq", "bytes", "again", "blocks", "repeats", "purpose", "origin", "place", "end", "cause"];
  const found: Columns = Object.fromEntries(names.map((name) => [name, numbers(table, name)]));
  const [sent, ended, handed] = ["sent_ns", "ended_ns", "handed_ns"].map((name) => numbers(table, name)) as [Float64Array, Float64Array, Float64Array];
  const took = ended.map((time, row) => time - sent[row]!);
  const later = handed.map((time, row) => (time > 0 ? time - sent[row]! : 0));
  const last = sent.map((time, row) => time + Math.max(took[row]!, later[row]!));
  return { rows: table.rows, ...found, sent, took, handed: later, ended: last } as unknown as LifeData["packets"];
}

/** Returns the stays of packets; a packet has those from `first[row]` up to, but excluding, `first[row + 1]`. */
function hopRows(table: Table, packets: ArrayLike<number>, rows: number): Columns & { first: never } {
  const owner = numbers(table, "packet");
  const first = new Uint32Array(rows + 1);
  for (let hop = 0, row = 0; row < rows; row++) {
    first[row] = hop;
    while (hop < owner.length && owner[hop] === packets[row]) hop++;
    first[row + 1] = hop;
  }
  const names = { place: "place", end: "end", entered: "entered_ns", begun: "begun_ns", left: "left_ns" };
  const found = Object.entries(names).map(([name, column]) => [name, numbers(table, column)]);
  return { ...Object.fromEntries(found), first } as Columns & { first: never };
}

function rowsOf(events: Table, wanted: (kind: number) => boolean): Uint32Array {
  const kinds = numbers(events, "kind");
  return Uint32Array.from(kinds.keys()).filter((row) => wanted(kinds[row]!));
}

function picked(events: Table, rows: Uint32Array, name: string): Float64Array {
  const values = numbers(events, name);
  return Float64Array.from(rows, (row) => values[row]!);
}

/** Returns the transmissions of blocks; those in a direction that begin at the same time have slots 0, 1, 2, ... */
function airRows(events: Table, kind: number, uplink: number): LifeData["air"] {
  const rows = rowsOf(events, (one) => one === kind);
  const time = picked(events, rows, "time_ns");
  const up = picked(events, rows, "place").map((place) => Number(place === uplink));
  const slot = new Float64Array(rows.length);
  const last: [number, number] = [-1, -1];
  for (let at = 0; at < rows.length; at++) {
    const before = last[up[at]!]!;
    slot[at] = before >= 0 && time[at] === time[before] ? slot[before]! + 1 : 0;
    last[up[at]!] = at;
  }
  const columns = Object.fromEntries(["block", "user", "transmission", "failed"].map((name) => [name, picked(events, rows, name)]));
  return { rows: rows.length, time, up, slot, units: picked(events, rows, "value"), ...columns } as unknown as LifeData["air"];
}

function carriedRows(events: Table, kind: number, packets: ArrayLike<number>, count: number): LifeData["carried"] {
  const rows = rowsOf(events, (one) => one === kind);
  const numbersOf = picked(events, rows, "packet");
  return {
    row: Uint32Array.from(numbersOf, (number) => lowest(count, (at) => packets[at]!, number)),
    block: Uint32Array.from(picked(events, rows, "block")),
    bytes: picked(events, rows, "bytes"),
    offset: picked(events, rows, "value"),
  };
}

function momentRows(events: Table, kinds: readonly string[]): LifeData["moments"] {
  const wanted = MOMENTS.map((name) => kinds.indexOf(name));
  const rows = rowsOf(events, (kind) => wanted.includes(kind));
  const columns = Object.fromEntries(["user", "detail", "block", "bytes", "value"].map((name) => [name, picked(events, rows, name)]));
  const kind = Array.from(picked(events, rows, "kind"));
  return { time: picked(events, rows, "time_ns"), ...columns, kind } as unknown as LifeData["moments"];
}

/** Returns the largest value, or nothing of an empty column; a spread of all values could overflow the stack. */
function lastOf(values: ArrayLike<number>): number[] {
  let most = -Infinity;
  for (let at = 0; at < values.length; at++) most = Math.max(most, values[at]!);
  return values.length ? [most] : [];
}
