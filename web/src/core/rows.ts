/** Rows of the tables of several replications, by column, as metrics read them. */

import type { Table, Tables } from "./api";
import { numbers, texts } from "./columns";

/** Columns of one table: numbers by name, and the texts of the columns `group` and `direction`. */
export class Rows {
  private readonly values = new Map<string, number[]>();
  private readonly words = new Map<string, string[]>();
  length = 0;

  has(name: string): boolean {
    return this.values.has(name);
  }

  numbers(name: string): readonly number[] {
    const found = this.values.get(name);
    if (!found) throw new Error(`there is no column ${name}`);
    return found;
  }

  texts(name: string): readonly string[] {
    return this.words.get(name) ?? [];
  }

  /** Appends the rows of a table; `wanted` names the columns to keep. */
  append(table: Table, wanted: readonly string[]): void {
    for (const name of wanted) {
      const column = table.columns.get(name);
      if (!column) continue;
      if (column.kind === "text") extend(this.words, name, texts(table, name));
      else extend(this.values, name, numbers(table, name));
    }
    this.length += table.rows;
  }

  /** Returns the rows of the replications before `end`. */
  before(end: number): Rows {
    const found = new Rows();
    found.length = this.numbers("run").filter((run) => run < end).length;
    for (const [name, values] of this.values) found.values.set(name, values.slice(0, found.length));
    for (const [name, words] of this.words) found.words.set(name, words.slice(0, found.length));
    return found;
  }
}

function extend<T>(all: Map<string, T[]>, name: string, more: Iterable<T>): void {
  let found = all.get(name);
  if (!found) all.set(name, (found = []));
  for (const one of more) found.push(one);
}

/** Columns of each table from which metrics are computed. */
const COLUMNS: Readonly<Record<string, readonly string[]>> = {
  flows: [
    "run", "user", "direction", "phone", "group", "endless", "complete", "received_bps", "application_bps", "retransmit_bps", "utilization",
    "delivered_bytes", "download_s", "transfer_s", "transfer_delay_mean_s", "transfers", "loads", "load_median_s",
    "load_p95_s", "stalls", "stalled_s", "rtt_mean_s", "rtt_min_s", "recovery_s", "timeouts",
  ],
  bearers: ["run", "bearer", "bytes_delivered", "active_s", "end_s", "blocks", "blocks_failed"],
  channels: ["run", "user", "energy_j", "setting_up_s", "dch_s", "releasing_s", "fach_s", "pch_s", "paging_s", "set_ups", "releases"],
  phones: ["run", "user", "cqi", "first_bler"],
};

/** Names of the tables from which metrics are computed. */
export const TABLES = Object.keys(COLUMNS);

/** Rows by table. */
export type RowsByTable = Map<string, Rows>;

/** Appends the tables of further replications. */
export function append(all: RowsByTable, tables: Tables): void {
  for (const [name, table] of tables) {
    const wanted = COLUMNS[name];
    if (!wanted) continue;
    let rows = all.get(name);
    if (!rows) all.set(name, (rows = new Rows()));
    rows.append(table, wanted);
  }
}

/** Returns the rows of the replications before `end`. */
export function truncated(all: RowsByTable, end: number): RowsByTable {
  return new Map([...all].map(([name, rows]) => [name, rows.before(end)]));
}
