/** Workers and the jobs that they carry out. */

import { EngineError } from "./api";
import type { FromWorker, Request, ToWorker } from "./messages";

/** Time for which a worker may go on with a job that was cancelled, ms; then it is replaced. */
const GRACE_MS = 15;

/** Job for a worker: a request, and functions that receive its answer. */
export interface Job {
  readonly request: Request;
  /** Whether the job leaves one worker free for other jobs. */
  readonly isBackground: boolean;
  readonly signal: AbortSignal | undefined;
  readonly onProgress: ((fraction: number) => void) | undefined;
  resolve(answer: ArrayBuffer): void;
  reject(error: EngineError): void;
}

function cancelled(): EngineError {
  return new EngineError("cancelled", "the call was stopped");
}

/** A worker, which is replaced when it dies or has to drop its job. */
class Slot {
  private worker!: Worker;
  private isReady = false;
  private number = 0;
  job: Job | undefined;
  /** Whether the current job was cancelled, so that its answer is ignored. */
  isStale = false;
  /** Whether the worker never became ready; it is not replaced then, as another one would fail too. */
  isBroken = false;

  constructor(
    private readonly module: WebAssembly.Module,
    private readonly source: string,
    private readonly onFree: () => void,
    private readonly onBroken: (error: EngineError) => void,
  ) {
    this.restart();
  }

  get isFree(): boolean {
    return this.isReady && !this.job;
  }

  begin(job: Job): void {
    this.job = job;
    this.isStale = false;
    this.post({ number: ++this.number, request: job.request });
  }

  drop(): void {
    this.isStale = true;
    const { number } = this;
    setTimeout(() => {
      if (this.job && this.number === number) this.restart();
    }, GRACE_MS);
  }

  private post(message: ToWorker): void {
    this.worker.postMessage(message);
  }

  private restart(): void {
    this.worker?.terminate();
    this.isReady = false;
    this.job = undefined;
    const url = URL.createObjectURL(new Blob([this.source], { type: "text/javascript" }));
    const worker = new Worker(url);
    URL.revokeObjectURL(url);
    worker.onmessage = ({ data }: MessageEvent<FromWorker>) => this.receive(data);
    worker.onerror = (event) => {
      event.preventDefault();
      if (worker === this.worker) this.fail(new EngineError("browser", `The simulator's worker failed: ${event.message || "no reason given"}.`));
    };
    this.worker = worker;
    this.post({ module: this.module });
  }

  private receive(message: FromWorker): void {
    if ("ready" in message) {
      this.isReady = true;
      this.onFree();
    } else if ("progress" in message) {
      if (message.number === this.number && !this.isStale) this.job?.onProgress?.(message.progress);
    } else if ("answer" in message) {
      const { job, isStale } = this;
      this.job = undefined;
      if (!isStale) job?.resolve(message.answer);
      this.onFree();
    } else {
      this.fail(new EngineError(message.kind, message.message));
    }
  }

  private fail(error: EngineError): void {
    const { job, isStale, isReady } = this;
    if (!isStale) job?.reject(error);
    this.job = undefined;
    if (isReady) return this.restart();
    this.worker.terminate();
    this.isBroken = true;
    this.onBroken(error);
  }
}

export class Slots {
  private readonly slots: Slot[];
  private waiting: Job[] = [];
  /** Error of the last worker if none can run the simulator. */
  private problem: EngineError | undefined;

  constructor(module: WebAssembly.Module, source: string, count: number) {
    this.slots = Array.from({ length: count }, () => new Slot(module, source, () => this.assign(), (error) => this.giveUp(error)));
  }

  /** Number of workers for jobs in the background. */
  get background(): number {
    return Math.max(this.slots.length - 1, 1);
  }

  add(job: Job): void {
    if (job.signal?.aborted) return job.reject(cancelled());
    if (this.problem) return job.reject(this.problem);
    job.signal?.addEventListener("abort", () => this.abort(job), { once: true });
    this.waiting.push(job);
    this.assign();
  }

  private giveUp(error: EngineError): void {
    if (!this.slots.every((slot) => slot.isBroken)) return;
    this.problem = error;
    this.waiting.splice(0).forEach((job) => job.reject(error));
  }

  private abort(job: Job): void {
    this.waiting = this.waiting.filter((other) => other !== job);
    this.slots.find((slot) => slot.job === job)?.drop();
    job.reject(cancelled());
  }

  /** Gives waiting jobs to free workers: those in the foreground first. */
  private assign(): void {
    for (const slot of this.slots.filter((one) => one.isFree)) {
      const busy = this.slots.filter((one) => one.job?.isBackground && !one.isStale).length;
      const at = this.waiting.findIndex((job) => !job.isBackground);
      const next = at >= 0 ? at : busy < this.background ? 0 : -1;
      const [job] = next < 0 ? [] : this.waiting.splice(next, 1);
      if (!job) return;
      slot.begin(job);
    }
  }
}
