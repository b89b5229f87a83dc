/** Quantiles of Student's t and of the normal distribution. */

const cache = new Map<string, number>();
/**
 * Degrees of freedom above which two terms of the expansion 26.7.5 of Abramowitz and Stegun suffice: for confidence
 * 0.95, the error is less than 2e-7.
 */
const MANY = 4096;

/** Returns the quantile of Student's t with a whole number of degrees of freedom; NaN for 0 degrees. */
export function tQuantile(degrees: number, probability: number): number {
  if (degrees < 1) return NaN;
  if (degrees > MANY) {
    const z = normalQuantile(probability);
    return z + (z ** 3 + z) / (4 * degrees);
  }
  const key = `${degrees} ${probability}`;
  let found = cache.get(key);
  if (found === undefined) {
    found = inverse((t) => (1 + studentWithin(t, degrees)) / 2, probability);
    cache.set(key, found);
  }
  return found;
}

/** Returns the quantile of the standard normal distribution. */
export function normalQuantile(probability: number): number {
  return inverse(normal, probability);
}

/**
 * Returns the probability that Student's t lies within -t to t.
 *
 * Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 1964, 26.7.3 and 26.7.4.
 */
function studentWithin(t: number, degrees: number): number {
  const angle = Math.atan(t / Math.sqrt(degrees));
  const square = Math.cos(angle) ** 2;
  const isOdd = degrees % 2 === 1;
  let term = isOdd ? Math.cos(angle) : 1;
  let sum = degrees === 1 ? 0 : term;
  for (let k = isOdd ? 3 : 2; k <= degrees - 2; k += 2) {
    term *= ((k - 1) / k) * square;
    sum += term;
  }
  return isOdd ? (2 / Math.PI) * (angle + Math.sin(angle) * sum) : Math.sin(angle) * sum;
}

/** Returns the standard normal distribution function by its power series (Abramowitz and Stegun, 26.2.11). */
function normal(x: number): number {
  let term = x;
  let sum = x;
  for (let k = 3; Math.abs(term) > 1e-17 * Math.abs(sum); k += 2) {
    term *= (x * x) / k;
    sum += term;
  }
  return 0.5 + (Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI)) * sum;
}

/** Inverts the distribution function of a variable that is symmetric around 0, by bisection. */
function inverse(of: (x: number) => number, probability: number): number {
  if (probability < 0.5) return -inverse(of, 1 - probability);
  let low = 0;
  let high = 1;
  while (of(high) < probability) high *= 2;
  for (let step = 0; step < 60; step++) {
    const middle = (low + high) / 2;
    if (of(middle) < probability) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}
