/** Messages between the page and its workers. */

import type { ErrorKind } from "./api";

/** Request to the module: JSON, and earlier answers that it refers to. */
export interface Request {
  readonly head: string;
  readonly answers: readonly ArrayBuffer[];
}

/** Message from the page to a worker: the compiled module, which comes first, or a request. */
export type ToWorker = { module: WebAssembly.Module } | { number: number; request: Request };

/** Message from a worker to the page. */
export type FromWorker =
  /** The worker is ready for requests. */
  | { ready: true }
  /** The finished fraction of a request. */
  | { number: number; progress: number }
  /** The answer to a request, in the form that `decode.ts` reads. */
  | { number: number; answer: ArrayBuffer }
  /** The module has stopped and takes no more requests. */
  | { number: number | null; kind: ErrorKind; message: string };
