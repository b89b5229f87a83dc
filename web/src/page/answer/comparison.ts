/** Comparison of two scenarios, replication by replication, as in `nodeb.comparison`. */

import type { MetricAbout } from "../../core/api";
import { ALL } from "../../core/group";
import { type Ends, type Interval, meanInterval, pairedDifference, ratioInterval, within } from "../../core/stats";
import { difference, type Scale, scaleOf, shown, type Shown } from "./numbers";
import type { Results } from "./rows";
import { judge, type Verdict } from "./verdict";
import { counted, joined, percent } from "./words";

/** Difference of B from A in a metric. */
export interface Difference {
  readonly metric: MetricAbout;
  readonly a: Interval;
  readonly b: Interval;
  readonly difference: Interval;
  readonly ratio: Ends;
  readonly verdict: Verdict;
}

const MARGIN = 0.02;
const MAIN = ["download_s", "load_median_s", "transfer_s", "cell_bps", "received_bps"];
const KEY = [
  ...["download_s", "load_median_s", "cell_bps", "received_bps", "received_bps_p50", "received_bps_p5", "complete"],
  ...["rtt_mean_s", "queueing_delay_s", "utilization", "jain_index", "stalled_s", "recovery_s", "timeouts"],
  ...["block_errors"],
];
const SENTENCES: Record<string, string> = {
  download_s: "the download takes",
  load_median_s: "half of the loads take at most",
  transfer_s: "the transfer takes",
  cell_bps: "the cell delivers",
  received_bps: "a phone receives",
};
const NOUNS: Record<string, string> = {
  received_bps: "mean rate of the phones",
  received_bps_p50: "median rate of the phones",
  received_bps_p5: "rate at the edge of the cell",
  cell_bps: "rate of the cell",
  complete: "share of transfers acknowledged in full",
  rtt_mean_s: "round-trip time",
  jain_index: "fairness",
  served: "share of phones that receive something",
  block_errors: "share of block errors",
};
const SIGNS: Record<string, string> = { better: "\u2713", worse: "\u2717", same: "=", equal: "=", undecided: "?" };
const MAX_NAMED = 3;
/** Largest share of finished transfers that becomes the sentence. */
const FEW = 0.5;

/** Returns the differences in all metrics of all users that both scenarios have, key metrics first. */
export function differencesOf(a: Results, b: Results): Difference[] {
  const found = [...a.metrics.values()].flatMap((metric) => differenceIn(metric, a, b) ?? []);
  const place = ({ metric }: Difference) => (KEY.includes(metric.name) ? KEY.indexOf(metric.name) : KEY.length);
  return found.sort((one, other) => place(one) - place(other));
}

function differenceIn(metric: MetricAbout, a: Results, b: Results): Difference | undefined {
  const [first, second] = [a.values(metric.name, ALL), b.values(metric.name, ALL)];
  if (!first || !second) return undefined;
  const runs = [...first.slice(0, second.length).keys()].filter((run) => isPair(first[run]!, second[run]!));
  if (!runs.length) return undefined;
  const [base, other] = [runs.map((run) => first[run]!), runs.map((run) => second[run]!)];
  const [low, high] = [metric.low ?? -Infinity, metric.high ?? Infinity];
  const [meanA, meanB] = [within(meanInterval(base), low, high), within(meanInterval(other), low, high)];
  const paired = pairedDifference(other, base);
  const ratio = ratioInterval(other, base);
  return {
    metric,
    a: meanA,
    b: meanB,
    difference: within(paired, low - meanA.high, high - meanA.low),
    ratio: low >= 0 ? within(ratio, 0, Infinity) : ratio,
    verdict: judge(paired, MARGIN * Math.abs(meanA.mean), metric.better),
  };
}

function isPair(one: number, other: number): boolean {
  return Number.isFinite(one) && Number.isFinite(other);
}

/** Returns the verdict's sign: a check mark for better, "?" for undecided, an arrow if neither is better. */
export function signOf({ verdict }: Difference): string {
  return verdict.kind === "differs" ? (verdict.sign > 0 ? "\u2191" : "\u2193") : SIGNS[verdict.kind]!;
}

function scale({ a, b, metric }: Difference): Scale {
  return scaleOf(Math.max(Math.abs(a.mean), Math.abs(b.mean)), metric.unit, metric.percent);
}

