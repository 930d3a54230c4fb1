import fc from 'fast-check';
import type { GuessCounter } from '../../../src/domain/records/pairing-code.ts';
import type { GuessCountersOfEach } from '../../../src/store/store.ts';
import { GuessChecker } from './checker.ts';
import { type Place, type Schedule, type Step, schedules, type Tenant } from './schedule.ts';
import { Topology, type TopologyDefect, type Verdict } from './topology.ts';

const hour = 3_600_000;
/** Number of refused guesses for which a valid code is tried as well. */
const lookedAt = 16;
const fixed: Partial<Record<Place, Address>> = {
  'venue 0': { address: '198.51.100.1', source: '198.51.100.1' },
  'venue 1': { address: '198.51.100.2', source: '198.51.100.2' },
  'venue 2': { address: '2001:db8:1:2::1', source: '2001:db8:1:2' },
  foothold: { address: '198.51.100.9', source: '198.51.100.9' },
  home: { address: '198.51.100.77', source: '198.51.100.77' },
};

/** Returns addresses in one /64 of the given prefix. */
const insideOf: Partial<Record<Place, (n: number) => string>> = {
  'one /60': (n) => `2001:db8:fffc:12${(n % 13).toString(16)}`,
  'one /56': (n) => `2001:db8:fffd:12${(n % 256).toString(16).padStart(2, '0')}`,
  'one /48': (n) => `2001:db8:fffe:${((n % 256) * 0x101).toString(16)}`,
};

interface Address {
  address: string;
  /** The limited source. For IPv6 a /64. */
  source: string;
}

/** Result of one or more schedules. */
export interface AttackTotals {
  schedules: number;
  guesses: number;
  refused: number;
  /**
   * TVs of the victim at trusted places, and how many paired. Places that an attacker shares are
   * counted apart.
   */
  honest: number;
  paired: number;
  besieged: number;
  besiegedPaired: number;
  /** The highest number of guesses of one code in its lifetime. */
  peak: number;
  lockOuts: number;
  findings: string[];
}

interface Twin {
  tenant: Tenant;
  verdict: Verdict;
  kept: GuessCountersOfEach;
}

/** Compares counters of the same source by the number and end of their attempts. */
function isSame(one: GuessCounter | undefined, other: GuessCounter | undefined): boolean {
  const [a, b] = [one ?? unset, other ?? unset];
  return (
    a.times.length === b.times.length &&
    a.times.at(-1) === b.times.at(-1) &&
    a.waitUntil === b.waitUntil &&
    a.waitMs === b.waitMs
  );
}

const unset: GuessCounter = { times: [], waitUntil: 0, waitMs: 0, forgetAt: 0 };

const nothing = (): AttackTotals => ({
  ...{
    schedules: 0,
    guesses: 0,
    refused: 0,
    honest: 0,
    paired: 0,
    besieged: 0,
    besiegedPaired: 0,
    peak: 0,
    lockOuts: 0,
  },
  findings: [],
});

/** One attack. */
class Attack {
  readonly #topology: Topology;
  readonly #ledger = new GuessChecker();
  readonly #tally = nothing();
  readonly #worked: { source: string; tenant: Tenant; atMs: number }[] = [];
  readonly #isBesieged: boolean;
  #addresses = 0;
  #written = 0;

  constructor({ skewsMs, steps }: Schedule, defect: TopologyDefect | undefined) {
    this.#topology = new Topology(skewsMs, defect);
    const isInside = (place: Place) =>
      place === 'foothold' || (typeof place === 'number' && place >= 50);
    this.#isBesieged = steps.some((step) => step.do === 'guess' && isInside(step.from));
  }

  async run(steps: readonly Step[]): Promise<AttackTotals> {
    for (const step of steps) await this.#do(step);
    return {
      ...this.#tally,
      schedules: 1,
      peak: this.#ledger.peak,
      lockOuts: this.#written,
      findings: this.#ledger.findings,
    };
  }

