/** Verdict on an interval of a difference, and the replications that would decide, as in `nodeb.comparison.verdict`. */

import { normalQuantile } from "../../core/distributions";
import { type Interval, runsNeeded } from "../../core/stats";

export type Kind = "better" | "worse" | "differs" | "same" | "equal" | "undecided";
export type Better = "more" | "less" | "";

export interface Verdict {
  readonly kind: Kind;
  /** 1 if the other scenario has more than the baseline, -1 for less; otherwise 0. */
  readonly sign: number;
  /** Further replications that would decide, from and to; 0 if decided. */
  readonly more: readonly [number, number];
}

const POWER = 0.8;
const PLAUSIBLE = 99;
/** Number of replications above which no number is named. */
const MAX_RUNS = 1e6;

/**
 * Returns the verdict on the interval of other minus baseline.
 *
 * They are the same if the interval lies within the margin. They differ if it does not and also excludes 0.
 */
export function judge(found: Interval, margin: number, better: Better): Verdict {
  const decided = (kind: Kind, sign = 0): Verdict => ({ kind, sign, more: [0, 0] });
  if (found.low === 0 && found.high === 0) return decided("equal");
  if (found.low >= -margin && found.high <= margin) return decided("same");
  if (found.low > 0 || found.high < 0) {
    const sign = found.low > 0 ? 1 : -1;
    const direction = sign > 0 ? "more" : "less";
    return decided(better === "" ? "differs" : better === direction ? "better" : "worse", sign);
  }
  return { kind: "undecided", sign: 0, more: moreRuns(found, margin) };
}

function moreRuns(found: Interval, margin: number): readonly [number, number] {
  if (!Number.isFinite(found.high - found.low)) return [Infinity, Infinity];
  const end = normalQuantile(0.975);
  const spread = [(found.mean - found.low) / end, (found.high - found.mean) / end] as const;
  const targets = Array.from({ length: PLAUSIBLE }, (_, place) => {
    const z = normalQuantile((place + 0.5) / PLAUSIBLE);
    const size = Math.abs(found.mean + spread[z > 0 ? 1 : 0] * z);
    return Math.max(size, margin - size);
  }).sort((a, b) => a - b);
  const usual = targets[Math.floor(PLAUSIBLE / 2)]!;
  const small = Math.min(targets[Math.floor(PLAUSIBLE / 5)]!, margin);
  const more = (stdev: number, target: number) => {
    const needed = target > 0 ? runsNeeded(stdev, target, POWER) : Infinity;
    return needed > MAX_RUNS ? Infinity : Math.max(needed - found.n, 1);
  };
  return [more(found.stdev, usual), more(Math.max(...spread) * Math.sqrt(found.n), small)];
}
