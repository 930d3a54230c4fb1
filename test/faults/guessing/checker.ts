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

const most = { told: 128, tries: 198, triesWhereTrusted: 20 };
/** Fewer IPv4 addresses or IPv6 /48s than these do not use up what all have together. */
const fewestToLockOutAll = 35;
/**
 * So many guesses at least come before the first refusal because of others: else an eighth of what
 * is left is ten.
 */
const fewestBeforeLockOutOfAll = 49;

/** Writes the first groups of an IPv6 address as a prefix. */
function prefix(groups: readonly string[], bits: number): string {
  const kept = [...groups];
  while (kept.at(-1) === '0') kept.pop();
  return `${kept.join(':')}::/${bits}`;
}

/**
 * The groups that a source counts for, the smallest first, with the most that each may send in 15
 * minutes.
 */
function groupsOf(source: string): [name: string, most: number][] {
  if (!source.includes(':')) return [[source, 10]];
  const groups = source.split(':');
  const inSlash56 = (Number.parseInt(groups[3] as string, 16) & 0xff00).toString(16);
  return [
    [prefix(groups, 64), 6],
    [prefix([...groups.slice(0, 3), inSlash56], 56), 8],
    [prefix(groups.slice(0, 3), 48), 10],
  ];
}

/** The attacker's tries, judged by the promises alone, without a look at how they are kept. */
export class GuessChecker {
  readonly #told = new Window(lifetime, most.told);
  readonly #tries: Record<Tenant, Window> = {
    victim: new Window(lifetime, most.tries),
    own: new Window(lifetime, most.tries),
  };
  readonly #groups = new Map<string, { told: Window; most: number; sinceLockOut: number }>();
  readonly #trusted = new Map<string, Window>();
  /** Who was told lately: an IPv4 address or a /48 each. */
  #lately: { atMs: number; customer: string }[] = [];
  readonly findings: string[] = [];
  told = 0;
  #lockOutsOfAll = 0;

  note({ atMs, source, isTold, triesAt }: Guess): void {
    const groups = groupsOf(source);
    const customer = groups.at(-1)?.[0] as string;
    if (isTold) this.#noteTold(atMs, groups);
    else this.#noteRefused(atMs, customer);
    if (isTold) this.#lately.push({ atMs, customer });
    for (const tenant of tenants) {
      if (!isTold && !triesAt.includes(tenant)) continue;
      if (this.#tries[tenant].add(atMs))
        this.find('more than 198 guesses were tries at one code in its lifetime');
      if (!isTold && this.#whereTrusted(source, tenant).add(atMs))
        this.find('more than 20 guesses of one trusted source were tries at a code of its tenant');
    }
  }

  #noteTold(atMs: number, groups: readonly [string, number][]): void {
    this.told++;
    if (this.#told.add(atMs))
      this.find('more than 128 unknown codes of all were judged in one lifetime of a code');
    for (const [name, mostOfGroup] of groups) {
      const of = this.#groups.get(name) ?? {
        told: new Window(lifetime, mostOfGroup),
        most: mostOfGroup,
        sinceLockOut: 0,
      };
      this.#groups.set(name, of);
      of.sinceLockOut++;
      if (of.told.add(atMs))
        this.find(
          `more than ${mostOfGroup} unknown codes of one ${name.split('/')[1] ?? 'address'} were judged`,
        );
    }
  }

  /** A source that has not guessed lately is refused when many others have. */
  #noteRefused(atMs: number, customer: string): void {
    this.#lately = this.#lately.filter((one) => one.atMs > atMs - lifetime);
    const customers = new Set(this.#lately.map((one) => one.customer));
    if (!customers.has(customer) && customers.size < fewestToLockOutAll)
      this.find('few sources locked out all others');
  }

  #whereTrusted(source: string, tenant: Tenant): Window {
    const key = `${source} ${tenant}`;
    const known = this.#trusted.get(key) ?? new Window(lifetime, most.triesWhereTrusted);
    this.#trusted.set(key, known);
    return known;
  }

  /**
   * A lock-out was written down: once for all that a group of sources may send, or for the guesses
   * before the first refusal of all.
   */
  lockedOut({ kind, id }: { kind: string; id: string | null }): void {
    if (kind === 'service' && ++this.#lockOutsOfAll * fewestBeforeLockOutOfAll > this.told)
      this.find('a lock-out of all was written down more than once');
    if (kind !== 'source') return;
    const of = this.#groups.get(id as string);
    if (of && of.sinceLockOut >= of.most) of.sinceLockOut = 0;
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
