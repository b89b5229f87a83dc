/** The span of simulated time that all figures show. */

import { signal } from "@preact/signals";

export type Span = readonly [fromS: number, toS: number];

/** Span that the reader zoomed to; nothing for the whole run. */
export const zoomed = signal<Span | undefined>(undefined);

/** True if the page is dark; figures on canvases are drawn again when it changes. */
export const isDark = signal(matchMedia("(prefers-color-scheme: dark)").matches);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", (event) => (isDark.value = event.matches));

/** Factor of one zoom step. */
export const ZOOM = 1.6;
const NARROWEST_S = 1e-5;

/** Returns the shown span of a run that lasts `endS`. */
export function shownSpan(endS: number): Span {
  const span = zoomed.value;
  return span && span[0] < endS ? [span[0], Math.min(span[1], endS)] : [0, endS];
}

/** Zooms by a factor around the middle; below 1 shows less. */
export function zoom(endS: number, factor: number): void {
  const [from, to] = shownSpan(endS);
  const half = Math.max(((to - from) / 2) * factor, NARROWEST_S);
  show(endS, (from + to) / 2 - half, (from + to) / 2 + half);
}

/** Moves the shown span by a share of its length. */
export function move(endS: number, share: number): void {
  const [from, to] = shownSpan(endS);
  const step = Math.min(Math.max((to - from) * share, -from), endS - to);
  show(endS, from + step, to + step);
}

/** Shows a span; all of the run if the span contains it. */
export function show(endS: number, from: number, to: number): void {
  const span: Span = [Math.max(from, 0), Math.min(to, endS)];
  zoomed.value = span[1] - span[0] >= endS * (1 - 1e-9) ? undefined : span;
}

/** Zooms or moves by keys: + - arrows Home. */
export function onZoomKey(event: KeyboardEvent, endS: number): void {
  const actions: Record<string, () => void> = {
    "+": () => zoom(endS, 1 / ZOOM),
    "=": () => zoom(endS, 1 / ZOOM),
    "-": () => zoom(endS, ZOOM),
    ArrowLeft: () => move(endS, -0.2),
    ArrowRight: () => move(endS, 0.2),
    Home: () => (zoomed.value = undefined),
  };
  const act = actions[event.key];
  if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  act();
}

/** Returns a time with three digits, such as `35.2 ms`. */
export function timeText(seconds: number): string {
  const [factor, unit] = seconds >= 0.95 ? [1, "s"] : seconds >= 0.95e-3 || !seconds ? [1e3, "ms"] : [1e6, "us"];
  return `${Number((seconds * factor).toPrecision(3))} ${unit}`;
}
