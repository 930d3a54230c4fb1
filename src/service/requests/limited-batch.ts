/** Batch of entries for the next write. Limits their number, in total and per source. */
export class LimitedBatch<T> {
  readonly #limits: { total: number; perSource: number };
  #entries: T[] = [];
  /** Number of entries added since the last renewal of the limits. */
  #added = 0;
  #addedBySource = new Map<string, number>();

  constructor(limits: { total: number; perSource: number }) {
    this.#limits = limits;
  }

  /** Adds an entry. Returns `false` if a limit is reached. */
  add(source: string, entry: T): boolean {
    const ofSource = this.#addedBySource.get(source) ?? 0;
    if (this.#added >= this.#limits.total || ofSource >= this.#limits.perSource) return false;
    this.#added++;
    this.#addedBySource.set(source, ofSource + 1);
    this.#entries.push(entry);
    return true;
  }

  /**
   * Removes and returns all entries. Removed entries count towards the limits until a call with
   * `renewsLimits`.
   */
  take(renewsLimits: boolean): T[] {
    const taken = this.#entries;
    this.#entries = [];
    if (renewsLimits) {
      this.#added = 0;
      this.#addedBySource = new Map();
    }
    return taken;
  }
}
