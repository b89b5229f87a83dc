/** Confidence intervals over replications, as in `nodeb.stats`. */

import { normalQuantile, tQuantile } from "./distributions";

/** A mean and the ends of its interval, which are NaN if there is none. */
export interface Ends {
  readonly mean: number;
  readonly low: number;
  readonly high: number;
}

/** A mean and its confidence interval; the ends are NaN for fewer than two values. */
export interface Interval extends Ends {
  readonly stdev: number;
  readonly n: number;
}

const CONFIDENCE = 0.95;
const PROBABILITY = (1 + CONFIDENCE) / 2;
/** Share of the largest value by which equal differences may differ through rounding. */
const ROUNDING = 1e-9;

export function mean(values: ArrayLike<number>): number {
  let sum = 0;
  for (let at = 0; at < values.length; at++) sum += values[at]!;
  return sum / values.length;
}

/** Returns the mean of independent replications with its Student-t interval (Law and Kelton, 9.4.1). */
export function meanInterval(values: readonly number[]): Interval {
  const n = values.length;
  if (n && values.every((one) => one === values[0])) {
    const end = n < 2 ? NaN : values[0]!;
    return { mean: values[0]!, low: end, high: end, stdev: n < 2 ? NaN : 0, n };
  }
  const middle = mean(values);
  const stdev = Math.sqrt((mean(values.map((one) => (one - middle) ** 2)) * n) / (n - 1));
  const half = (tQuantile(n - 1, PROBABILITY) * stdev) / Math.sqrt(n);
  return { mean: middle, low: middle - half, high: middle + half, stdev, n };
}

/** Cuts an interval to the possible range of its mean. */
export function within<T extends Ends>(found: T, low: number, high: number): T {
  if (!(found.low < low || found.high > high)) return found;
  return { ...found, low: Math.max(found.low, low), high: Math.min(found.high, high) };
}

/**
 * Returns the mean of `first - second` with its interval, for common random numbers.
 *
 * On each side the interval ends at the farther of two limits: Student's, with as many degrees of freedom as there are
 * differences unequal to the most frequent one, and Hall's, which removes the skewness (Hall, J. R. Stat. Soc. B 54(1),
 * 1992).
 */
export function pairedDifference(first: readonly number[], second: readonly number[]): Interval {
  const values = first.map((one, at) => one - second[at]!);
  const plain = meanInterval(values);
  if (!(plain.stdev > 0)) return plain;
  const scaled = values.map((one) => (one - plain.mean) / plain.stdev);
  const square = mean(scaled.map((one) => one ** 2));
  const cube = mean(scaled.map((one) => one ** 3));
  const reach = reachOf(first, second);
  const [low, high] = endsOf(reach, 0, halfWidth(reach, reach.tVaried ** 2 * square), square, cube);
  return { ...plain, low: plain.mean + low * plain.stdev, high: plain.mean + high * plain.stdev };
}

/**
 * Returns the ratio of the means of paired values with its interval by Fieller's method (J. R. Stat. Soc. B 16(2), 1954).
 *
 * The ends are NaN if the mean of the denominator is not significantly different from 0.
 */
export function ratioInterval(numerator: readonly number[], denominator: readonly number[]): Ends {
  const below = mean(denominator);
  const ratio = below ? mean(numerator) / below : NaN;
  const unknown = { mean: ratio, low: NaN, high: NaN };
  if (numerator.length < 2 || !Number.isFinite(ratio)) return unknown;
  const x = numerator.map((one) => one / below);
  const ends = endsOfRest(x, denominator.map((one) => one / below), reachOf(numerator, denominator));
  if (!ends) return unknown;
  const middle = mean(x);
  const step = (Math.abs(ratio) + Math.sqrt(mean(x.map((one) => (one - middle) ** 2)))) / 1024;
  return {
    mean: ratio,
    low: crossing((r) => ends(r)[0], ratio, -step),
    high: crossing((r) => -ends(r)[1], ratio, step),
  };
}

/** Returns the number of replications after which a true mean of `width` is detected with the given power; infinity above 2^40. */
export function runsNeeded(stdev: number, width: number, power: number): number {
  const more = normalQuantile(power);
  const reaches = (n: number) => ((tQuantile(n - 1, PROBABILITY) + more) * stdev) / Math.sqrt(n) <= width;
  let low = 1;
  let high = 2;
  while (!reaches(high) && high < 2 ** 40) [low, high] = [high, 2 * high];
  if (!reaches(high)) return Infinity;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (reaches(middle)) high = middle;
    else low = middle;
  }
  return high;
}

