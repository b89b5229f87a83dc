/**
 * Interface between the page and the simulator.
 *
 * `open` (pool.ts) starts the simulator in workers and returns an `Engine`. Each call of it computes in a worker and
 * returns a promise; the page never waits. A call with a `signal` stops when the signal is aborted: its promise is then
 * rejected with an `EngineError` of kind `cancelled`. `Newest` makes such signals for calls of which only the newest
 * counts.
 */

/** Simulator in workers. */
export interface Engine {
  /** Returns the schema, which does not depend on a scenario. */
  about(): Promise<About>;

  /** Reads a scenario's TOML text and checks it. Rejects a text only if it has more than 4 MB; see `Reading.problems`. */
  read(text: string, options?: Calling): Promise<Reading>;

  /** Simulates one replication. */
  run(task: Run, options?: Calling): Promise<Replication>;

  /** Simulates a replication up to the end of a transfer, and returns the transfer's critical path. */
  explain(task: Explain, options?: Calling): Promise<Explanation>;

  /** Simulates a replication and returns the timelines of packets and blocks in a window of simulated time. */
  life(task: Live, options?: Calling): Promise<Life>;

  /** Simulates replications from `first` on, on all workers but one, which stays free for other calls. */
  replicate(task: Replicate, options?: Replicating): Promise<Replications>;

  /** Returns what the replications of one scenario say, or of two, of which the second is compared with the first. */
  answer(sides: readonly Replicated[], options?: Calling): Promise<Said>;
}

export interface Calling {
  /** Stops the call when it is aborted. */
  signal?: AbortSignal;
  /** Receives the finished fraction, from 0 to 1, at most every 50 ms. */
  onProgress?: (fraction: number) => void;
}

export interface Replicating extends Calling {
  /** Receives the replications that are finished so far, without gaps, at most every 100 ms. */
  onMore?: (found: Replications) => void;
}

export interface Task {
  /** Scenario in TOML. */
  text: string;
  /** Seed of all random numbers; default: that of the scenario. */
  seed?: number;
  /** Number of the replication, from 0; default: 0. */
  run?: number;
}

export interface Run extends Task {
  /** Records values over time at equal distances, which takes little memory. */
  overTime?: OverTime;
}

export interface OverTime {
  /** Initial length of the intervals, s. */
  intervalS: number;
  /** Maximum number of intervals; if a run needs more, the interval doubles. Default: 1000. */
  most?: number;
  /** Whether to record the channel's quality too (`hsdpa` only), which about doubles the simulation's time. */
  channel?: boolean;
}

export interface Explain extends Task {
  /** Number of the user in the scenario, from 0; default: 0. */
  user?: number;
  /** Number of the transfer among the user's transfers, from 0; default: 0. */
  transfer?: number;
}

export interface Live extends Task {
  /** Start of the window, s; default: 0. */
  fromS?: number;
  /** End of the window, s; default: the end of the run. */
  toS?: number;
  /** Number of the only user; default: all users. */
  user?: number;
  /** Maximum number of events; more are an error that suggests a smaller window. Default: 400,000. */
  most?: number;
}

export interface Replicate {
  /** Scenario in TOML. */
  text: string;
  /** Seed of all random numbers; default: that of the scenario. */
  seed?: number;
  /** Number of the first replication; default: 0. */
  first?: number;
  /** Number of replications; with `precision` the minimum. */
  runs: number;
  /** Replicates until a precision is reached; default: `runs` replications. */
  precision?: Precision | undefined;
}

export interface Precision {
  /** Half-width of its 95 % interval, relative to the mean. */
  relative: number;
  /** Maximum number of replications. */
  maxRuns: number;
}

export interface Reading {
  /** The scenario; null if there are problems. */
  scenario: Scenario | null;
  /** Problems that prevent a simulation; empty if there are none. */
  problems: Problem[];
  /** Doubts about values that are allowed. */
  warnings: Problem[];
  /** Keys of the text that have no effect and are set to their defaults. */
  superfluous: Problem[];
  /** The text's own keys as JSON, in the order of the text; null if the text is not TOML. */
  document: JsonTable | null;
}

export interface Scenario {
  name: string;
  seed: number;
  /** Number of replications; with `precision` the minimum. */
  runs: number;
  /** Half-width to reach, relative to the mean; null without one. */
  precision: number | null;
  /** Maximum number of replications with `precision`. */
  maxRuns: number;
  users: number;
  /** Simulated time at which a run ends at the latest, s. */
  durationS: number;
  /** Length of a TTI of the radio, s; null without TTIs. */
  ttiS: number | null;
  /** Kind of radio, such as `hsdpa`. */
  radio: string;
  /** The scenario with the defaults of all keys filled in, in the form of the schema. */
  resolved: JsonTable;
  /** Scenario with all defaults as TOML. */
  toml: string;
}

export interface Problem {
  /** Line of the text, from 1; null if the problem has none. */
  line: number | null;
  /** Dotted path of the key, such as `users.0.traffic`; empty if the problem has none. */
  key: string;
  /** Description of the problem. */
  problem: string;
  /** Expected value; null if `problem` states it. */
  expected: string | null;
}

export type Json = null | boolean | number | string | Json[] | JsonTable;
export interface JsonTable {
  [key: string]: Json;
}

/** What does not depend on a scenario. */
export interface About {
  /** JSON Schema (draft 2020-12) of a scenario. */
  schema: JsonTable;
}

export interface Table {
  name: string;
  rows: number;
  columns: Map<string, Column>;
}

