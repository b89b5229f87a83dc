/** Changes of a scenario's text by key. */

import { pathOf, reread, tomlOf } from "../page/scenario/document";

/** Values by dotted path of the key, as in a lab's file. */
export type Changes = Readonly<Record<string, unknown>>;

/** Returns a scenario's text with changed keys. */
export function changed(text: string, changes: Changes): string {
  return Object.entries(changes).reduce((now, [key, value]) => reread(now).set(pathOf(key), tomlOf(value)), text);
}