/** Parameters that determine how far the ends of an interval lie from the mean of `n` values. */
interface Reach {
  readonly n: number;
  readonly tAll: number;
  readonly tVaried: number;
}

function reachOf(a: readonly number[], b: readonly number[]): Reach {
  const scale = Math.max(...a.map(Math.abs), ...b.map(Math.abs));
  const degrees = Math.min(varied(a.map((one, at) => one - b[at]!), scale), a.length - 1);
  return { n: a.length, tAll: tQuantile(a.length - 1, PROBABILITY), tVaried: tQuantile(degrees, PROBABILITY) };
}

/** Returns the number of values that differ from the commonest value, at least 1. */
function varied(values: readonly number[], scale: number): number {
  const sorted = Float64Array.from(values).sort();
  let commonest = 0;
  let begin = 0;
  for (let at = 1; at <= sorted.length; at++) {
    if (at < sorted.length && sorted[at]! - sorted[at - 1]! <= ROUNDING * scale) continue;
    commonest = Math.max(commonest, at - begin);
    begin = at;
  }
  return Math.max(values.length - commonest, 1);
}

function halfWidth(reach: Reach, squares: number): number {
  return Math.sqrt(Math.max(squares, 0) / (reach.n - 1));
}

function endsOf(reach: Reach, middle: number, half: number, second: number, third: number): [number, number] {
  const { n, tAll } = reach;
  const deviation = Math.sqrt(Math.max(second, 0));
  if (deviation ** 3 === 0) return [middle, middle];
  const largest = (n - 2) / Math.sqrt(n - 1);
  const skewness = Math.min(Math.max(third / deviation ** 3, -largest), largest);
  const stdev = deviation * Math.sqrt(n / (n - 1));
  const above = Math.max(half, -transformed(n, skewness, -tAll) * stdev);
  const below = Math.max(half, transformed(n, skewness, tAll) * stdev);
  return [middle - below, middle + above];
}

/** Inverts Hall's transformation at the quantile `t`; the distance of an end in standard deviations. */
function transformed(n: number, skewness: number, t: number): number {
  const z = t / Math.sqrt(n) - skewness / (6 * n);
  return Math.abs(skewness) < 1e-6 ? z : (3 / skewness) * (Math.cbrt(1 + skewness * z) - 1);
}

/** Returns a function from r to the interval of the mean of `x - r y`, or nothing if the mean of `y` may be 0. */
function endsOfRest(x: readonly number[], y: readonly number[], reach: Reach) {
  const middle = mean(x) - mean(y);
  const u = x.map((one, at) => one - y[at]! - middle);
  const v = y.map((one) => one - 1);
  const moment = (...factors: (readonly number[])[]) =>
    mean(u.map((_, at) => factors.reduce((product, one) => product * one[at]!, 1)));
  const [uu, uv, vv] = [moment(u, u), moment(u, v), moment(v, v)];
  const [uuu, uuv, uvv, vvv] = [moment(u, u, u), moment(u, u, v), moment(u, v, v), moment(v, v, v)];
  const { tVaried: few, tAll: all } = reach;
  if (endsOf(reach, 1, halfWidth(reach, all ** 2 * vv), vv, vvv)[0] <= 0) return undefined;
  return (r: number): [number, number] => {
    const q = r - 1;
    const squares = few ** 2 * uu - 2 * q * few * all * uv + q * q * all ** 2 * vv;
    const second = uu - 2 * q * uv + q * q * vv;
    const third = uuu - 3 * q * uuv + 3 * q * q * uvv - q ** 3 * vvv;
    return endsOf(reach, middle - q, halfWidth(reach, squares), second, third);
  };
}

/** Returns the point at which `excess` becomes positive, in the direction of `step`. */
function crossing(excess: (r: number) => number, start: number, step: number): number {
  if (step === 0) return start;
  for (let tries = 0; excess(start + step) <= 0 && tries < 1000; tries++) step *= 2;
  let [inside, outside] = [start, start + step];
  for (let halving = 0; halving < 48; halving++) {
    const middle = (inside + outside) / 2;
    if (excess(middle) > 0) outside = middle;
    else inside = middle;
  }
  return inside;
}
