/** Shares, counts and lists in words, as in `nodeb.answer.words`. */

import { apportioned } from "./numbers";

const PARTS = [
  [1 / 4, "a quarter"],
  [1 / 3, "a third"],
  [1 / 2, "half"],
  [2 / 3, "two thirds"],
  [3 / 4, "three quarters"],
] as const;
const SMALL = "no one two three four five six seven eight nine ten eleven twelve".split(" ");

/** Returns a share in words, such as `two thirds`, or in whole per cent. */
export function share(value: number): string {
  return PARTS.find(([part]) => Math.abs(value - part) <= 0.02)?.[1] ?? percent(value);
}

/** Returns a share in whole per cent; only exact values become 0 % or 100 %. */
export function percent(value: number): string {
  const whole = Math.round(100 * value);
  if (whole === 100 && value < 1) return "more than 99 %";
  if (whole === 0 && value > 0) return "less than 1 %";
  return `${whole} %`;
}

/** Returns the shares of a whole in whole per cent that add up. */
export function percents(shares: readonly number[]): string[] {
  const sum = shares.reduce((total, one) => total + one, 0);
  const whole = apportioned(shares.map((one) => 100 * one), Math.round(100 * sum));
  return shares.map((one, at) => {
    const part = whole[at]!;
    return part > 0 && part < 100 ? `${part} %` : percent(part ? one : Math.min(one, 0.001));
  });
}

/** Joins words to a list: `a, b and c`. */
export function joined(words: readonly string[], last = "and"): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} ${last} ${words.at(-1)}`;
}

/** Returns a number and its noun: `1 phone`, `30 phones`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** Returns a number up to 12 in letters, a larger one in digits. */
export function spelled(count: number): string {
  return SMALL[count] ?? String(count);
}

/** Returns a text with its first letter capitalized. */
export function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
