/** Comparison of two scenarios, replication by replication, as in `nodeb.comparison`. */

import type { MetricAbout } from "../../core/api";
import { ALL } from "../../core/group";
import { type Ends, type Interval, meanInterval, pairedDifference, ratioInterval, within } from "../../core/stats";
import { difference, type Scale, scaleOf, shown, type Shown } from "./numbers";
import type { Results } from "./rows";
import { judge, type Verdict } from "./verdict";
import { counted, percent } from "./words";

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
const TIMES = ["download_s", "load_median_s", "transfer_s"];
const MAIN = [...TIMES, "cell_bps", "received_bps"];
/** Rates of data to users, of which neither direction is better if the transfers are finite. */
const RATES = ["received_bps", "received_bps_p5", "received_bps_p50", "cell_bps", "application_bps"];
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
/** Ratio of a change to the first one, from which on the answer mentions it too. */
const SECOND = 0.25;
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
  const isNeutral = RATES.includes(metric.name) && a.found.areFinite && b.found.areFinite;
  const ratio = ratioInterval(other, base);
  return {
    metric,
    a: meanA,
    b: meanB,
    difference: within(paired, low - meanA.high, high - meanA.low),
    ratio: low >= 0 ? within(ratio, 0, Infinity) : ratio,
    verdict: judge(paired, MARGIN * Math.abs(meanA.mean), isNeutral ? "" : metric.better),
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
  const first = firstOf(all, main);
  if (first) {
    const against = oppositeOf(all, first);
    const but = against ? ` But the ${called(against)} is ${relative(against)}.` : "";
    return (first === main ? ofMain(main) : ofOther(first, main)) + but;
  }
  const [, now] = meansOf(main).map((one) => one.value);
  const same = `${SENTENCES[main.metric.name]} ${now} with B`;
  if (main.verdict.kind === "differs") return ofMain(main);
  if (main.verdict.kind === "same") return `No difference to within ${percent(MARGIN)}: ${same}, as with A.`;
  if (main.verdict.kind === "equal") return `No difference in any of the ${inPairs}: ${same}, as with A.`;
  const gap = differenceText(main);
  const how = gap.interval ? ` (95 %: ${gap.interval})` : "";
  return `Undecided: with B, the ${called(main)} differs by ${gap.value}${how}; ${moreText(main.verdict, pairs)}.`;
}

function isJudged({ verdict }: Difference): boolean {
  return verdict.kind === "better" || verdict.kind === "worse";
}

/** Returns the size of a change as a share of A's mean; infinite from a mean of 0. */
function changeOf({ ratio }: Difference): number {
  return Number.isFinite(ratio.mean) ? Math.abs(ratio.mean - 1) : Infinity;
}

/** Returns the metric that the answer begins with: better or worse, the main metric or else one beyond the margin. */
function firstOf(all: readonly Difference[], main: Difference): Difference | undefined {
  const decided = all.filter(isJudged);
  if (isJudged(main)) return main;
  return decided.find((one) => changeOf(one) > MARGIN) ?? decided[0];
}

/** Returns a metric with the verdict opposite to that of the first, unless all such changes are small. */
function oppositeOf(all: readonly Difference[], first: Difference): Difference | undefined {
  const least = Math.max(MARGIN, SECOND * changeOf(first));
  const others = all.filter((one) => isJudged(one) && one.verdict.kind !== first.verdict.kind);
  return others.find((one) => changeOf(one) > least && changeOf(one) < Infinity);
}

function judgement({ metric, verdict }: Difference): string {
  const words: Record<string, string> = TIMES.includes(metric.name) ? { better: "faster", worse: "slower" } : {};
  return verdict.kind === "differs" ? "B differs" : `B is ${words[verdict.kind] ?? verdict.kind}`;
}

/** Returns a sentence on the main metric, which differs. */
function ofMain(main: Difference): string {
  const [before, now] = meansOf(main).map((one) => one.value);
  return `${judgement(main)}: ${SENTENCES[main.metric.name]} ${now} instead of ${before}, ${relative(main)}.`;
}

/** Returns a sentence on a metric that is better or worse, and on the main metric, which is not. */
function ofOther(one: Difference, main: Difference): string {
  const text = `${judgement(one)}: the ${called(one)} is ${relative(one)}`;
  if (main.verdict.kind === "same" || main.verdict.kind === "equal") return `${text}; the ${called(main)} is the same.`;
  if (main.verdict.sign) return `${text}; the ${called(main)} is ${relative(main)}.`;
  return `${text}; whether the ${called(main)} differs is undecided.`;
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
