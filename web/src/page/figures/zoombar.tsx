import { move, onZoomKey, ZOOM, zoom, zoomed } from "./time";

/** Buttons that zoom all figures over time. */
export function ZoomBar({ endS }: { endS: number }) {
  const actions = [
    ["earlier", "\u2190", () => move(endS, -0.4)],
    ["later", "\u2192", () => move(endS, 0.4)],
    ["zoom in", "+", () => zoom(endS, 1 / ZOOM)],
    ["zoom out", "\u2212", () => zoom(endS, ZOOM)],
    ["whole run", "All", () => (zoomed.value = undefined)],
  ] as const;
  return (
    <div class="zoombar" role="group" aria-label="Time shown" onKeyDown={(event) => onZoomKey(event, endS)}>
      {actions.map(([name, sign, act]) => (
        <button key={name} type="button" aria-label={name} title={name} onClick={act}>
          {sign}
        </button>
      ))}
    </div>
  );
}
