/** Ranked bars, such as causes of a transfer's duration, which are the key of the strip too. */

import type { Bar } from "../../core/api";

export function BarChart({ title, bars }: { title: string; bars: readonly Bar[] }) {
  const most = Math.max(...bars.map(({ size, ends }) => Math.max(size, ends?.[1] ?? 0)));
  const width = (value: number) => `${(100 * value) / most}%`;
  return (
    <>
      <p class="caption">
        <b>{title}</b>
      </p>
      <ol class="rank" aria-label={title}>
        {bars.map(({ name, value, size, paint, note, interval, ends }) => (
          <li key={name}>
            <span class="n">
              {paint && <span class={`c ${paint}`} />}
              {name}
            </span>
            <span class="m" aria-hidden="true">
              <span class={`bar ${paint}`} style={{ width: width(size) }} />
              {ends && ends[1] > ends[0] && <span class="iv" style={{ left: width(ends[0]), width: width(ends[1] - ends[0]) }} />}
            </span>
            <span class="v">
              {[note, value].filter(Boolean).join(" · ")} {interval && <small>({interval})</small>}
            </span>
          </li>
        ))}
      </ol>
    </>
  );
}
