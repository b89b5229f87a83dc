/** Mean rates of a cell's phones by distance from the Node B, as in `nodeb.results.rings`. */

import type { Tables } from "../../core/api";
import { numbers, texts } from "../../core/columns";
import { mean } from "../../core/stats";

export interface Ring {
  /** Outer edge, m. */
  readonly edgeM: number;
  /** Mean rate of the phones in the ring, bit/s; NaN without phones. */
  readonly meanBps: number;
  readonly phones: number;
}

const RINGS = 5;

/** Returns five rings; none if there are no distances or fewer than two phones per ring. */
export function ringsOf(tables: Tables): Ring[] {
  const [phones, flows] = [tables.get("phones"), tables.get("flows")!];
  if (!phones?.columns.has("distance_m") || phones.rows < 2 * RINGS || phones.rows !== flows.rows) return [];
  if (flows.columns.has("direction") && new Set(texts(flows, "direction")).size > 1) return [];
  const [distances, rates] = [numbers(phones, "distance_m"), numbers(flows, "received_bps")];
  if (!distances.every(Number.isFinite)) return [];
  const most = roundedUp(Math.max(...distances));
  const ringOf = (row: number) => Math.min(Math.floor((distances[row]! / most) * RINGS), RINGS - 1);
  return Array.from({ length: RINGS }, (_, ring) => {
    const found = rates.filter((_rate, row) => ringOf(row) === ring);
    return { edgeM: (most * (ring + 1)) / RINGS, meanBps: mean(found), phones: found.length };
  });
}

/** Rounds up to a number of two digits that five rings divide evenly. */
function roundedUp(value: number): number {
  const power = value > 0 ? 10 ** Math.floor(Math.log10(value)) / 2 : 1;
  return Math.ceil(value / power) * power;
}
