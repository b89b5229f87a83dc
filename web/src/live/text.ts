/** Changes of a scenario's text by key. */

import { reread } from "../page/scenario/document";

/** Values by dotted path of the key, as in a lab's file. */
export type Changes = Readonly<Record<string, unknown>>;

/** Returns a scenario's text with changed keys. */
export function changed(text: string, changes: Changes): string {
  return Object.entries(changes).reduce((now, [key, value]) => {
    const path = key.split(".").map((part) => (/^\d+$/.test(part) ? Number(part) : part));
    return reread(now).set(path, tomlOf(value));
  }, text);
}

/** Returns a value as TOML; tables become inline tables. */
function tomlOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(tomlOf).join(", ")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const pairs = Object.entries(value).map(([key, one]) => `${key} = ${tomlOf(one)}`);
  return `{ ${pairs.join(", ")} }`;
}
