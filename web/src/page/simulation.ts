/** One of the page's scenarios: its text, the simulator's findings on it, and its results so far. */

import { computed, signal } from "@preact/signals";

import {
  type Calling,
  type Engine,
  EngineError,
  type Explanation,
  type Reading,
  type Replicated,
  type Replication,
  type Replications,
  type Scenario,
  type Sums,
} from "../core/api";
import { Newest } from "../core/newest";
import { adviceFor, type Announcement, announcementOf, groups, LONG_S } from "./cost";
import { Document } from "./scenario/document";

/** Names of the two scenarios of a comparison. */
export const NAMES = ["A", "B"] as const;
/** Size of a transfer, bytes, up to which it is explained without being asked. */
const MAX_EXPLAINED_BYTES = 2e6;
const MAX_EXPLAINED_RUNS = 20;
const INTERVALS = 600;
/** Time of quiet, ms, after which the replications of a changed scenario begin. */
const QUIET_MS = 120;

/** The first replication, with the text, the scenario and the phone that it belongs to. */
export interface First {
  readonly text: string;
  readonly user: number;
  readonly scenario: Scenario;
  readonly replication: Replication;
  readonly explanation: Explanation | undefined;
}

export class Side {
  readonly text = signal("");
  /** The newest text without syntax errors. */
  readonly document = signal<Document>(Document.read("") as Document);
  /** True if the newest text has no syntax errors. */
  readonly isToml = signal(true);
  readonly reading = signal<Reading | undefined>(undefined);
  readonly first = signal<First | undefined>(undefined);
  readonly replications = signal<Replications | undefined>(undefined);
  /** Times by cause of the looked-at phone's transfer, in several replications. */
  readonly paths = signal<readonly Sums[]>([]);
  readonly announcement = signal<Announcement | undefined>(undefined);
  readonly failure = signal("");
  /** Finished fraction of the current replication; nothing while none runs. */
  readonly progress = signal<number | undefined>(undefined);
  /** True from a change until all its results are there. */
  readonly isBusy = signal(false);
  /** Number of the phone that curves, critical path and lives are about. */
  readonly user = signal(0);
  readonly scenario = computed(() => this.reading.value?.scenario ?? undefined);
  /** What an answer is about; nothing without results. */
  readonly replicated = computed<Replicated | undefined>(() => {
    const [first, replications, paths] = [this.first.value, this.replications.value, this.paths.value];
    return first && replications && { text: first.text, replications, paths };
  });

  private readonly newest = new Newest();
  private frame = 0;

  constructor(private readonly engine: Engine) {}

