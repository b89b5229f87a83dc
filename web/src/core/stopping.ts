/** Stopping rules: when a scenario has enough replications, as in `nodeb.replication.rules`. */

import type { Precision } from "./api";
import type { RowsByTable } from "./rows";
import { mean, meanInterval } from "./stats";

/** Rule that depends on the first replications only, whatever the number of workers. */
export interface Rule {
  /** Number of replications that suffices; undefined if more are needed. */
  readonly stop: number | undefined;
  /** Total number of replications that may be requested by now. */
  readonly ahead: number;
  /** Expected number of replications in total. */
  readonly expected: number;
  /** Receives the rows of the first `runs` replications. */
  take(rows: RowsByTable, runs: number): void;
}

/** Fixed number of replications. */
export class Count implements Rule {
  stop: number | undefined;

  constructor(private readonly runs: number) {}

  get ahead(): number {
    return this.runs;
  }

  get expected(): number {
    return this.runs;
  }

  take(_: RowsByTable, runs: number): void {
    if (runs >= this.runs) this.stop = this.runs;
  }
}

/** Rates that are judged: the second one from the first replication on in which a phone does not finish. */
const RATES = ["application_bps", "received_bps"] as const;

/** Replicates until the half-width of the mean rate's interval is at most a share of the mean. */
export class Sequential implements Rule {
  stop: number | undefined;
  private seen = 0;
  /** Half-width of the last interval, relative to the mean; NaN if it is not known. */
  private width = NaN;
  private readonly least: number;

  constructor(
    runs: number,
    private readonly precision: Precision,
  ) {
    this.least = Math.min(Math.max(runs, 2), precision.maxRuns);
  }

  get ahead(): number {
    const likely = this.seen < this.least ? this.least : this.expected;
    return Math.min(Math.max(likely, this.seen + 1), this.precision.maxRuns);
  }

  /** The half-width shrinks with the root of the number of replications. */
  get expected(): number {
    const { relative, maxRuns } = this.precision;
    if (this.stop !== undefined) return this.stop;
    if (!Number.isFinite(this.width)) return maxRuns;
    const needed = this.seen * Math.min(this.width / relative, 1e3) ** 2;
    return Math.min(Math.max(Math.ceil(needed), this.least, this.seen), maxRuns);
  }

  take(rows: RowsByTable, runs: number): void {
    const rates = RATES.map((name) => byRun(rows, name, runs));
    for (let n = Math.max(this.seen + 1, this.least); n <= runs && this.stop === undefined; n++) this.judge(rates, n);
    this.seen = runs;
  }

  private judge(rates: readonly (readonly number[])[], n: number): void {
    const all = rates.map((one) => one.slice(0, n));
    const values = all.find((one) => one.every(Number.isFinite)) ?? all.at(-1)!;
    const { mean: middle, low, high } = meanInterval(values);
    this.width = (high - low) / 2 / Math.abs(middle);
    const isUndefined = !values.every(Number.isFinite) || values.every((one) => one === 0);
    if (isUndefined || this.width <= this.precision.relative || n >= this.precision.maxRuns) this.stop = n;
  }
}

/** Returns the mean over users of a rate for each replication; NaN if a user has none. */
function byRun(rows: RowsByTable, name: string, runs: number): number[] {
  const values = rows.get("flows")!.numbers(name);
  const users = values.length / runs;
  return Array.from({ length: runs }, (_, run) => mean(values.slice(run * users, (run + 1) * users)));
}
