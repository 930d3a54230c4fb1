/** Those who wait for something, and can all be told at once that it will not come. */
export class Waiters {
  readonly #leave = new Set<(error: Error) => void>();

  /** What comes of it, unless everyone is sent home before. */
  wait<T>(outcome: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#leave.add(reject);
      const done = () => this.#leave.delete(reject);
      outcome.then(
        (value) => {
          done();
          resolve(value);
        },
        (error: unknown) => {
          done();
          reject(error);
        },
      );
    });
  }

  sendHome(error: Error): void {
    for (const leave of this.#leave) leave(error);
    this.#leave.clear();
  }
}
