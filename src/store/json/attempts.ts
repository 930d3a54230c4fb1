import type { Attempts } from '../../domain/records.ts';
import type { AttemptChange } from '../store.ts';

/** More sources than this are not remembered: those whose last change is oldest go first. */
const mostSources = 100_000;

/** What sources of attempts have tried, in memory. */
export class MemoryAttempts {
  readonly #sources = new Map<string, Attempts>();

  change<T>(source: string, change: AttemptChange<T>): T {
    const known = this.#sources.get(source);
    const { attempts, result } = change(known);
    if (attempts === undefined || attempts === known) return result;
    this.#sources.delete(source);
    this.#sources.set(source, attempts);
    if (this.#sources.size > mostSources) this.#sources.delete(this.#sources.keys().next().value as string);
    return result;
  }
}
