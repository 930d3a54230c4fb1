/** Pending promises that can all be rejected at once. */
export class Waiters {
  readonly #rejects = new Set<(error: Error) => void>();

  /** Settles like `promise`, unless `rejectAll` comes first. */
  wait<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#rejects.add(reject);
      promise.then(resolve, reject).finally(() => this.#rejects.delete(reject));
    });
  }

  rejectAll(error: Error): void {
    for (const reject of this.#rejects) reject(error);
    this.#rejects.clear();
  }
}
