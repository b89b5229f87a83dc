import { number } from "../answer/numbers";
import type { Ring } from "../answer/rings";
import { counted } from "../answer/words";

/** Mean rates of phones by distance, as bars. */
export function RingBars({ rings }: { rings: readonly Ring[] }) {
  const most = Math.max(...rings.map((one) => one.meanBps || 0));
  return (
    <>
      <p class="caption">
        <b>What phones received, by distance</b> <small class="muted">replication 0</small>
      </p>
      <ol class="rank" aria-label="Mean rates by distance">
        {rings.map((one) => (
          <li key={one.edgeM}>
            <span class="n">up to {one.edgeM} m</span>
            <span class="m" aria-hidden="true">
              <span class="bar" style={{ width: `${(100 * (one.meanBps || 0)) / most}%` }} />
            </span>
            <span class="v">
              {number(one.meanBps, "bit/s")} <small>{counted(one.phones, "phone")}</small>
            </span>
          </li>
        ))}
      </ol>
    </>
  );
}
