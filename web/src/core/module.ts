/** The simulator's WebAssembly module: an instance that carries out one request after another. */

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

  /** Carries out a request and returns a copy of the answer. */
  call(request: string): ArrayBuffer {
    const { memory, nodeb_request, nodeb_call, nodeb_answer } = this.exports;
    const bytes = new TextEncoder().encode(request);
    try {
      const at = nodeb_request(bytes.length) >>> 0;
      new Uint8Array(memory.buffer, at, bytes.length).set(bytes);
      const length = nodeb_call() >>> 0;
      const begin = nodeb_answer() >>> 0;
      return memory.buffer.slice(begin, begin + length) as ArrayBuffer;
    } catch (error) {
      throw new Stopped(error instanceof RangeError ? "" : this.last.panic);
    }
  }
}
