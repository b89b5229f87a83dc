/** Causes of a transfer's duration: sums over its critical path, and means over replications. */

import type { Explanation } from "../../core/api";
import { numbers, texts } from "../../core/columns";
import { type Ends, meanInterval } from "../../core/stats";
import { parts, shown } from "./numbers";
import { joined, percents, sentence, share, spelled } from "./words";

/** Time of each cause on one critical path, s. */
export interface Path {
  readonly seconds: ReadonlyMap<string, number>;
  readonly totalS: number;
}

/** Mean time of a cause over replications, s, with its interval and its share of the whole. */
export interface Cause extends Ends {
  readonly name: string;
  readonly share: number;
}

/** Bar of a cause, or of several small ones together (`cause` is then empty). */
export interface Bar {
  readonly label: string;
  readonly cause: string;
  readonly ends: Ends;
  readonly value: string;
  readonly interval: string;
  readonly share: string;
}

const SMALL = 0.05;
const NAMED = 3;

export function pathOf({ spans }: Explanation): Path {
  const [begin, end] = [numbers(spans, "begin_ns"), numbers(spans, "end_ns")];
  const seconds = new Map<string, number>();
  texts(spans, "cause").forEach((cause, row) => {
    seconds.set(cause, (seconds.get(cause) ?? 0) + (end[row]! - begin[row]!) / 1e9);
  });
  return { seconds, totalS: [...seconds.values()].reduce((sum, one) => sum + one, 0) };
}

/** Returns the causes of the same transfer in several replications, the largest first. */
export function causesOf(paths: readonly Path[]): Cause[] {
  const names = new Set(paths.flatMap((one) => [...one.seconds.keys()]));
  const total = paths.reduce((sum, one) => sum + one.totalS, 0);
  return [...names]
    .map((name) => {
      const values = paths.map((one) => one.seconds.get(name) ?? 0);
      const { mean, low, high } = meanInterval(values);
      return { name, mean, low: Math.max(low, 0), high, share: (mean * paths.length) / total };
    })
    .filter((one) => one.mean > 0)
    .sort((a, b) => b.mean - a.mean);
}

/** Returns a cause's name for sentences: without the prefix `window: `. */
export function called(cause: string): string {
  return cause.replace("window: ", "");
}

/** Returns a sentence with the largest causes: as many as make up half of the time. */
export function mainCauses(causes: readonly Cause[]): string {
  const names: string[] = [];
  let whole = 0;
  for (const cause of causes) {
    names.push(called(cause.name));
    whole += cause.share;
    if (whole >= 0.5) break;
  }
  return names.length ? `${sentence(share(whole))} of that went into ${joined(names)}.` : "";
}

/** Returns the causes as ranked bars; small ones have one bar together. */
export function barsOf(causes: readonly Cause[]): Bar[] {
  const large = causes.filter((one) => one.share >= SMALL).length;
  let named = Math.max(NAMED, large);
  if (causes.length - named === 1) named += 1;
  const rest = causes.slice(named);
  const sum = (of: (cause: Cause) => number) => (rest.length ? [rest.reduce((total, one) => total + of(one), 0)] : []);
  const means = [...causes.slice(0, named).map((one) => one.mean), ...sum((one) => one.mean)];
  const shares = percents([...causes.slice(0, named).map((one) => one.share), ...sum((one) => one.share)]);
  const times = parts(means, "s");
  return means.map((mean, at) => {
    const cause = at < named ? causes[at] : undefined;
    return {
      label: cause ? called(cause.name) : `${spelled(rest.length)} other causes`,
      cause: cause?.name ?? "",
      ends: cause ?? { mean, low: NaN, high: NaN },
      value: times[at]!,
      interval: cause ? shown(cause, { unit: "s" }).interval : "",
      share: shares[at]!,
    };
  });
}
