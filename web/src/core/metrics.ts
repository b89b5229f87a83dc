/** Metrics by replication and their summary, as in `nodeb.results`. */

import type { MetricAbout, MetricByRun, Replications, Summary, Tables } from "./api";
import { ALL, Group, isMixed, namesOf, phonesOf } from "./group";
import about from "./metrics.json";
import { append, type RowsByTable } from "./rows";
import { meanInterval, within } from "./stats";

/** Description of a metric in the package. */
interface Described extends Omit<MetricAbout, "low" | "high"> {
  low: number;
  high: number | null;
  /** Whether summaries list the metric even if it has no value. */
  canFail: boolean;
  /** Table and column whose users' mean the metric is; null for another metric. */
  column: [table: string, name: string] | null;
}

/** Values of a metric, one per run; undefined if the metric does not apply. */
type Values = number[] | undefined;
type Metric = (group: Group) => Values;

/** All metrics, in the order of a summary (`tools/web_metrics.py` writes the file). */
const METRICS = about as Described[];

/** Minimum number of users for a fifth percentile over users. */
const EDGE_USERS = 20;

/** Descriptions of all metrics, in the order of a summary. */
export const METRICS_ABOUT: MetricAbout[] = METRICS.map(({ canFail: _, column: __, ...one }) => one);

function share(part: readonly number[], whole: readonly number[]): number[] {
  return part.map((one, at) => (whole[at]! > 0 ? one / whole[at]! : NaN));
}

/** Returns a quantile by linear interpolation, as numpy's default. */
function quantile(values: readonly number[], probability: number): number {
  const sorted = Float64Array.from(values).sort();
  const place = probability * (sorted.length - 1);
  const below = Math.floor(place);
  const above = Math.min(below + 1, sorted.length - 1);
  return sorted[below]! + (sorted[above]! - sorted[below]!) * (place - below);
}

/** Returns the smallest value that at least the given share of values does not exceed. */
function inverted(values: readonly number[], probability: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.max(Math.ceil(probability * sorted.length) - 1, 0)]!;
}

function ofUsers(name: string, of: (values: number[]) => number, minimum = 2): Metric {
  return (group) => {
    const values = group.column("flows", name);
    return values.length < minimum * group.runs.length ? undefined : group.each("flows", values, of);
  };
}

function positive(values: readonly number[]): number {
  return values.filter((one) => one > 0).length / values.length;
}

/** Users who did not finish count as slowest; a quantile that falls on one of them has no value. */
function downloads(probability: number): Metric {
  const of = ofUsers("download_s", (values) => {
    const found = inverted(values.map((one) => (Number.isFinite(one) ? one : Infinity)), probability);
    return Number.isFinite(found) ? found : NaN;
  });
  return (group) => {
    if (group.column("flows", "endless").some((one) => one > 0)) return undefined;
    const found = of(group);
    return found?.some(Number.isFinite) ? found : undefined;
  };
}

/** Returns sums of the channel that all users share; undefined without one, or for a group of some users. */
function cell(group: Group, ...names: string[]): number[][] | undefined {
  const bearers = group.tables.get("bearers")!;
  const isAlone = bearers.length === new Set(bearers.numbers("run")).size;
  const areMany = phonesOf(group.tables.get("flows")!).size > 1;
  return group.name === ALL && isAlone && areMany ? group.bearers(...names) : undefined;
}

function rate(group: Group): Values {
  const found = cell(group, "bytes_delivered", "end_s");
  return found && share(found[0]!.map((one) => 8 * one), found[1]!);
}

function busy(group: Group): Values {
  const found = cell(group, "active_s", "end_s", "bytes_delivered");
  if (!found) return undefined;
  const [active, ended, delivered] = found as [number[], number[], number[]];
  const shares = share(active, ended).map((one, at) => (active[at] === 0 && delivered[at]! > 0 ? NaN : one));
  return shares.some(Number.isFinite) ? shares : undefined;
}

function utilization(group: Group): Values {
  if (rate(new Group(group.tables))) return undefined;
  return group.mean("flows", group.column("flows", "utilization"));
}

function loads(name: string): Metric {
  return (group) => {
    const found = group.column("flows", "loads");
    if (!found.some((one) => one > 1) || areMixed(group, found)) return undefined;
    return group.mean("flows", group.column("flows", name));
  };
}

/** Returns true for all users if some groups load one file per user and others load more. */
function areMixed(group: Group, found: readonly number[]): boolean {
  if (group.name !== ALL) return false;
  const counts = new Map<string, number>();
  const names = group.tables.get("flows")!.texts("group");
  group.rows("flows").forEach((row, at) => counts.set(names[row]!, Math.max(counts.get(names[row]!) ?? 0, found[at]!)));
  const all = [...counts.values()];
  return all.some((one) => one > 1) && all.some((one) => one === 1);
}

function complete(group: Group): Values {
  const endless = group.column("flows", "endless");
  if (endless.every((one) => one > 0)) return undefined;
  const values = group.column("flows", "complete").map((one, at) => (endless[at]! > 0 ? NaN : one));
  return group.mean("flows", values);
}

function queueing(group: Group): Values {
  const shortest = group.column("flows", "rtt_min_s");
  return group.mean("flows", group.column("flows", "rtt_mean_s").map((one, at) => one - shortest[at]!));
}

function blockErrors(group: Group): Values {
  const sums = group.bearers("blocks", "blocks_failed");
  return sums?.[0]!.some((one) => one !== 0) ? share(sums[1]!, sums[0]!) : undefined;
}

