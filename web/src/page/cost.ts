/** Estimates how long a replication takes in a page, before it runs. */

import type { JsonTable, Scenario } from "../core/api";
import { inBaseUnit, parseQuantity } from "./scenario/quantity";

/** Reason not to simulate a scenario at once. */
export interface Announcement {
  /** Expected time of one replication, s. */
  readonly seconds: number;
  /** Changes that shorten the time. */
  readonly advice: readonly string[];
}

/** Time of one replication, s, above which the page asks before it runs. */
export const LONG_S = 10;
/**
 * Time per packet, per TTI, and per user and TTI of the radios that schedule users in each TTI, s. With them, estimates
 * were 1.3 to 9 times the times measured in Chromium for 13 scenarios that take more than 10 ms: an estimate cannot know
 * how much of its file a phone loads.
 */
const PER_PACKET_S = 4e-6;
const PER_TTI_S = 1e-6;
const PER_USER_TTI_S: Record<string, number> = { hsdpa: 2e-8, lte: 1e-7 };
const PACKET_BYTES = 1400;
const RADIO_BPS = 20e6;
/** Rate of a phone whose traffic has no end. */
const USER_BPS = 1e5;

/** Returns an announcement if a replication is expected to take long. */
export function announcementOf(scenario: Scenario): Announcement | undefined {
  const bytes = groups(scenario).reduce((sum, group) => sum + group.count * group.bytes, 0);
  const most = (scenario.durationS * RADIO_BPS) / 8;
  const packets = Math.min(bytes, most) / PACKET_BYTES;
  const busyS = Math.min(scenario.durationS, bytes / (USER_BPS / 8) + 1);
  const perUserS = PER_USER_TTI_S[scenario.radio];
  const ttis = perUserS && scenario.ttiS ? busyS / scenario.ttiS : 0;
  const seconds = packets * PER_PACKET_S + ttis * (PER_TTI_S + scenario.users * (perUserS ?? 0));
  return seconds > LONG_S ? { seconds, advice: adviceFor(scenario) } : undefined;
}

/** Returns changes that shorten the time of a replication. */
export function adviceFor(scenario: Scenario): string[] {
  const found = [`a shorter \`duration\` (now ${scenario.durationS} s)`];
  if (scenario.users > 1) found.push(`fewer phones (now ${scenario.users}: \`count\`)`);
  if (groups(scenario).some((one) => one.bytes > 5e6)) found.push("smaller files (`traffic.ftp.size`)");
  return found;
}

/** Phones of a group: their number, their kind of traffic, and the bytes that one of them loads at most. */
interface Group {
  readonly count: number;
  readonly traffic: string;
  readonly bytes: number;
}

/** Returns the groups of phones. */
export function groups(scenario: Scenario): Group[] {
  const users = scenario.resolved["users"];
  return (Array.isArray(users) ? users : []).map((user) => {
    const group = user as JsonTable;
    const loads = [group["traffic"], group["upload"]].flatMap((of) => Object.entries((of ?? {}) as JsonTable).slice(0, 1));
    const bytes = loads.map(([traffic, parameters]) => bytesOf(traffic, parameters as JsonTable, scenario.durationS));
    return { count: Number(group["count"] ?? 1), traffic: loads[0]?.[0] ?? "", bytes: bytes.reduce((sum, one) => sum + one, 0) };
  });
}

/** Returns the bytes of a kind of traffic: those of its file, or as many as a phone gets in the whole run. */
function bytesOf(traffic: string, parameters: JsonTable, durationS: number): number {
  const size = traffic === "ftp" ? parseQuantity(String(parameters["size"] ?? "")) : undefined;
  return size ? inBaseUnit(size) : (durationS * USER_BPS) / 8;
}
