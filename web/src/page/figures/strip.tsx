/** Critical path of a transfer: a strip of causes over time. */

import { useMemo } from "preact/hooks";

import type { Explanation } from "../../core/api";
import { numbers, texts } from "../../core/columns";
import { paintOf } from "./paints";
import { onZoomKey, type Span, timeText } from "./time";

/** Stretch of time with one cause, s. */
export interface Stretch {
  readonly cause: string;
  readonly from: number;
  readonly to: number;
}

/** Stretch of the strip: one cause, or several that share it by height. */
export interface Box {
  readonly from: number;
  readonly to: number;
  readonly parts: readonly { readonly cause: string; readonly share: number }[];
}

/** Share of the shown time below which stretches share a box. */
const SHARED = 0.005;

/** Returns the stretches of a critical path; neighbours with the same cause are one. */
export function stretchesOf({ spans }: Explanation): Stretch[] {
  const [begin, end, causes] = [numbers(spans, "begin_ns"), numbers(spans, "end_ns"), texts(spans, "cause")];
  const found: { cause: string; from: number; to: number }[] = [];
  causes.forEach((cause, row) => {
    const last = found.at(-1);
    if (last?.cause === cause) last.to = end[row]! / 1e9;
    else found.push({ cause, from: begin[row]! / 1e9, to: end[row]! / 1e9 });
  });
  return found;
}

/** Returns the boxes of the shown span: long stretches alone, short neighbours together. */
export function boxesOf(stretches: readonly Stretch[], [from, to]: Span): Box[] {
  const shared = (to - from) * SHARED;
  const boxes: { from: number; to: number; slot: number; sums: Map<string, number> }[] = [];
  for (const one of stretches) {
    if (one.to <= from || one.from >= to) continue;
    const [begin, end] = [Math.max(one.from, from), Math.min(one.to, to)];
    const slot = end - begin >= shared ? -1 : Math.floor((begin - from) / shared);
    const last = boxes.at(-1);
    const box = last && slot >= 0 && last.slot === slot ? last : undefined;
    if (box) {
      box.to = end;
      box.sums.set(one.cause, (box.sums.get(one.cause) ?? 0) + end - begin);
    } else boxes.push({ from: begin, to: end, slot, sums: new Map([[one.cause, end - begin]]) });
  }
  return boxes.map(({ sums, ...box }) => {
    const whole = [...sums.values()].reduce((sum, part) => sum + part, 0);
    const parts = [...sums].sort((a, b) => b[1] - a[1]).map(([cause, part]) => ({ cause, share: part / whole }));
    return { from: box.from, to: box.to, parts };
  });
}

interface StripProps {
  readonly title: string;
  readonly explanation: Explanation;
  readonly span: Span;
  readonly endS: number;
}

export function Strip({ title, explanation, span, endS }: StripProps) {
  const stretches = useMemo(() => stretchesOf(explanation), [explanation]);
  const boxes = useMemo(() => boxesOf(stretches, span), [stretches, span[0], span[1]]);
  const left = (time: number) => `${(100 * (time - span[0])) / (span[1] - span[0])}%`;
  return (
    <figure class="track" tabIndex={0} onKeyDown={(event) => onZoomKey(event, endS)} role="group" aria-label={sentence(title, explanation)}>
      <figcaption>
        <b>{title}</b> <small>critical path: what the transfer waited for, moment by moment</small>
      </figcaption>
      <div class="strip" aria-hidden="true">
        {boxes.map((box) => {
          const only = box.parts.length === 1 ? paintOf(box.parts[0]!.cause) : "";
          const style = { left: left(box.from), width: `${(100 * (box.to - box.from)) / (span[1] - span[0])}%` };
          return (
            <i key={box.from} class={only} style={style} title={titleOf(box)}>
              {!only && box.parts.map((part) => <u key={part.cause} class={paintOf(part.cause)} style={{ flexGrow: part.share }} />)}
            </i>
          );
        })}
      </div>
    </figure>
  );
}

function titleOf({ from, to, parts }: Box): string {
  return `${timeText(from)} to ${timeText(to)}: ${parts.map((one) => one.cause).join(", ")}`;
}

function sentence(title: string, { sums }: Explanation): string {
  const ranked = Object.entries(sums).sort((a, b) => b[1] - a[1]);
  const totalS = ranked.reduce((sum, [, ns]) => sum + ns, 0) / 1e9;
  return `${title}: the transfer took ${timeText(totalS)}; most of all it waited for ${ranked[0]?.[0] ?? "nothing"}`;
}
