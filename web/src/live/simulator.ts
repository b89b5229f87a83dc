/** The simulator of a page with live figures: started once, for the first visible figure or checked answer. */

import type { Engine, MetricAbout } from "../core/api";
import { open } from "../core/pool";

export interface Simulator {
  readonly engine: Engine;
  readonly metrics: ReadonlyMap<string, MetricAbout>;
}

let started: Promise<Simulator> | undefined;

export function simulator(): Promise<Simulator> {
  started ??= open().then(async (engine) => {
    const { metrics } = await engine.about();
    return { engine, metrics: new Map(metrics.map((one) => [one.name, one])) };
  });
  return started;
}
