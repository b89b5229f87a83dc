/** Estimates how long a replication takes in a page, before it runs. */

import type { JsonTable, Scenario } from "../core/api";
import { inBaseUnit, parseQuantity } from "./scenario/quantity";

/** Reason not to simulate a scenario at once. */
export interface Announcement {
  /** Expected time of one replication, s. */
  readonly seconds: number;
  /** What to change for a shorter time. */
  readonly advice: readonly string[];
}

/** Time of one replication, s, above which the page asks before it runs. */
export const LONG_S = 10;
/** Time per packet and per user and TTI, s, measured in Chromium. */
const PER_PACKET_S = 4e-6;
const PER_USER_TTI_S = 1e-6;
const PACKET_BYTES = 1400;
const RADIO_BPS = 20e6;
/** Radios that schedule users in each TTI. */
const RADIOS_BY_TTI = ["hsdpa", "lte"];

/** Returns an announcement if a replication is expected to take long. */
export function announcementOf(scenario: Scenario): Announcement | undefined {
  const bytes = groups(scenario).reduce((sum, group) => sum + group.count * group.bytes, 0);
  const most = (scenario.durationS * RADIO_BPS) / 8;
  const packets = Math.min(bytes, most) / PACKET_BYTES;
  const busyS = Math.min(scenario.durationS, bytes / (1e5 / 8) + 1);
  const ttis = RADIOS_BY_TTI.includes(scenario.radio) && scenario.ttiS ? (busyS / scenario.ttiS) * scenario.users : 0;
  const seconds = packets * PER_PACKET_S + ttis * PER_USER_TTI_S;
  return seconds > LONG_S ? { seconds, advice: adviceFor(scenario) } : undefined;
}

/** Returns what makes a scenario take less time. */
export function adviceFor(scenario: Scenario): string[] {
  const found = [`a shorter \`duration\` (now ${scenario.durationS} s)`];
  if (scenario.users > 1) found.push(`fewer phones (now ${scenario.users}: \`count\`)`);
  if (groups(scenario).some((one) => one.bytes > 5e6)) found.push("smaller files (`traffic.ftp.size`)");
  return found;
}

/** Returns the number of phones of each group, and the bytes that one of them loads at most. */
function groups(scenario: Scenario): { count: number; bytes: number }[] {
  const users = scenario.resolved["users"];
  return (Array.isArray(users) ? users : []).map((user) => {
    const group = user as JsonTable;
    const ftp = (group["traffic"] as JsonTable | null)?.["ftp"] as JsonTable | undefined;
    const size = parseQuantity(String(ftp?.["size"] ?? ""));
    const endless = (scenario.durationS * 1e5) / 8;
    return { count: Number(group["count"] ?? 1), bytes: size ? inBaseUnit(size) : endless };
  });
}
