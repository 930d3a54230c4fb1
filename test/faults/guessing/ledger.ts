import type { Tenant } from './schedule.ts';

const minute = 60_000;
const lifetime = 15 * minute;
const tenants: readonly Tenant[] = ['victim', 'own'];

/** Counts what happened, and says when more of it happened within a time than may. */
class Window {
  readonly #times: number[] = [];
  readonly #lengthMs: number;
  readonly #most: number;
  peak = 0;

  constructor(lengthMs: number, most: number) {
    this.#lengthMs = lengthMs;
    this.#most = most;
  }

  /** Whether that is one too many. */
  add(nowMs: number): boolean {
    this.#times.push(nowMs);
    while ((this.#times[0] as number) <= nowMs - this.#lengthMs) this.#times.shift();
    this.peak = Math.max(this.peak, this.#times.length);
    return this.#times.length > this.#most;
  }
}

/** What a guess was: a try at every code, at those of some tenants, or at none. */
export interface Guess {
  atMs: number;
  source: string;
  /** It was answered that there is no such code. */
  isTold: boolean;
  /** The tenants whose right code would have passed there and then. */
  triesAt: readonly Tenant[];
}

/** The attacker's tries, judged by the promises alone, without a look at how they are kept. */
export class Ledger {
  readonly #told = new Window(lifetime, 128);
  readonly #tries: Record<Tenant, Window> = { victim: new Window(lifetime, 188), own: new Window(lifetime, 188) };
  readonly #sources = new Map<string, { told: Window; tries: Window; count: number }>();
  readonly findings: string[] = [];
  told = 0;
  #lockOutsOfAll = 0;

  note({ atMs, source, isTold, triesAt }: Guess): void {
    const of = this.#sources.get(source) ?? { told: new Window(lifetime, 10), tries: new Window(lifetime, 70), count: 0 };
    this.#sources.set(source, of);
    if (isTold) {
      this.told++;
      if (this.#told.add(atMs)) this.find('more than 128 unknown codes of all were judged in one lifetime of a code');
      if (of.told.add(atMs)) this.find('more than 10 unknown codes of one source were judged in 15 minutes');
    }
    for (const tenant of tenants) {
      if (!isTold && !triesAt.includes(tenant)) continue;
      if (this.#tries[tenant].add(atMs)) this.find('more than 188 guesses were tries at one code in its lifetime');
    }
    if (!isTold && triesAt.length === 0) return;
    of.count++;
    if (of.tries.add(atMs)) this.find('more than 70 guesses of one source were tries in 15 minutes');
  }

  /** A lock-out was written down: there is one for ten tries of the source, or for 128 guesses of all, at most. */
  lockedOut({ kind, id }: { kind: string; id: string | null }): void {
    if (kind === 'service' && ++this.#lockOutsOfAll * 128 > this.told) this.find('a lock-out of all was written down more than once');
    if (kind !== 'source') return;
    const of = this.#sources.get((id as string).replace('::/64', ''));
    if (of && of.count >= 10) of.count -= 10;
    else this.find('a lock-out of a source was written down without cause, or more than once');
  }

  /** The most tries at one code in its lifetime. */
  get peak(): number {
    return Math.max(...tenants.map((tenant) => this.#tries[tenant].peak));
  }

  find(what: string): void {
    if (!this.findings.includes(what)) this.findings.push(what);
  }
}
