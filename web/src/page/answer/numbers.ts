/**
 * Formatting of numbers: the uncertainty determines the number of digits, as in `nodeb.answer.numbers`.
 *
 * Of the half-width of an interval, two digits are kept if these are 10 to 35, and one otherwise (Review of Particle
 * Physics, introduction, section 5.3). One digit is also kept if the mean would have more than `DIGITS` digits with
 * two. Without an interval a number has `PLAIN` digits, and a whole number all its digits.
 */

import type { Ends } from "../../core/stats";

const DIGITS = 4;
const PLAIN = 3;
const EXACT = 12;
const NOISE = 1e-9;
const DASH = "\u2013";
const MINUS = "\u2212";
const ALWAYS = "in every replication";

export type Scale = readonly [unit: string, factor: number];

const SCALES: Record<string, readonly (readonly [smallest: number, unit: string, factor: number])[]> = {
  "bit/s": [[1e6, "Mbit/s", 1e-6], [1e3, "kbit/s", 1e-3], [0, "bit/s", 1]],
  s: [[0.95, "s", 1], [0.95e-3, "ms", 1e3], [0.95e-6, "us", 1e6], [1e-300, "ns", 1e9], [0, "ms", 1e3]],
  bytes: [[1e6, "MB", 1e-6], [1e3, "kB", 1e-3], [0, "bytes", 1]],
};

/** A value, such as a mean, with its interval if it has one, as text. */
export class Shown {
  constructor(
    readonly number: string,
    readonly unit: string,
    readonly low = "",
    readonly high = "",
  ) {}

  /** Value with its unit. */
  get value(): string {
    return `${this.number} ${this.unit}`.trim();
  }

  /** Interval with its unit; empty if the value has no interval. */
  get interval(): string {
    if (!this.low) return "";
    if (this.low === this.high && this.low === this.number) return ALWAYS;
    return `${this.low} to ${this.high} ${this.unit}`.trim();
  }

  /** Mean and interval in one column of a table: `3.01 (2.95 to 3.07) s`. */
  get inOneCell(): string {
    const ends = this.low && this.low !== this.high ? ` (${this.low} to ${this.high})` : "";
    return `${this.number}${ends} ${this.unit}`.trim();
  }

  /** Mean with its interval and the interval's confidence level. */
  get withLevel(): string {
    if (!this.low) return this.value;
    const level = this.interval === ALWAYS ? "" : "95 %: ";
    return `${this.value} (${level}${this.interval})`;
  }
}

export interface Format {
  readonly unit?: string;
  readonly percent?: boolean;
  readonly scale?: Scale;
}

/** Formats a mean and its interval in a readable unit; a dash if the mean is not finite. */
export function shown(ends: Ends, format: Format = {}): Shown {
  const [unit, factor] = format.scale ?? scaleOf(ends.mean, format.unit ?? "", format.percent);
  if (!Number.isFinite(ends.mean)) return new Shown(DASH, "");
  const hasInterval = Number.isFinite(ends.low) && Number.isFinite(ends.high);
  let { low, high } = ends;
  if (hasInterval && high - low <= NOISE * Math.max(Math.abs(low), Math.abs(high))) low = high = ends.mean;
  const decimals = decimalsOf(ends.mean * factor, hasInterval ? ((high - low) / 2) * factor : NaN);
  const text = (value: number) => fixed(value * factor, decimals);
  return hasInterval
    ? new Shown(text(ends.mean), unit, text(low), text(high))
    : new Shown(text(ends.mean), unit);
}

/** Formats a difference and its interval with signs; the unit of percentages is points. */
export function difference(ends: Ends, scale: Scale): Shown {
  const found = shown(ends, { scale });
  const unit = found.unit === "%" ? "points" : found.unit;
  return new Shown(signed(found.number), unit, signed(found.low), signed(found.high));
}

/** Formats a number without an interval, with its unit. */
export function number(value: number, unit = "", percent = false): string {
  return shown({ mean: value, low: NaN, high: NaN }, { unit, percent }).value;
}

/** Returns the unit in which a value is readable, and the factor that converts it. */
export function scaleOf(value: number, unit: string, percent = false): Scale {
  if (unit === "1") return percent ? ["%", 100] : ["", 1];
  const found = SCALES[unit]?.find(([smallest]) => !(Math.abs(value) < smallest));
  return found ? [found[1], found[2]] : [unit, 1];
}

/** Rounds values so that they add up to a whole number, by largest remainders (Hamilton's method). */
export function apportioned(values: readonly number[], whole: number): number[] {
  const found = values.map(Math.floor);
  const left = whole - found.reduce((sum, one) => sum + one, 0);
  const order = values.map((_, at) => at).sort((a, b) => found[a]! - values[a]! - (found[b]! - values[b]!));
  for (const at of order.slice(0, Math.max(left, 0))) found[at]! += 1;
  return found;
}

/** Formats parts of a whole in one unit, rounded so that they add up to the displayed whole. */
export function parts(values: readonly number[], unit: string): string[] {
  const whole = values.reduce((sum, one) => sum + one, 0);
  const largest = Math.max(whole, ...values, 0);
  const [to, factor] = scaleOf(largest, unit);
  const decimals = largest ? PLAIN - 1 - exponentOf(largest * factor) : 0;
  const step = 10 ** -decimals;
  const steps = apportioned(values.map((one) => (one * factor) / step), Math.round((whole * factor) / step));
  return values.map((one, at) =>
    steps[at] && one * factor >= step / 2 ? `${fixed(steps[at]! * step, decimals)} ${to}` : number(one, unit),
  );
}

function decimalsOf(mean: number, half: number): number {
  const size = Math.abs(mean);
  if (!(half > 1e-300)) return size === 0 || size === Math.round(size) ? 0 : PLAIN - 1 - exponentOf(size);
  let exponent = exponentOf(half);
  const two = Math.round(half / 10 ** (exponent - 1));
  const keeps = (two >= 10 && two <= 35) || two === 100;
  if (two === 100) exponent += 1;
  const most = size ? DIGITS - 1 - exponentOf(size) : Infinity;
  return Math.min(keeps ? 1 - exponent : -exponent, Math.max(most, -exponent));
}

function exponentOf(size: number): number {
  return Math.floor(Math.log10(size));
}

/** Formats a number with a fixed number of decimals (negative: rounds to tens) and a true minus sign. */
function fixed(value: number, decimals: number): string {
  const text = rounded(value, decimals).toFixed(Math.max(decimals, 0));
  return /[1-9]/.test(text) ? text.replace("-", MINUS) : text.replace("-", "");
}

/** Rounds as Python does, half to even, after rounding to `EXACT` digits, which removes rounding errors of sums. */
function rounded(value: number, decimals: number): number {
  const exact = Number(value.toPrecision(EXACT));
  const power = 10 ** Math.abs(decimals);
  const steps = decimals < 0 ? exact / power : exact * power;
  // A double lies exactly between two decimal numbers only if it is a multiple of 2^-(decimals + 1).
  const isTie = Math.abs(steps % 1) === 0.5 && (decimals < 0 || Number.isInteger(exact * 2 ** (decimals + 1)));
  if (decimals >= 0 && !isTie) return Number(exact.toFixed(decimals));
  const whole = isTie ? 2 * Math.round(steps / 2) : Math.round(steps);
  return decimals < 0 ? whole * power : whole / power;
}

function signed(text: string): string {
  return !text || text.startsWith(MINUS) || !/[1-9]/.test(text) ? text : `+${text}`;
}
