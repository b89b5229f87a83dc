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
  Replicating,
  Replication,
  Replications,
  Run,
} from "./api";
import { Answer, type TableHead } from "./decode";
import { METRICS_ABOUT, replicationsOf } from "./metrics";
import { append, type RowsByTable, TABLES, truncated } from "./rows";
import { Slots } from "./slots";
import { Count, type Rule, Sequential } from "./stopping";

/** Maximum number of workers: each has a memory of its own. */
const MAX_WORKERS = 8;
/** Time that the replications of one request should take, ms. */
const BATCH_MS = 80;
/** Time between two reports of replications that are finished so far, ms. */
const MORE_MS = 100;
/** Least ratio of the time between two such reports to the time that a report takes, as the page draws meanwhile. */
const REST = 10;

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
    this.described ??= this.call<Omit<About, "metrics">>("about", {}).then(({ result }) => ({ ...result, metrics: METRICS_ABOUT }));
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
      tables: answer.tables(tables),
      endS,
      events,
      overTime: overTime && { intervalS: overTime.intervalS, table: answer.table(overTime.table) },
    };
  }

  async explain(task: Explain, options?: Calling): Promise<Explanation> {
    const answer = await this.call<{ transfer: TableHead; busy: TableHead; spans: TableHead }>("explain", task, options);
    const { transfer, busy, spans } = answer.result;
    return { transfer: answer.table(transfer), busy: answer.table(busy), spans: answer.table(spans) };
  }

  async life(task: Live, options?: Calling): Promise<Life> {
    type Head = Omit<Life, "tables" | "names"> & { tables: TableHead[]; names: Record<string, string[]> };
    const answer = await this.call<Head>("life", task, options);
    const { tables, names, ...rest } = answer.result;
    return { ...rest, tables: answer.tables(tables), names: new Map(Object.entries(names)) };
  }

  async replicate(task: Replicate, options: Replicating = {}): Promise<Replications> {
    return new Experiment(task, options, (request, calling) => this.call("replicate", request, calling, true), this.slots.background).run();
  }

  private async call<T>(call: string, task: object, options?: Calling, isBackground = false): Promise<Answer<T>> {
    const request = JSON.stringify({ call, ...task });
    const bytes = await new Promise<ArrayBuffer>((resolve, reject) =>
      this.slots.add({ request, isBackground, signal: options?.signal, onProgress: options?.onProgress, resolve, reject }),
    );
    return Answer.of<T>(bytes);
  }
}

/** Answer to a request for several replications. */
type Batch = Answer<{ durationS: number; tables: TableHead[] }>;

/** Replications of one scenario, simulated in batches on several workers. */
class Experiment {
  private readonly first: number;
  private readonly rule: Rule;
  private readonly batches = new Map<number, { batch: Batch; runs: number }>();
  private readonly rows: RowsByTable = new Map();
  private durationS = Infinity;
  /** Number of replications that were requested, and of those that are finished without gaps. */
  private requested = 0;
  private finished = 0;
  private perRunMs = BATCH_MS;
  private reported = performance.now();
  private pauseMs = MORE_MS;

  constructor(
    private readonly task: Replicate,
    private readonly options: Replicating,
    private readonly call: (request: object, calling: Calling) => Promise<Batch>,
    private readonly workers: number,
  ) {
    this.first = task.first ?? 0;
    this.rule = task.precision ? new Sequential(task.runs, task.precision) : new Count(task.runs);
  }

  async run(): Promise<Replications> {
    try {
      while (this.rule.stop === undefined) await Promise.all(Array.from({ length: this.workers }, () => this.work()));
    } catch (error) {
      this.requested = Infinity; // The other workers request no more.
      throw error;
    }
    return this.found();
  }

  /** Simulates batches until all replications that may be requested by now were requested. */
  private async work(): Promise<void> {
    const { text, seed } = this.task;
    const { signal } = this.options;
    while (this.rule.stop === undefined && this.requested < this.rule.ahead) {
      const begin = this.requested;
      const count = Math.max(1, Math.min(Math.floor(BATCH_MS / this.perRunMs), Math.ceil((this.rule.ahead - begin) / this.workers)));
      this.requested += count;
      const started = performance.now();
      const request = { text, seed, run: this.first + begin, runs: count, tables: TABLES };
      const batch = await this.call(request, signal ? { signal } : {});
      this.perRunMs = (performance.now() - started) / count;
      this.take(begin, count, batch);
    }
  }

  private take(begin: number, runs: number, batch: Batch): void {
    this.batches.set(begin, { batch, runs });
    for (let next = this.batches.get(this.finished); next; next = this.batches.get(this.finished)) {
      this.batches.delete(this.finished);
      append(this.rows, next.batch.tables(next.batch.result.tables));
      this.durationS = next.batch.result.durationS;
      this.finished += next.runs;
    }
    if (!this.finished) return;
    this.rule.take(this.rows, this.finished);
    const now = performance.now();
    if (this.rule.stop !== undefined || this.requested === Infinity || now - this.reported < this.pauseMs) return;
    this.options.onProgress?.(Math.min(this.finished / this.rule.expected, 1));
    this.options.onMore?.(this.found());
    this.reported = performance.now();
    this.pauseMs = Math.max(MORE_MS, REST * (this.reported - now));
  }

  private found(): Replications {
    const { stop = this.finished, expected } = this.rule;
    const rows = stop < this.finished ? truncated(this.rows, this.first + stop) : this.rows;
    return { ...replicationsOf(rows, this.first, stop, this.durationS), expected };
  }
}
