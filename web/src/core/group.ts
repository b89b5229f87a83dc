/** Sums and means by replication of a group of users, as in `nodeb.results.group`. */

import type { Rows, RowsByTable } from "./rows";

/** Name of the group of all users. */
export const ALL = "all";

export class Group {
  /** Replications in which the group has users, ascending. */
  readonly runs: readonly number[];
  /** Numbers of the group's users; undefined for all users. */
  readonly users: ReadonlySet<number> | undefined;
  private readonly indices: ReadonlyMap<number, number>;

  constructor(
    readonly tables: RowsByTable,
    readonly name = ALL,
  ) {
    const flows = this.table("flows");
    const groups = flows.texts("group");
    const rows = [...flows.numbers("run").keys()].filter((row) => name === ALL || groups[row] === name);
    this.runs = [...new Set(rows.map((row) => flows.numbers("run")[row]!))];
    this.indices = new Map(this.runs.map((run, index) => [run, index]));
    if (name !== ALL) this.users = new Set(rows.map((row) => flows.numbers("user")[row]!));
  }

  private table(name: string): Rows {
    return this.tables.get(name)!;
  }

  has(table: string, ...columns: string[]): boolean {
    const found = this.tables.get(table);
    return found !== undefined && columns.every((name) => found.has(name));
  }

  /** Returns the rows of a table that belong to the group; the table has a row per user and run. */
  private rows(table: string): number[] {
    const all = this.table(table);
    const users = all.numbers("user");
    return [...users.keys()].filter((row) => !this.users || this.users.has(users[row]!));
  }

  /** Returns the group's values of a column. */
  column(table: string, name: string): number[] {
    const values = this.table(table).numbers(name);
    return this.rows(table).map((row) => values[row]!);
  }

  /** Returns for each of the group's rows of a table the index of its replication in `runs`. */
  private at(table: string): number[] {
    const runs = this.table(table).numbers("run");
    return this.rows(table).map((row) => this.indices.get(runs[row]!)!);
  }

  /** Returns the mean over users for each run; NaN for a run without any value. */
  mean(table: string, values: readonly number[]): number[] {
    return this.each(table, values, (row) => {
      const known = row.filter(Number.isFinite);
      return known.length ? known.reduce((sum, one) => sum + one, 0) / known.length : NaN;
    });
  }

  /** Applies a function to the values of all users, for each run. */
  each(table: string, values: readonly number[], of: (values: number[]) => number): number[] {
    const byRun: number[][] = this.runs.map(() => []);
    this.at(table).forEach((index, row) => byRun[index]!.push(values[row]!));
    return byRun.map(of);
  }

  /**
   * Returns for each of the columns its sum over the group's bearers in each run; undefined if users share bearers,
   * unless the group is all users. Bearers that are not shared have the numbers of their users.
   */
  bearers(...names: string[]): number[][] | undefined {
    const bearers = this.table("bearers");
    const numbers = bearers.numbers("bearer");
    const runs = bearers.numbers("run");
    if (this.users) {
      const all = new Set(this.table("flows").numbers("user"));
      const own = new Set(numbers);
      if (own.size !== all.size || [...own].some((one) => !all.has(one))) return undefined;
    }
    return names.map((name) => {
      const values = bearers.numbers(name);
      const sums = this.runs.map(() => 0);
      values.forEach((value, row) => {
        const index = this.indices.get(runs[row]!);
        if (index !== undefined && (!this.users || this.users.has(numbers[row]!))) sums[index]! += value;
      });
      return sums;
    });
  }
}
