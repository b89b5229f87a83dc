/** The simulator of a page with live figures: started once, for the first visible figure or checked answer. */

import type { Engine } from "../core/api";
import { open } from "../core/pool";

let started: Promise<Engine> | undefined;

export function simulator(): Promise<Engine> {
  return (started ??= open());
}
