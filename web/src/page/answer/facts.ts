/** Key figures of a run, in the order of `nodeb run`. */

import { ALL } from "../../core/group";
import type { Shown } from "./numbers";
import type { Results } from "./rows";

export interface Fact {
  readonly metric: string;
  readonly label: string;
  readonly meaning: string;
  readonly text: Shown;
}

const MAX_FACTS = 9;
const ONE = ["received_bps", "rtt_mean_s", "queueing_delay_s", "utilization", "block_errors"];
const CELL = [
  ...["load_median_s", "received_bps_p50", "received_bps", "received_bps_p5", "download_p50_s", "download_p95_s"],
  ...["stalled_users", "rtt_mean_s", "queueing_delay_s", "jain_index"],
];
const TROUBLE = ["stalls", "recovery_s", "timeouts"];
const LABELS: Record<string, string> = {
  received_bps_p50: "half of the phones get more than",
  received_bps: "mean of the phones",
  received_bps_p5: "edge: 95 of 100 get more than",
  rtt_mean_s: "round-trip time, TCP's samples",
  queueing_delay_s: "of it queueing",
  block_errors: "block errors",
};

/** Returns at most nine key figures. Problems such as timeouts are among them if they occurred. */
export function factsOf(results: Results, users: number): Fact[] {
  const troubles = TROUBLE.filter((name) => results.mean(name) > 0);
  const unfinished = results.mean("complete") > 0 && results.mean("complete") < 1 ? ["complete"] : [];
  const names = [...unfinished, ...(users > 1 ? CELL : ONE), ...troubles];
  return names.flatMap((name) => factOf(results, name, users) ?? []).slice(0, MAX_FACTS);
}

function factOf(results: Results, metric: string, users: number): Fact | undefined {
  if (users === 2 && metric === "received_bps_p50") return undefined;
  const row = results.row(metric);
  if (!row) return undefined;
  const about = results.about(metric);
  const label = users === 1 && metric === "received_bps" ? about.label : (LABELS[metric] ?? about.label);
  return { metric, label, meaning: about.meaning, text: results.text(row) };
}

/** Returns all metrics of all groups, in the order of the summary. */
export function allFacts(results: Results): (Fact & { group: string })[] {
  return results.found.summary
    .filter((row) => Number.isFinite(row.mean))
    .map((row) => {
      const { label, meaning } = results.about(row.metric);
      return { metric: row.metric, group: row.group === ALL ? "" : row.group, label, meaning, text: results.text(row) };
    });
}
