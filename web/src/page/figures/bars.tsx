/** Causes of a transfer's duration as ranked bars, which are the key of the strip too. */

import { barsOf, type Cause } from "../answer/causes";
import { paintOf } from "./paints";

export function CauseBars({ title, causes }: { title: string; causes: readonly Cause[] }) {
  const bars = barsOf(causes);
  const most = Math.max(...bars.map((one) => Math.max(one.ends.mean, one.ends.high || 0)));
  const width = (value: number) => `${(100 * value) / most}%`;
  return (
    <>
      <p class="caption">
        <b>{title}</b>
      </p>
      <ol class="rank" aria-label={title}>
        {bars.map((bar) => (
          <li key={bar.label}>
            <span class="n">
              <span class={`c ${paintOf(bar.cause)}`} />
              {bar.label}
            </span>
            <span class="m" aria-hidden="true">
              <span class={`bar ${paintOf(bar.cause)}`} style={{ width: width(bar.ends.mean) }} />
              {bar.ends.high > bar.ends.low && (
                <span class="iv" style={{ left: width(bar.ends.low), width: width(bar.ends.high - bar.ends.low) }} />
              )}
            </span>
            <span class="v">
              {bar.share} · {bar.value} {bar.interval && <small>({bar.interval})</small>}
            </span>
          </li>
        ))}
      </ol>
    </>
  );
}