/** Jain's index (DEC TR-301, 1984). */
function fairness(group: Group): Values {
  const found = group.each("flows", group.column("flows", "received_bps"), (rates) => {
    if (rates.length < 2 || !rates.every(Number.isFinite)) return NaN;
    const top = Math.max(...rates);
    if (!(top > 0)) return 1;
    const scaled = rates.map((one) => one / top);
    const total = scaled.reduce((sum, one) => sum + one, 0);
    return total ** 2 / (scaled.length * scaled.reduce((sum, one) => sum + one * one, 0));
  });
  return found.some(Number.isFinite) ? found : undefined;
}

const HELD = ["setting_up_s", "dch_s", "releasing_s"];
const STATES = [...HELD, "fach_s", "pch_s", "paging_s"];

function total(group: Group, names: readonly string[]): number[] {
  return names.map((name) => group.column("channels", name)).reduce((sums, more) => sums.map((one, at) => one + more[at]!));
}

/** Completed transfers of each user; of each phone, for all users with uploads. */
function transfersOf(group: Group): number[] {
  const flows = group.tables.get("flows")!;
  if (group.name !== ALL || !isMixed(flows)) return group.column("flows", "transfers");
  const runs = flows.numbers("run");
  const transfers = flows.numbers("transfers");
  const sums = new Map<string, number>();
  flows.numbers("phone").forEach((phone, row) => {
    const key = `${runs[row]} ${phone}`;
    sums.set(key, (sums.get(key) ?? 0) + transfers[row]!);
  });
  const users = group.column("channels", "user");
  return group.column("channels", "run").map((run, at) => sums.get(`${run} ${users[at]}`) ?? 0);
}

/** Users' mean of a quantity of the table `channels`, per second or per completed transfer. */
function switching(names: readonly string[], per: "s" | "transfers"): Metric {
  return (group) => {
    if (!group.has("channels")) return undefined;
    const below = per === "transfers" ? transfersOf(group) : total(group, STATES);
    // Uploads of phones that also download have no channels of their own.
    if (below.length !== group.rows("channels").length) return undefined;
    return group.mean("channels", share(total(group, names), below));
  };
}

const SWITCHES = ["set_ups", "releases"];

/** Metrics that are not the users' mean of a column. */
const SPECIAL: Readonly<Record<string, Metric>> = {
  received_bps_p5: ofUsers("received_bps", (values) => quantile(values, 0.05), EDGE_USERS),
  received_bps_p50: ofUsers("received_bps", (values) => quantile(values, 0.5)),
  cell_bps: rate,
  cell_busy: busy,
  served: ofUsers("delivered_bytes", positive),
  utilization,
  download_p50_s: downloads(0.5),
  download_p95_s: downloads(0.95),
  load_median_s: loads("load_median_s"),
  load_p95_s: loads("load_p95_s"),
  stalled_users: ofUsers("stalls", positive),
  queueing_delay_s: queueing,
  complete,
  block_errors: blockErrors,
  switches_per_s: switching(SWITCHES, "s"),
  switches_per_transfer: switching(SWITCHES, "transfers"),
  dch_share: switching(HELD, "s"),
  power_w: switching(["energy_j"], "s"),
  jain_index: fairness,
};

function valuesOf({ name, column }: Described, group: Group): Values {
  const special = SPECIAL[name];
  if (special) return special(group);
  if (!column) throw new Error(`the metric ${name} has no formula`);
  return group.has(...column) ? group.mean(column[0], group.column(...column)) : undefined;
}

/** Returns the metrics of replications `first` to `first + runs - 1`, whose tables have the given rows. */
export function replicationsOf(tables: RowsByTable, first: number, runs: number, durationS: number): Omit<Replications, "expected"> {
  const groups = namesOf(tables.get("flows")!).map((name) => new Group(tables, name));
  const byRun: MetricByRun[] = [];
  const summary: Summary[] = [];
  const found = groups.map((group) => METRICS.map((metric) => valuesOf(metric, group)));
  const isDefined = METRICS.map((_, at) => found.some((values) => values[at]));
  groups.forEach((group, which) => {
    METRICS.forEach((metric, at) => {
      if (!isDefined[at]) return;
      const values = spread(found[which]![at], group, first, runs);
      byRun.push({ group: group.name, metric: metric.name, values });
      const row = summaryOf(metric, group.name, values, durationS);
      if (row) summary.push(row);
    });
  });
  const all = groups.find(({ name }) => name === ALL) ?? groups[0]!;
  const isFinished = all.column("flows", "download_s").some(Number.isFinite);
  const areFinite = isFinished && all.column("flows", "endless").every((one) => one === 0);
  return { first, runs, byRun, summary, areFinite };
}

/** Returns the metrics of replication 0, which has the given tables. */
export function firstOf(tables: Tables, durationS: number): Omit<Replications, "expected"> {
  const rows: RowsByTable = new Map();
  append(rows, tables);
  return replicationsOf(rows, 0, 1, durationS);
}

/** Returns values by replication, NaN for one in which the group has no users or the metric has no value. */
function spread(values: Values, group: Group, first: number, runs: number): Float64Array {
  const all = new Float64Array(runs).fill(NaN);
  values?.forEach((value, place) => (all[group.runs[place]! - first] = value));
  return all;
}

function summaryOf(metric: Described, group: string, values: Float64Array, durationS: number): Summary | undefined {
  const known = [...values].filter(Number.isFinite);
  const { name, unit } = metric;
  if (!known.length) {
    return metric.canFail ? { group, metric: name, unit, mean: NaN, low: NaN, high: NaN, stdev: NaN, n: 0 } : undefined;
  }
  const limit = Math.min(metric.high ?? Infinity, unit === "s" ? durationS : Infinity);
  return { group, metric: name, unit, ...within(meanInterval(known), metric.low, limit) };
}
