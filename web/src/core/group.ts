/** Sums and means by replication of a group of users, as in `nodeb.results.group`. */

import type { Rows, RowsByTable } from "./rows";

/** Name of the group of all users; of their downloads only if there are also uploads. */
export const ALL = "all";

/** Name of the group of all uploads if there are also downloads. */
export const ALL_UP = "all up";

/** Returns true if a table `flows` has downloads and uploads. */
export function isMixed(flows: Rows): boolean {
  return new Set(flows.texts("direction")).size > 1;
}

/** Returns the numbers of all phones in a table `flows`. */
export function phonesOf(flows: Rows): Set<number> {
  return new Set(flows.numbers(flows.has("phone") ? "phone" : "user"));
}

/** Returns the names of the groups in a table `flows`, last those of all users together. */
export function namesOf(flows: Rows): string[] {
  const names = [...new Set(flows.texts("group"))];
  if (isMixed(flows)) return [...names, ALL, ALL_UP];
  return names.length > 1 ? [...names, ALL] : [ALL];
}

/** Returns a test of the rows of `flows` that belong to a group; undefined if all do. */
function isIn(flows: Rows, name: string): ((row: number) => boolean) | undefined {
  if (name !== ALL && name !== ALL_UP) return (row) => flows.texts("group")[row] === name;
  if (!isMixed(flows)) return undefined;
  return (row) => flows.texts("direction")[row] === (name === ALL_UP ? "up" : "down");
}

export class Group {
  /** Replications in which the group has users, ascending. */
  readonly runs: readonly number[];
  /** Numbers of the group's users; undefined if the group has all rows of `flows`. */
  readonly users: ReadonlySet<number> | undefined;
  private readonly indices: ReadonlyMap<number, number>;

  constructor(
    readonly tables: RowsByTable,
    readonly name = ALL,
  ) {
    const flows = this.table("flows");
    const isMine = isIn(flows, name);
    const rows = [...flows.numbers("run").keys()].filter((row) => !isMine || isMine(row));
    this.runs = [...new Set(rows.map((row) => flows.numbers("run")[row]!))];
    this.indices = new Map(this.runs.map((run, index) => [run, index]));
    if (isMine) this.users = new Set(rows.map((row) => flows.numbers("user")[row]!));
  }

  private table(name: string): Rows {
    return this.tables.get(name)!;
  }

  has(table: string, ...columns: string[]): boolean {
    const found = this.tables.get(table);
    return found !== undefined && columns.every((name) => found.has(name));
  }

  /**
   * Returns the rows of a table that belong to the group; the table has a row per user and run. Tables of phones have no
   * rows for the uploads of phones that also download.
   */
  rows(table: string): number[] {
    const all = this.table(table);
    const users = all.numbers("user");
    const own = this.name === ALL && table !== "flows" ? undefined : this.users;
    return [...users.keys()].filter((row) => !own || own.has(users[row]!));
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
    const users = this.name === ALL ? undefined : this.users;
    if (users) {
      const all = phonesOf(this.table("flows"));
      const own = new Set(numbers);
      if (own.size !== all.size || [...own].some((one) => !all.has(one))) return undefined;
    }
    return names.map((name) => {
      const values = bearers.numbers(name);
      const sums = this.runs.map(() => 0);
      values.forEach((value, row) => {
        const index = this.indices.get(runs[row]!);
        if (index !== undefined && (!users || users.has(numbers[row]!))) sums[index]! += value;
      });
      return sums;
    });
  }
}
