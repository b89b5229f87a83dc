/** Signals for calls of which only the newest counts, such as those that follow a slider. */
export class Newest {
  private current = new AbortController();

  /** Signal that was given last, for further calls about the same thing. */
  get last(): AbortSignal {
    return this.current.signal;
  }

  /** Aborts the signal that was given last, and returns a new one. */
  signal(): AbortSignal {
    this.current.abort();
    this.current = new AbortController();
    return this.current.signal;
  }
}
