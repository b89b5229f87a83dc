/** Texts with units, such as "110 ms", and positions of sliders. */

/** A number and its unit; the unit is empty for plain numbers. */
export interface Quantity {
  readonly value: number;
  readonly unit: string;
}

const FACTORS: Record<string, number> = {
  ns: 1e-9, us: 1e-6, "\u00b5s": 1e-6, ms: 1e-3, s: 1, min: 60, h: 3600,
  bps: 1, kbps: 1e3, Mbps: 1e6, Gbps: 1e9, "bit/s": 1, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9,
  B: 1, kB: 1e3, MB: 1e6, GB: 1e9, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3,
  mm: 1e-3, m: 1, km: 1e3,
  uW: 1e-6, mW: 1e-3, W: 1,
  "mm/h": 1e-6, "km/h": 1, "m/s": 3.6,
};

/** Splits a text such as "110 ms"; nothing if it is not a number with a unit. */
export function parseQuantity(text: string): Quantity | undefined {
  const found = /^([0-9]+(?:\.[0-9]+)?(?:[eE][0-9]+)?) ?(\S+)$/.exec(text);
  return found && found[2]! in FACTORS ? { value: Number(found[1]), unit: found[2]! } : undefined;
}

/** Returns a quantity in the base unit of its dimension. */
export function inBaseUnit({ value, unit }: Quantity): number {
  return value * (FACTORS[unit] ?? 1);
}

/** Converts a quantity to another unit of its dimension. */
export function converted(from: Quantity, unit: string): Quantity {
  return { value: plain((inBaseUnit(from) / FACTORS[unit]!)), unit };
}

/** Writes a quantity as scenarios do: `110 ms`. */
export function written({ value, unit }: Quantity): string {
  return unit ? `${plain(value)} ${unit}` : String(plain(value));
}

function plain(value: number): number {
  return Number(value.toPrecision(6));
}

/** Scale of a slider: from its positions, 0 to `STEPS`, to values and back. */
export interface Slide {
  readonly valueAt: (position: number) => number;
  readonly positionOf: (value: number) => number;
}

/** Number of positions of a slider. */
export const STEPS = 200;

/** Returns a linear scale whose values have at most `digits` decimals. */
export function linear(low: number, high: number, digits: number): Slide {
  return {
    valueAt: (position) => Number((low + ((high - low) * position) / STEPS).toFixed(digits)),
    positionOf: (value) => clamp(((value - low) / (high - low)) * STEPS),
  };
}

/** Returns a scale for probabilities: fine near the lower end, where small changes matter most. */
export function squared(low: number, high: number): Slide {
  const digits = (value: number) => Number(value.toPrecision(2));
  return {
    valueAt: (position) => digits(low + (high - low) * (position / STEPS) ** 2),
    positionOf: (value) => clamp(Math.sqrt(Math.max((value - low) / (high - low), 0)) * STEPS),
  };
}

/** Returns a logarithmic scale around a value: from a hundredth to a hundredfold, in steps of two digits. */
export function logarithmic(middle: number, isWhole: boolean, least = 0): Slide {
  const centre = middle > 0 ? middle : 1;
  const low = isWhole ? Math.max(least, 1, centre / 100) : centre / 100;
  const high = Math.max(centre * 100, low * 100);
  const ratio = Math.log(high / low);
  const digits = (value: number) => Number(value.toPrecision(2));
  return {
    valueAt: (position) => {
      const value = digits(low * Math.exp((ratio * position) / STEPS));
      return isWhole ? Math.max(Math.round(value), least) : value;
    },
    positionOf: (value) => (value > 0 ? clamp((Math.log(value / low) / ratio) * STEPS) : 0),
  };
}

function clamp(position: number): number {
  return Math.min(Math.max(Math.round(position), 0), STEPS);
}
