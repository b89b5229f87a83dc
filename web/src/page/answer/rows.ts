/** Rows of a summary as text, with what readers need to know about their metrics. */

import type { MetricAbout, Replications, Summary } from "../../core/api";
import { ALL, ALL_UP } from "../../core/group";
import { type Scale, shown, type Shown } from "./numbers";

/** Summary of a scenario's replications, by metric, with the descriptions of the metrics. */
export class Results {
  constructor(
    readonly found: Replications,
    readonly metrics: ReadonlyMap<string, MetricAbout>,
  ) {}

  /** Returns the row of a metric for a group of users, if it has a value. */
  row(metric: string, group = ALL): Summary | undefined {
    return this.found.summary.find((one) => one.metric === metric && one.group === group && Number.isFinite(one.mean));
  }

  /** Returns the mean of a metric over all users; NaN without one. */
  mean(metric: string): number {
    return this.row(metric)?.mean ?? NaN;
  }

  /** Returns a metric of all users with its interval and confidence level; "nothing" without a value. */
  sure(metric: string): string {
    const row = this.row(metric);
    return row ? this.text(row).withLevel : "nothing";
  }

  text(row: Summary, scale?: Scale): Shown {
    return shown(row, { unit: row.unit, percent: this.about(row.metric).percent, scale });
  }

  about(metric: string): MetricAbout {
    return this.metrics.get(metric)!;
  }

  /** Groups of users that the summary has, without those of all users. */
  get groups(): string[] {
    return [...new Set(this.found.summary.map((one) => one.group))].filter((one) => one !== ALL && one !== ALL_UP);
  }

  /** Returns the values of a metric by replication; nothing if no group has it. */
  values(metric: string, group = ALL): Float64Array | undefined {
    return this.found.byRun.find((one) => one.metric === metric && one.group === group)?.values;
  }
}
