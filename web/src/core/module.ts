/** The simulator's WebAssembly module: an instance that carries out one request after another. */

import type { Request } from "./messages";

/** Functions of the module (`crates/web/src/lib.rs`). */
interface Exports {
  readonly memory: WebAssembly.Memory;
  nodeb_request(bytes: number): number;
  nodeb_call(): number;
  nodeb_answer(): number;
}

/** Error of a module that has stopped; its message is empty if memory was missing. */
export class Stopped extends Error {}

export class Instance {
  private constructor(
    private readonly exports: Exports,
    private readonly last: { panic: string },
  ) {}

  /** Creates an instance; `onProgress` receives the finished fraction of the current request. */
  static async of(module: WebAssembly.Module, onProgress: (fraction: number) => void): Promise<Instance> {
    const last = { panic: "" };
    let memory: WebAssembly.Memory | undefined;
    const panicked = (at: number, bytes: number) => {
      last.panic = new TextDecoder().decode(new Uint8Array(memory!.buffer, at, bytes));
    };
    const { exports } = await WebAssembly.instantiate(module, { host: { progress: onProgress, panicked } });
    const found = exports as unknown as Exports;
    memory = found.memory;
    return new Instance(found, last);
  }

  /** Carries out a request (in the form that `crates/web/src/frame.rs` describes) and returns a copy of the answer. */
  call({ head, answers }: Request): ArrayBuffer {
    const { memory, nodeb_request, nodeb_call, nodeb_answer } = this.exports;
    const text = new TextEncoder().encode(head);
    const begin = 8 + aligned(text.length);
    try {
      const at = nodeb_request(answers.reduce((bytes, one) => bytes + aligned(one.byteLength), begin)) >>> 0;
      const { buffer } = memory;
      new DataView(buffer).setUint32(at, text.length, true);
      new Uint8Array(buffer, at + 8, begin - 8).fill(32).set(text);
      let to = at + begin;
      for (const one of answers) {
        new Uint8Array(buffer, to, one.byteLength).set(new Uint8Array(one));
        to += aligned(one.byteLength);
      }
      const length = nodeb_call() >>> 0;
      const from = nodeb_answer() >>> 0;
      return memory.buffer.slice(from, from + length) as ArrayBuffer;
    } catch (error) {
      throw new Stopped(error instanceof RangeError ? "" : this.last.panic);
    }
  }
}

/** Returns the number of bytes up to the next multiple of 8. */
export function aligned(bytes: number): number {
  return Math.ceil(bytes / 8) * 8;
}
