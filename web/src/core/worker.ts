/** Worker that holds an instance of the simulator and carries out requests. */

import type { FromWorker, ToWorker } from "./messages";
import { Instance, Stopped } from "./module";

/** Minimum time between two reports of progress, ms. */
const PROGRESS_MS = 50;

const scope = self as unknown as DedicatedWorkerGlobalScope;
let instance: Instance | undefined;
let current: number | null = null;
let reported = 0;

function send(message: FromWorker, transferred: Transferable[] = []): void {
  scope.postMessage(message, transferred);
}

function report(progress: number): void {
  const now = performance.now();
  if (current === null || now - reported < PROGRESS_MS) return;
  reported = now;
  send({ number: current, progress });
}

function fail(error: unknown): void {
  const number = current;
  const text = error instanceof Error ? error.message : String(error);
  if (!(error instanceof Stopped)) send({ number, kind: "browser", message: `The simulator does not run in this browser: ${text}.` });
  else if (text) send({ number, kind: "internal", message: `nodeb itself failed, please report it: ${text}` });
  else send({ number, kind: "memory", message: "The simulation needs more memory than a page has; simulate fewer users or a shorter time, or use `nodeb run`." });
}

scope.onmessage = async ({ data }: MessageEvent<ToWorker>) => {
  try {
    if ("module" in data) {
      instance = await Instance.of(data.module, report);
      send({ ready: true });
      return;
    }
    current = data.number;
    reported = performance.now();
    const answer = instance!.call(data.request);
    send({ number: current, answer }, [answer]);
  } catch (error) {
    fail(error);
  } finally {
    current = null;
  }
};
