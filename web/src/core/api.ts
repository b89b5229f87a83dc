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
  /** Returns the schema and the metrics, which do not depend on a scenario. */
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
}

/** Options of every call. */
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

/** Scenario and replication to simulate. */
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

/** Precision of the mean application bit rate. */
export interface Precision {
  /** Half-width of its 95 % interval, relative to the mean. */
  relative: number;
  /** Maximum number of replications. */
  maxRuns: number;
}

/** Result of reading a scenario's text. */
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

/** Scenario that can be simulated. */
export interface Scenario {
  name: string;
  seed: number;
  /** Number of replications; with `precision` the minimum. */
  runs: number;
  /** Half-width to reach, relative to the mean; null without one. */
  precision: number | null;
  /** Maximum number of replications with `precision`. */
  maxRuns: number;
  /** Number of users in all groups together. */
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

/** Problem of a scenario's text. */
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

/** Schema and metrics, which do not depend on a scenario. */
export interface About {
  /** JSON Schema (draft 2020-12) of a scenario. */
  schema: JsonTable;
  /** Metrics, in the order in which summaries show them. */
  metrics: MetricAbout[];
}

/** Description of a metric, as in the Python package (`nodeb.results.metrics`). */
export interface MetricAbout {
  name: string;
  unit: string;
  meaning: string;
  /** Name for readers. */
  label: string;
  /** Direction that is better for the user; empty if that depends. */
  better: "more" | "less" | "";
  /** Smallest and largest possible mean; null without a limit. */
  low: number | null;
  high: number | null;
  /** Whether the metric is shown in per cent. */
  percent: boolean;
  /** Whether only complete transfers have a value. */
  completed: boolean;
}

/** Table of results, by column. */
export interface Table {
  name: string;
  rows: number;
  /** Columns by name, in their order. */
  columns: Map<string, Column>;
}

/** Column of a table. `numbers` and `texts` (columns.ts) convert it. */
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
  /** One row: times, size and losses of the transfer. */
  transfer: Table;
  /** Time for which each link and channel transmitted packets of the connection. */
  busy: Table;
  /** Spans of the critical path, without gaps: `begin_ns`, `end_ns`, `cause`, `layer`, `place`, `step`, `round`, ... */
  spans: Table;
}

/** Timelines of packets and blocks. */
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

/** Metrics of several replications of one scenario. */
export interface Replications {
  /** Number of the first replication. */
  first: number;
  /** Number of replications. */
  runs: number;
  /** Expected number of replications in total. */
  expected: number;
  /** Values of each metric by replication, by group of users; the group `all` is always there. */
  byRun: MetricByRun[];
  /** Mean of each metric over the replications with its interval, in the order of `About.metrics`. */
  summary: Summary[];
  /** Whether no transfer of the group `all` is endless, and some are finished. */
  areFinite: boolean;
}

export interface MetricByRun {
  group: string;
  metric: string;
  /** One value per replication; NaN where the metric has none. */
  values: Float64Array;
}

/** Row of a summary, as `nodeb run` prints it. */
export interface Summary {
  group: string;
  metric: string;
  unit: string;
  mean: number;
  /** Ends of the 95 % interval (Student t), cut at the metric's range; NaN for fewer than two values. */
  low: number;
  high: number;
  stdev: number;
  /** Number of replications with a value. */
  n: number;
}

/** Kinds of errors of calls. */
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