export function meansOf(one: Difference): [Shown, Shown] {
  return [shown(one.a, { scale: scale(one) }), shown(one.b, { scale: scale(one) })];
}

export function differenceText(one: Difference): Shown {
  return difference(one.difference, scale(one));
}

/** Returns the answer's one or two sentences: whether B is better than A, by how much, how surely. */
export function verdictText(all: readonly Difference[], pairs: number): string {
  const main = MAIN.flatMap((name) => all.find((one) => one.metric.name === name) ?? [])[0];
  if (!main) return "A and B have no metric in common that has a value.";
  const inPairs = counted(pairs, "pair");
  if (all.every((one) => one.verdict.kind === "equal"))
    return `No difference: A and B are equal in each of the ${inPairs}.`;
  const complete = all.find((one) => one.metric.name === "complete");
  if (complete?.verdict.sign && Math.min(complete.a.mean, complete.b.mean) <= FEW) {
    const [before, now] = meansOf(complete).map((one) => one.value);
    return `Unequal shares of the transfers were acknowledged in full: ${now} with B, ${before} with A.`;
  }
  const decided = (kind: string) => all.filter((one) => one.verdict.kind === kind);
  const [better, worse] = [decided("better"), decided("worse")];
  if (better.length && worse.length) {
    const first = (rows: Difference[]) => rows.find((one) => one === main) ?? rows[0]!;
    const sides = [first(better), first(worse)];
    if (main.verdict.kind === "worse") sides.reverse();
    const [one, other] = sides.map((side) => `the ${called(side)} is ${relative(side)}`);
    return `B is better in some ways and worse in others: ${one}, but ${other}.`;
  }
  const isTime = main.metric.unit === "s";
  if (main.verdict.kind === "better" || main.verdict.kind === "worse") {
    const word = { better: isTime ? "faster" : "better", worse: isTime ? "slower" : "worse" }[main.verdict.kind];
    const [before, now] = meansOf(main).map((one) => one.value);
    return `B is ${word}: ${SENTENCES[main.metric.name]} ${now} instead of ${before}, ${relative(main)}.`;
  }
  const [, now] = meansOf(main).map((one) => one.value);
  const same = `${SENTENCES[main.metric.name]} ${now} with B`;
  const others = better.length ? better : worse;
  if (others.length) {
    const names = joined(others.slice(0, MAX_NAMED).map(called));
    const rest = main.verdict.kind === "undecided" ? "differs is undecided" : "is the same";
    const about = main.verdict.kind === "undecided" ? `whether the ${called(main)}` : `the ${called(main)}`;
    return `B is ${better.length ? "better" : "worse"} in ${names}; ${about} ${rest}.`;
  }
  if (main.verdict.kind === "same") return `No difference to within ${percent(MARGIN)}: ${same}, as with A.`;
  if (main.verdict.kind === "equal") return `No difference in any of the ${inPairs}: ${same}, as with A.`;
  const gap = differenceText(main);
  const how = gap.interval ? ` (95 %: ${gap.interval})` : "";
  return `Undecided: with B, the ${called(main)} differs by ${gap.value}${how}; ${moreText(main.verdict, pairs)}.`;
}

function called({ metric }: Difference): string {
  return NOUNS[metric.name] ?? metric.label;
}

/** Returns the relative difference in per cent of A, with its interval. */
function relative(one: Difference): string {
  const { ratio } = one;
  if (!Number.isFinite(ratio.mean) || !(one.a.mean > 0)) return differenceText(one).withLevel;
  const sign = ratio.mean >= 1 ? 1 : -1;
  const ends = [ratio.low, ratio.high].map((end) => sign * 100 * (end - 1)).sort((x, y) => x - y);
  const found = shown({ mean: sign * 100 * (ratio.mean - 1), low: ends[0]!, high: ends[1]! }, { scale: ["%", 1] });
  const word = sign > 0 ? "more" : "less";
  return found.low ? `${found.value} ${word} (95 %: ${found.low} to ${found.high} %)` : `${found.value} ${word}`;
}

function moreText({ more: [low, high] }: Verdict, pairs: number): string {
  if (pairs < 2) return "one pair says nothing of how sure that is";
  if (low === Infinity) return "no number of replications that can be named would decide";
  if (high === Infinity) return `${counted(low, "replication")} more would decide if the difference is as large as here`;
  return low === high
    ? `${counted(low, "replication")} more would decide`
    : `${low} to ${high} replications more would decide`;
}
