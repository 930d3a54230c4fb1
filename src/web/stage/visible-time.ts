/** Measures how long the page is visible, by the monotonic clock. */
export class VisibleTime {
  #sumMs = 0;
  #sinceMs: number | undefined;
  readonly #update = () => {
    const now = performance.now();
    if (this.#sinceMs !== undefined) this.#sumMs += now - this.#sinceMs;
    this.#sinceMs = document.hidden ? undefined : now;
  };

  start(): void {
    document.addEventListener('visibilitychange', this.#update);
    this.#update();
  }

  /** Ends the measurement. Returns the visible time in milliseconds. */
  stop(): number {
    this.#update();
    document.removeEventListener('visibilitychange', this.#update);
    return this.#sumMs;
  }
}