export type Column =
  | { kind: "u64"; values: BigUint64Array }
  | { kind: "u32"; values: Uint32Array }
  | { kind: "f64"; values: Float64Array }
  | { kind: "f32"; values: Float32Array }
  | { kind: "bool"; values: Uint8Array }
  /** Texts, of which each distinct one is stored once: `values` are indices of `names`. */
  | { kind: "text"; values: Uint32Array; names: string[] };

/** Tables by name, in the order of the simulator. */
export type Tables = Map<string, Table>;

export interface Replication {
  /** The simulator's answer, which can be a batch of `Replications`. */
  batch: ArrayBuffer;
  /** Tables as the Python package has them: `flows`, `bearers`, `links`, those of the radio, time series. */
  tables: Tables;
  /** Simulated time at the end, s. */
  endS: number;
  /** Number of events that the engine handled. */
  events: number;
  /**
   * Values over time if `overTime` asks for them, null otherwise. Rows are sorted by user, then time. Columns: `user`
   * and `t_s`, the begin of the interval; `delivered_bps`, rate of packets that reached the phone; `cwnd_packets` and
   * `ssthresh_packets` at the end of the interval; `rtt_s`, mean of the round trips measured in the interval (NaN if
   * none); `queue_bytes` and `queue_packets`, the most that waited at the Node B; `radio_units`, PDUs (or octets) sent
   * in TTIs, and `blocks_failed`; `available_bps` and `cqi`, NaN unless `channel` is set.
   */
  overTime: { intervalS: number; table: Table } | null;
}

/** Critical path of a transfer. */
export interface Explanation {
  /** Time of each cause on the path, ns. */
  sums: Sums;
  /** One row: times, size and losses of the transfer. */
  transfer: Table;
  /** Time for which each link and channel transmitted packets of the connection. */
  busy: Table;
  /** Spans of the critical path, without gaps: `begin_ns`, `end_ns`, `cause`, `layer`, `place`, `step`, `round`, ... */
  spans: Table;
}

export interface Life {
  /** Tables `events`, `packets`, `hops`, `blocks`; columns named in `names` hold codes. */
  tables: Tables;
  /** Texts of the codes in a column, by the column's name; a code is an index. */
  names: Map<string, string[]>;
  /** Boxes of the network from the server to the application. */
  lanes: string[];
  /** Places that packets pass, and the lanes at which packets enter and leave them. */
  places: { name: string; from: number; to: number }[];
  /** Lane of the Node B. */
  nodeB: number;
  /** Time up to which packets were followed, s. */
  untilS: number;
}

export interface Replications {
  first: number;
  runs: number;
  /** Expected number in total. */
  expected: number;
  /** Answers of the simulator that hold their tables. */
  batches: readonly ArrayBuffer[];
}

/** Scenario with its replications, about which an answer is asked. */
export interface Replicated {
  text: string;
  seed?: number;
  replications: Replications;
  /** Time of each cause on the critical path of a transfer, ns, in several replications; empty if not explained. */
  paths: readonly Sums[];
}

export type Sums = Readonly<Record<string, number>>;

/** What replications say (`crates/answers`). */
export interface Said {
  sides: SideSaid[];
  /** Comparison of the second scenario with the first; null for one scenario. */
  compared: (Answer & { verdicts: string[] }) | null;
}

export interface SideSaid extends Answer {
  /** Where the time of the explained transfer went; null if none is explained. */
  causes: Bars | null;
  /** Mean of each metric over the replications, by group of users, as `nodeb run` writes it to `summary.csv`. */
  summary: Summary[];
}

/** Answer of a command: a sentence, a picture, key figures, remarks. */
export interface Answer {
  headline: string;
  lead: string;
  picture: Bars | Rows | null;
  facts: { name: string; shown: Shown; meaning?: string }[];
  table: Rows | null;
  marks: { sign: string; text: string; folded: boolean }[];
  notes: string[];
  everything: Rows[];
}

export interface Bars {
  title: string;
  bars: Bar[];
}

export interface Bar {
  name: string;
  value: string;
  /** Length, in one unit for all bars of a picture. */
  size: number;
  /** CSS class of the colour, such as `k-handshake`; empty for the usual one. */
  paint: string;
  /** Text beside the value, such as its share of the total. */
  note: string;
  interval: string;
  /** Ends of the confidence interval, in the unit of `size`. */
  ends: [number, number] | null;
}

/** Table of texts and of numbers with units. */
export interface Rows {
  title: string;
  head: string[];
  rows: (string | Shown)[][];
}

/** A value as text, with its interval if it has one. */
export interface Shown {
  /** Value with its unit and its mark. */
  value: string;
  interval: string;
  /** Value and interval for one cell of a table. */
  in_one_cell: string;
}

export interface Summary {
  group: string;
  metric: string;
  label: string;
  meaning: string;
  unit: string;
  /** NaN (null) without a value. */
  mean: number | null;
  low: number | null;
  high: number | null;
  stdev: number | null;
  n: number;
  shown: Shown;
}

export type ErrorKind =
  /** The text is no scenario that can be simulated. */
  | "scenario"
  /** An argument is out of range, no such user, transfer or event is in the window, or there are too many events. */
  | "request"
  /** The call was stopped. */
  | "cancelled"
  /** The simulation needs more memory than the page has. */
  | "memory"
  /** The browser cannot run the simulator. */
  | "browser"
  /** A mistake of nodeb. */
  | "internal";

/** Error of a call; its message is shown to readers. */
export class EngineError extends Error {
  override readonly name = "EngineError";

  constructor(
    readonly kind: ErrorKind,
    message: string,
  ) {
    super(message);
  }
}
