import type { Tenant } from './schedule.ts';

const minute = 60_000;
const lifetime = 15 * minute;
const tenants: readonly Tenant[] = ['victim', 'own'];

/** A sliding window with a limit. */
class Window {
  readonly #times: number[] = [];
  readonly #lengthMs: number;
  readonly #most: number;
  peak = 0;

  constructor(lengthMs: number, most: number) {
    this.#lengthMs = lengthMs;
    this.#most = most;
  }

  /** Returns whether the limit is exceeded. */
  add(nowMs: number): boolean {
    this.#times.push(nowMs);
    while ((this.#times[0] as number) <= nowMs - this.#lengthMs) this.#times.shift();
    this.peak = Math.max(this.peak, this.#times.length);
    return this.#times.length > this.#most;
  }
}

/** A guess, and the tenants whose codes it could have hit. */
export interface Guess {
  atMs: number;
  source: string;
  /** The answer was that no such code exists. */
  isTold: boolean;
  /** The tenants whose valid code would have been accepted. */
  triesAt: readonly Tenant[];
}

const most = { told: 128, tries: 198, triesWhereTrusted: 20 };
/** Fewer IPv4 addresses or IPv6 /48s cannot use up the shared limit. */
const fewestToLockOutAll = 35;
/**
 * Minimum number of guesses before the first refusal by the shared limit: an eighth of the
 * remaining allowance is then ten.
 */
const fewestBeforeLockOutOfAll = 49;

/** Writes the first groups of an IPv6 address as a prefix. */
function prefix(groups: readonly string[], bits: number): string {
  const kept = [...groups];
  while (kept.at(-1) === '0') kept.pop();
  return `${kept.join(':')}::/${bits}`;
}

/** Returns the groups of a source, smallest first, with the limit of each for 15 minutes. */
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

/** Checks guesses against the documented limits only, independently of the implementation. */
export class GuessChecker {
  readonly #told = new Window(lifetime, most.told);
  readonly #tries: Record<Tenant, Window> = {
    victim: new Window(lifetime, most.tries),
    own: new Window(lifetime, most.tries),
  };
  readonly #groups = new Map<string, { told: Window; most: number; sinceLockOut: number }>();
  readonly #trusted = new Map<string, Window>();
  /** Recent rejections, by IPv4 address or /48. */
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

  /** Records that a source without recent guesses was refused because of others. */
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

  /** Records a lock-out. It is written once for a group of sources, or for the shared limit. */
  lockedOut({ kind, id }: { kind: string; id: string | null }): void {
    if (kind === 'service' && ++this.#lockOutsOfAll * fewestBeforeLockOutOfAll > this.told)
      this.find('a lock-out of all was written down more than once');
    if (kind !== 'source') return;
    const of = this.#groups.get(id as string);
    if (of && of.sinceLockOut >= of.most) of.sinceLockOut = 0;
    else this.find('a lock-out of a source was written down without cause, or more than once');
  }

  /** The highest number of guesses of one code in its lifetime. */
  get peak(): number {
    return Math.max(...tenants.map((tenant) => this.#tries[tenant].peak));
  }

  find(what: string): void {
    if (!this.findings.includes(what)) this.findings.push(what);
  }
}
