/** The simulator in several workers. */

import wasm from "nodeb-web.wasm";
import source from "worker:./worker.ts";

import type {
  About,
  Calling,
  Engine,
  Explain,
  Explanation,
  Life,
  Live,
  Reading,
  Replicate,
  Replicated,
  Replicating,
  Replication,
  Replications,
  Run,
  Said,
  Sums,
} from "./api";
import { Answer, type TableHead } from "./decode";
import { aligned } from "./module";
import { Slots } from "./slots";

/** Maximum number of workers: each has a memory of its own. */
const MAX_WORKERS = 8;
/** Time that the replications of one request should take, ms. */
const BATCH_MS = 80;
/** Time between two reports, ms. */
const MORE_MS = 100;

/** Starts the simulator; rejects if the browser cannot run it. */
export async function open(): Promise<Engine> {
  const packed = Uint8Array.from(atob(wasm), (one) => one.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const module = await WebAssembly.compile(await new Response(stream).arrayBuffer());
  const count = Math.min(Math.max(navigator.hardwareConcurrency || 2, 2), MAX_WORKERS);
  return new Pool(new Slots(module, source, count));
}

class Pool implements Engine {
  private described: Promise<About> | undefined;

  constructor(private readonly slots: Slots) {}

  about(): Promise<About> {
    this.described ??= this.call<About>("about", {}).then(({ result }) => result);
    return this.described;
  }

  async read(text: string, options?: Calling): Promise<Reading> {
    return (await this.call<Reading>("read", { text }, options)).result;
  }

  async run(task: Run, options?: Calling): Promise<Replication> {
    type Head = { tables: TableHead[]; endS: number; events: number; overTime: { intervalS: number; table: TableHead } | null };
    const answer = await this.call<Head>("run", task, options);
    const { tables, endS, events, overTime } = answer.result;
    return {
      batch: answer.bytes,
      tables: answer.tables(tables),
      endS,
      events,
      overTime: overTime && { intervalS: overTime.intervalS, table: answer.table(overTime.table) },
    };
  }

  async explain(task: Explain, options?: Calling): Promise<Explanation> {
    type Head = { sums: Sums; transfer: TableHead; busy: TableHead; spans: TableHead };
    const answer = await this.call<Head>("explain", task, options);
    const { sums, transfer, busy, spans } = answer.result;
    return { sums, transfer: answer.table(transfer), busy: answer.table(busy), spans: answer.table(spans) };
  }

  async life(task: Live, options?: Calling): Promise<Life> {
    type Head = Omit<Life, "tables" | "names"> & { tables: TableHead[]; names: Record<string, string[]> };
    const answer = await this.call<Head>("life", task, options);
    const { tables, names, ...rest } = answer.result;
    return { ...rest, tables: answer.tables(tables), names: new Map(Object.entries(names)) };
  }

  async replicate(task: Replicate, options: Replicating = {}): Promise<Replications> {
    return new Experiment(task, options, (...request) => this.call(...request), this.slots.background).run();
  }

  async answer(sides: readonly Replicated[], options?: Calling): Promise<Said> {
    const asked = sides.map(({ replications: { first, runs, batches }, ...rest }) => ({ ...rest, first, runs, batches: batches.length }));
    const batches = sides.flatMap(({ replications }) => replications.batches);
    return (await this.call<Said>("answer", { sides: asked }, options, { answers: batches })).result;
  }

  private async call<T>(call: string, task: object, options: Calling = {}, more: More = {}): Promise<Answer<T>> {
    const { answers = [], isBackground = false } = more;
    let at = 0;
    const lengths = answers.map(({ byteLength }) => [at, (at += aligned(byteLength))]);
    const head = JSON.stringify({ call, ...task, ...(answers.length ? { answers: lengths } : {}) });
    const { signal, onProgress } = options;
    const bytes = await new Promise<ArrayBuffer>((resolve, reject) =>
      this.slots.add({ request: { head, answers }, isBackground, signal, onProgress, resolve, reject }),
    );
    return Answer.of<T>(bytes);
  }
}

/** Further parts of a call: earlier answers that it refers to, and whether it leaves a worker free. */
interface More {
  readonly answers?: readonly ArrayBuffer[];
  readonly isBackground?: boolean;
}

/** State of a stopping rule: the number of replications that suffices, and how many may be requested by now. */
interface Judged {
  readonly stop: number | null;
  readonly ahead: number;
  readonly expected: number;
}

/** Replications of one scenario, simulated in batches on several workers. */
class Experiment {
  private readonly first: number;
  private judged: Judged;
  private readonly early = new Map<number, { bytes: ArrayBuffer; runs: number }>();
  private readonly batches: ArrayBuffer[] = [];
  /** Number of replications that were requested, and of those that are finished without gaps. */
  private requested = 0;
  private finished = 0;
  private perRunMs = BATCH_MS;
  private reported = performance.now();
  private judging = Promise.resolve();

  constructor(
    private readonly task: Replicate,
    private readonly options: Replicating,
    private readonly call: <T>(call: string, task: object, options: Calling, more: More) => Promise<Answer<T>>,
    private readonly workers: number,
  ) {
    this.first = task.first ?? 0;
    this.judged = { stop: null, ahead: task.runs, expected: task.runs };
  }

  async run(): Promise<Replications> {
    try {
      while (this.judged.stop === null) await Promise.all(Array.from({ length: this.workers }, () => this.work()));
    } catch (error) {
      this.requested = Infinity; // The other workers request no more.
      throw error;
    }
    return this.found(this.judged.stop);
  }

  private get calling(): Calling {
    const { signal } = this.options;
    return signal ? { signal } : {};
  }

  /** Simulates batches until all replications that may be requested by now were requested. */
  private async work(): Promise<void> {
    const { text, seed } = this.task;
    while (this.judged.stop === null && this.requested < this.judged.ahead) {
      const begin = this.requested;
      const count = Math.max(1, Math.min(Math.floor(BATCH_MS / this.perRunMs), Math.ceil((this.judged.ahead - begin) / this.workers)));
      this.requested += count;
      const started = performance.now();
      const request = { text, seed, run: this.first + begin, runs: count };
      const { bytes } = await this.call("replicate", request, this.calling, { isBackground: true });
      this.perRunMs = (performance.now() - started) / count;
      this.take(begin, count, bytes);
      await (this.judging = this.judging.then(() => this.judge()));
    }
  }

  private take(begin: number, runs: number, bytes: ArrayBuffer): void {
    this.early.set(begin, { bytes, runs });
    for (let next = this.early.get(this.finished); next; next = this.early.get(this.finished)) {
      this.early.delete(this.finished);
      this.batches.push(next.bytes);
      this.finished += next.runs;
    }
  }

  /** Asks whether the replications that are finished suffice, and reports them. */
  private async judge(): Promise<void> {
    if (this.judged.stop !== null || !this.finished) return;
    const { runs, precision } = this.task;
    if (precision) {
      const request = { runs, ...precision, batches: this.batches.length };
      this.judged = (await this.call<Judged>("judge", request, this.calling, { answers: this.batches })).result;
    } else if (this.finished >= runs) this.judged = { ...this.judged, stop: runs };
    const now = performance.now();
    if (this.judged.stop !== null || this.requested === Infinity || now - this.reported < MORE_MS) return;
    this.options.onProgress?.(Math.min(this.finished / this.judged.expected, 1));
    this.options.onMore?.(this.found(this.finished));
    this.reported = now;
  }

  private found(runs: number): Replications {
    return { first: this.first, runs, expected: this.judged.stop ?? this.judged.expected, batches: [...this.batches] };
  }
}
