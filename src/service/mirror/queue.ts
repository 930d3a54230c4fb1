import type { MirrorPending } from '../../domain/records/rows.ts';

/**
 * Screens whose copies are to follow: each once, those that failed apart from the others, until they are given another chance. One that is queued while
 * it is under way is looked at once more afterwards.
 */
export class CopyQueue {
  readonly #fresh = new Map<string, MirrorPending>();
  readonly #failed = new Map<string, MirrorPending>();
  readonly #underWay = new Map<string, MirrorPending>();
  /** Those that have failed, and did not succeed since. */
  readonly #troubled = new Set<string>();

  add(pending: MirrorPending): void {
    if (!this.#failed.has(pending.id)) this.#fresh.set(pending.id, pending);
  }

  /** The next one that has not failed, and is not under way. */
  take(): MirrorPending | undefined {
    for (const [id, pending] of this.#fresh) {
      if (this.#underWay.has(id)) continue;
      this.#fresh.delete(id);
      this.#underWay.set(id, pending);
      return pending;
    }
    return undefined;
  }

  succeeded({ id }: MirrorPending): void {
    this.#underWay.delete(id);
    this.#troubled.delete(id);
  }

  /** Answers whether it is the first time since it last succeeded. */
  failed(pending: MirrorPending): boolean {
    const { id } = pending;
    this.#underWay.delete(id);
    this.#fresh.delete(id);
    this.#failed.set(id, pending);
    const isFirst = !this.#troubled.has(id);
    this.#troubled.add(id);
    return isFirst;
  }

  /** Gives those that failed another chance, after all others. */
  forgive(): void {
    for (const [id, pending] of this.#failed) this.#fresh.set(id, pending);
    this.#failed.clear();
  }

  get isTroubled(): boolean {
    return this.#troubled.size > 0;
  }

  get underWay(): number {
    return this.#underWay.size;
  }

  /** All that are not done. */
  get size(): number {
    const twice = [...this.#underWay.keys()].filter((id) => this.#fresh.has(id)).length;
    return this.#fresh.size + this.#failed.size + this.#underWay.size - twice;
  }

  /** When the oldest change was made that has not been copied. */
  get oldestMs(): number | undefined {
    let oldest: number | undefined;
    for (const map of [this.#fresh, this.#failed, this.#underWay]) {
      for (const { queuedAt } of map.values())
        if (oldest === undefined || queuedAt < oldest) oldest = queuedAt;
    }
    return oldest;
  }
}