  /** Changes the text, which stops calls about the previous one; the newest text of a frame is simulated. */
  edit(text: string): void {
    if (text === this.text.value) return;
    this.newest.signal();
    this.text.value = text;
    this.isBusy.value = true;
    const found = Document.read(text);
    if (found instanceof Document) this.document.value = found;
    this.isToml.value = found instanceof Document;
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => void this.simulate());
  }

  look(user: number): void {
    this.user.value = user;
    void this.simulate(true);
  }

  stop(): void {
    cancelAnimationFrame(this.frame);
    this.newest.signal();
    this.progress.value = undefined;
    this.isBusy.value = false;
  }

  /** Reads and simulates the text; long simulations only if `isAllowed`. */
  async simulate(isAllowed = false): Promise<void> {
    const calling: Calling = { signal: this.newest.signal() };
    const isNewest = () => !calling.signal!.aborted;
    this.isBusy.value = true;
    try {
      const text = this.text.value;
      const reading = await this.engine.read(text, calling);
      if (!isNewest()) return;
      this.reading.value = reading;
      this.failure.value = "";
      this.announcement.value = undefined;
      const { scenario } = reading;
      if (!scenario) return;
      const announcement = isAllowed ? undefined : announcementOf(scenario);
      if (announcement) return this.announce(announcement);
      if (this.user.value >= scenario.users) this.user.value = 0;
      this.paths.value = [];
      await this.runFirst(text, scenario, calling, isAllowed);
      await quiet(QUIET_MS);
      if (!isNewest()) return;
      await this.replicate(text, scenario, calling);
      if (isShort(scenario, this.user.value)) await this.explainMore(text, scenario, calling);
    } catch (error) {
      if (isNewest()) this.fail(error);
    } finally {
      if (isNewest()) {
        this.progress.value = undefined;
        this.isBusy.value = false;
      }
    }
  }

  private announce(announcement: Announcement): void {
    this.stop();
    this.announcement.value = announcement;
    this.first.value = undefined;
    this.replications.value = undefined;
    this.paths.value = [];
  }

  private fail(error: unknown): void {
    this.failure.value = error instanceof Error ? error.message : String(error);
  }

  private async runFirst(text: string, scenario: Scenario, calling: Calling, isAllowed: boolean): Promise<void> {
    const begun = performance.now();
    const onProgress = (fraction: number) => {
      this.progress.value = fraction;
      const elapsedS = (performance.now() - begun) / 1000;
      const seconds = elapsedS / Math.max(fraction, 1e-6);
      if (!isAllowed && elapsedS > 2 && seconds > 2 * LONG_S) this.announce({ seconds, advice: adviceFor(scenario) });
    };
    const isCell = scenario.radio === "hsdpa";
    const overTime = { intervalS: intervalOf(scenario), most: INTERVALS, channel: isCell && scenario.users <= 50 };
    const user = this.user.value;
    const [replication, explanation] = await Promise.all([
      this.engine.run({ text, overTime }, { ...calling, onProgress }),
      isShort(scenario, user) ? this.explain(text, user, 0, calling) : undefined,
    ]);
    if (calling.signal!.aborted) return;
    this.replications.value = { first: 0, runs: 1, expected: scenario.runs, batches: [replication.batch] };
    this.paths.value = explanation ? [explanation.sums] : [];
    this.first.value = { text, user, scenario, replication, explanation };
  }

  private async replicate(text: string, { runs, precision, maxRuns }: Scenario, calling: Calling): Promise<void> {
    const show = (found: Replications) => {
      if (!calling.signal!.aborted) this.replications.value = found;
    };
    const task = { text, runs, precision: precision === null ? undefined : { relative: precision, maxRuns } };
    show(await this.engine.replicate(task, { ...calling, onMore: show, onProgress: (fraction) => (this.progress.value = fraction) }));
  }

  private async explainMore(text: string, { runs }: Scenario, calling: Calling): Promise<void> {
    if (!this.paths.value.length) return;
    const paths = [...this.paths.value];
    for (let run = 1; run < Math.min(runs, MAX_EXPLAINED_RUNS); run++) {
      const found = await this.explain(text, this.user.value, run, calling);
      if (calling.signal!.aborted) return;
      if (found) paths.push(found.sums);
    }
    this.paths.value = paths;
  }

  /** Explains a phone's first transfer; undefined if it has none. */
  private async explain(text: string, user: number, run: number, calling: Calling): Promise<Explanation | undefined> {
    try {
      return await this.engine.explain({ text, user, run }, calling);
    } catch (error) {
      if (error instanceof EngineError && error.kind === "request") return undefined;
      throw error;
    }
  }

  /** Explains the chosen phone's transfer even if it is long. */
  async explainNow(): Promise<void> {
    const first = this.first.value;
    if (!first) return;
    const { text, user } = first;
    const signal = this.newest.last;
    try {
      const explanation = await this.engine.explain({ text, user }, { signal, onProgress: (fraction) => (this.progress.value = fraction) });
      if (signal.aborted) return;
      this.paths.value = [explanation.sums];
      this.first.value = { ...first, explanation };
    } catch (error) {
      if (!signal.aborted) this.fail(error);
    } finally {
      if (!signal.aborted) this.progress.value = undefined;
    }
  }
}

/** Returns the length of the first intervals of the curves, s: it doubles until the run fits. */
function intervalOf({ ttiS }: Scenario): number {
  return Math.max(ttiS ?? 0, 0.01);
}

/** Returns true if a phone's transfer is short enough to be explained without being asked. */
function isShort(scenario: Scenario, user: number): boolean {
  let first = 0;
  const group = groups(scenario).find(({ count }) => user < (first += count));
  return group?.traffic === "web" || (group?.traffic === "ftp" && group.bytes <= MAX_EXPLAINED_BYTES);
}

function quiet(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