  async #do(step: Step): Promise<void> {
    if (step.do === 'wait') this.#topology.nowMs += step.ms;
    else if (step.do === 'restart') this.#topology.restart(step.by);
    else if (step.do === 'work') await this.#work(step);
    else if (step.do === 'pair') await this.#pair(step.at, step.by);
    else if (step.do === 'hit')
      for (let n = 0; n < step.count; n++)
        await this.#hit(step.of, this.#addressOf(step.from), step.by);
    else if (step.do === 'sit out') await this.#sitOut(step.by);
    else await this.#guesses(step);
  }

  async #guesses({ count, from, by, everyMs }: Extract<Step, { do: 'guess' }>): Promise<void> {
    for (let n = 0; n < count; n++) {
      await this.#guess(this.#addressOf(from), by + (n % 2));
      this.#topology.nowMs += Math.floor(everyMs);
    }
  }

  async #work({ of, from, by }: Extract<Step, { do: 'work' }>): Promise<void> {
    const { address, source } = this.#addressOf(from);
    this.#topology.instance(by).trust.remember(address, of);
    this.#worked.push({ source, tenant: of, atMs: this.#topology.nowMs });
    // The other instances are notified later.
    await new Promise(setImmediate);
  }

  /** Returns the tenants whose credentials worked at this source recently. */
  #vouching(source: string, withinMs: number): Tenant[] {
    return this.#worked
      .filter((one) => one.source === source && one.atMs > this.#topology.nowMs - withinMs)
      .map(({ tenant }) => tenant);
  }

  async #guess({ address, source }: Address, by: number): Promise<Verdict> {
    const isLookedAt =
      this.#tally.guesses % lookedAt === 0 || this.#vouching(source, 26 * hour).length > 0;
    const right: Twin[] = isLookedAt
      ? [await this.#twin(address, by, 'victim'), await this.#twin(address, by, 'own')]
      : [];
    const verdict = await this.#topology.judge(by, address, undefined);
    for (const twin of right) this.#compare(source, twin, verdict);
    const isTold = verdict === 'passes';
    this.#tally.guesses++;
    if (!isTold) this.#tally.refused++;
    const triesAt = right.filter((twin) => twin.verdict === 'passes').map(({ tenant }) => tenant);
    this.#ledger.note({ atMs: this.#topology.nowMs, source, isTold, triesAt });
    this.#readAudit();
    return verdict;
  }

  /** Returns the verdict for a valid code in place of the wrong one. */
  async #twin(address: string, by: number, tenant: Tenant): Promise<Twin> {
    const verdict = await this.#topology.wouldJudge(by, address, tenant);
    return { tenant, verdict, kept: this.#topology.kept };
  }

  /** If a valid code is refused, it must not be distinguishable from a wrong one, now or later. */
  #compare(source: string, { tenant, verdict, kept }: Twin, wrong: Verdict): void {
    if (verdict === 'passes') {
      if (wrong !== 'passes' && !this.#vouching(source, 26 * hour).includes(tenant))
        this.#ledger.find('a right code passes where wrong ones are refused');
    } else if (verdict !== wrong)
      this.#ledger.find('a right code is refused in other words than a wrong one');
    else if (!kept.every((row, place) => isSame(row, this.#topology.kept[place])))
      this.#ledger.find('a refused right code leaves other traces than a wrong one');
  }

  async #hit(of: Tenant, { address }: Address, by: number): Promise<void> {
    if ((await this.#topology.judge(by, address, of)) !== 'passes') this.#tally.refused++;
    this.#readAudit();
  }

  async #pair(at: 0 | 1 | 2, by: number): Promise<void> {
    const { address, source } = fixed[`venue ${at}`] as Address;
    if (!this.#vouching(source, 23 * hour).includes('victim')) return;
    const passes = (await this.#topology.judge(by, address, 'victim')) === 'passes';
    this.#tally[this.#isBesieged ? 'besieged' : 'honest']++;
    if (passes) this.#tally[this.#isBesieged ? 'besiegedPaired' : 'paired']++;
  }

  async #sitOut(by: number): Promise<void> {
    const address = this.#addressOf('fresh');
    const waits: number[] = [];
    for (let n = 0; n < 40 && waits.length < 6; n++) {
      const verdict = await this.#guess(address, by);
      if (verdict === 'passes' && waits.length > 0) break;
      if (verdict === 'passes') continue;
      waits.push(verdict);
      this.#topology.nowMs += verdict * 1000;
    }
    if (waits.some((wait, n) => wait !== Math.min(60 * 2 ** n, 900)))
      this.#ledger.find('the wait does not double each time that it was sat out');
  }

  #addressOf(place: Place): Address {
    const known = fixed[place];
    if (known) return known;
    if (typeof place === 'number')
      return { address: `203.0.113.${place}`, source: `203.0.113.${place}` };
    const n = ++this.#addresses;
    const within = insideOf[place];
    if (within) return { address: `${within(n)}::1`, source: within(n) };
    if (place === 'rotating')
      return { address: `2001:db8:ffff:1::${n.toString(16)}`, source: '2001:db8:ffff:1' };
    const ipv4 = `10.0.${n >> 8}.${n & 255}`;
    if (place === 'fresh') return { address: ipv4, source: ipv4 };
    return { address: `2001:db8:${n.toString(16)}:7::1`, source: `2001:db8:${n.toString(16)}:7` };
  }

  #readAudit(): void {
    for (const { subject } of this.#topology.audit.slice(this.#written))
      this.#ledger.lockedOut(subject);
    this.#written = this.#topology.audit.length;
  }
}

/** Number of schedules with one seed. */
const batch = 100;
/** Minimum share of TVs at trusted sources that pair during attacks. */
const honestShare = 0.999;

interface Size {
  count: number;
  seed: number;
  /** Stops after this many findings. */
  enough?: number;
  defect?: TopologyDefect;
}

/** Runs reproducible schedules. Each finding is returned once, with its schedule. */
export async function runAttacks({
  count,
  seed,
  defect,
  enough = 10,
}: Size): Promise<AttackTotals> {
  const sum = nothing();
  const { stackTraceLimit } = Error;
  // Stack traces of refusals are not needed.
  Error.stackTraceLimit = 0;
  try {
    for (let from = 0; from < count; from += batch) {
      const numRuns = Math.min(batch, count - from);
      for (const [n, schedule] of fc.sample(schedules, { seed: seed + from, numRuns }).entries()) {
        if (sum.findings.length >= enough) break;
        const totals = await new Attack(schedule, defect).run(schedule.steps);
        add(sum, totals, `${n} of seed ${seed + from}`);
      }
    }
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
  if (sum.besiegedPaired < honestShare * sum.besieged)
    sum.findings.push(
      `of ${sum.besieged} TVs at trusted sources of a tenant with a guest who guesses only ${sum.besiegedPaired} paired`,
    );
  if (sum.paired < honestShare * sum.honest)
    sum.findings.push(`of ${sum.honest} TVs at trusted sources only ${sum.paired} paired`);
  return sum;
}

function add(sum: AttackTotals, { findings, peak, ...one }: AttackTotals, where: string): void {
  for (const name of Object.keys(one) as (keyof typeof one)[]) sum[name] += one[name];
  sum.peak = Math.max(sum.peak, peak);
  for (const finding of findings) {
    if (!sum.findings.some((known) => known.startsWith(finding)))
      sum.findings.push(`${finding} (schedule ${where})`);
  }
}
