import type { Clock } from '../../../src/domain/clock.ts';
import { SignageError } from '../../../src/domain/error.ts';
import { makeIdSource } from '../../../src/domain/id.ts';
import type { PairingCode } from '../../../src/domain/records/rows.ts';
import { withAuthority } from '../../../src/service/auth/authority.ts';
import {
  type SystemDependencies,
  system,
  type TenantCaller,
} from '../../../src/service/context.ts';
import { makeCodes } from '../../../src/service/pairing/codes.ts';
import { makeGuessRateLimit } from '../../../src/service/pairing/rate-limit.ts';
import { makeRegistration } from '../../../src/service/pairing/registration.ts';
import { makeTrustedSources } from '../../../src/service/pairing/trusted-sources.ts';
import { SeededRandom } from '../../../src/simulator/seeded-random.ts';
import { openStore } from '../../../src/store/open.ts';
import type { Store } from '../../../src/store/store.ts';
import { tenantA } from '../../store/sample-batch.ts';
import { screenRow, tenantRow, venueRow } from '../../store/sample-rows.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const minute = 60_000;
const lifetime = 15 * minute;
const trusted = '198.51.100.1';
const caller: TenantCaller = {
  ...{
    actor: system,
    tokenHash: null,
    role: 'installer',
    tenantId: tenantA,
    venueIds: null,
    expiresAt: null,
    address: trusted,
    requestId: null,
  },
};

/** Wraps the store of an instance with a defect. */
export type StoreDefect = (store: Store, own: Clock) => Store;

interface Made {
  code: string;
  screenId: string;
  endsAtMs: number;
  state: 'pending' | 'used' | 'cancelled';
}

/** Result of the scenarios. */
export interface RegistrationTotals {
  scenarios: number;
  registrations: number;
  bound: number;
  findings: string[];
}

/** Creates, guesses, uses and expires codes on instances with wrong clocks. */
class Scenario {
  readonly #chance: SeededRandom;
  readonly #clock: ManualClock;
  readonly #store: Store;
  readonly #instances: ReturnType<Scenario['start']>[];
  readonly #made: Made[] = [];
  readonly findings = new Set<string>();
  registrations = 0;
  bound = 0;
  #wrong = 0;

  constructor(chance: SeededRandom, clock: ManualClock, store: Store, defect: StoreDefect) {
    [this.#chance, this.#clock, this.#store] = [chance, clock, store];
    this.#instances = [0, this.#whole(-20, 20), this.#whole(-20, 20)].map((skew) =>
      this.start(skew * minute, defect),
    );
  }

  start(skewMs: number, defect: StoreDefect) {
    const own: Clock = { now: () => this.#clock.now() + skewMs, after: () => () => {} };
    const random = (length: number) => this.#chance.bytes(length);
    const store = defect(this.#store, own);
    const deps: SystemDependencies = {
      store,
      clock: own,
      random,
      newId: makeIdSource(own, random),
    };
    const trust = makeTrustedSources(store, own);
    const limit = makeGuessRateLimit(deps, trust, { codeTtlMs: lifetime });
    return {
      trust,
      codes: makeCodes(withAuthority(deps), lifetime / minute),
      register: makeRegistration(deps, limit, trust),
    };
  }

  async run(steps: number): Promise<void> {
    await this.#store.write(async (tx) => {
      await tx.put('tenants', tenantRow(1));
      await tx.put('venues', venueRow(1));
    });
    this.#instance().trust.remember(trusted, tenantA);
    for (let n = 0; n < steps; n++) await this.#step(n);
    for (const code of this.#made) await this.#check(code);
  }

  async #step(n: number): Promise<void> {
    const known = this.#made[this.#whole(0, this.#made.length - 1)];
    const what = this.#whole(0, 9);
    if (what <= 2 || !known) await this.#make(n);
    else if (what === 3) for (let left = this.#whole(1, 70); left > 0; left--) await this.#guess();
    else if (what === 4)
      this.#clock.advance(Math.max(1, known.endsAtMs - this.#clock.now() + this.#whole(-1, 1)));
    else if (what === 5) this.#clock.advance(this.#whole(1, 8 * minute));
    else await this.#submit(known, what === 6 ? `10.9.${n >> 8}.${n & 255}` : trusted);
  }

  async #make(number: number): Promise<void> {
    const screen = screenRow(number, { name: `Screen ${number}` });
    await this.#store.write((tx) => tx.put('screens', screen));
    const { code } = await this.#instance().codes.create(caller, { screenId: screen.id });
    this.#made.push({
      code,
      screenId: screen.id,
      endsAtMs: this.#clock.now() + lifetime,
      state: 'pending',
    });
  }

  async #guess(): Promise<void> {
    const n = ++this.#wrong;
    const outcome = await this.#register(
      `0000${String(n % 10_000).padStart(4, '0')}`,
      `10.${this.#whole(0, 3)}.${n >> 8}.${n & 255}`,
    );
    if (outcome !== 'pairing_code_not_found' && outcome !== 'too_many_attempts')
      this.findings.add(`an unknown code is answered ${outcome}`);
  }

  async #submit(made: Made, address: string): Promise<void> {
    const outcome = await this.#register(made.code, address);
    if (outcome === 'too_many_attempts' && address !== trusted) return;
    const isOver = this.#clock.now() >= made.endsAtMs;
    const right =
      made.state === 'used' ? 'pairing_code_used' : isOver ? 'pairing_code_expired' : 'bound';
    if (outcome !== right)
      this.findings.add(`a code that ${told(made, isOver)} is answered ${outcome}`);
    if (outcome === 'bound') made.state = 'used';
  }

  async #register(pairingCode: string, address: string): Promise<string> {
    this.registrations++;
    try {
      const body = { pairingCode, deviceInfo: {} } as Parameters<
        ReturnType<typeof makeRegistration>
      >[0]['body'];
      await this.#instance().register({
        body,
        idempotencyKey: undefined,
        address,
        requestId: null,
      });
      this.bound++;
      return 'bound';
    } catch (error) {
      if (error instanceof SignageError) return error.code;
      throw error;
    }
  }

  /** Expects refused registrations to leave no trace, and bound screens to be bound once. */
  async #check({ screenId, state }: Made): Promise<void> {
    const screen = await this.#store.read.get('screens', screenId);
    const devices = await this.#store.read.select('devices', 'screenId', [screenId]);
    const codes: PairingCode[] = await this.#store.read.select('codes', 'screenId', [screenId]);
    const found = `${screen?.state} ${devices.length} ${codes.map((code) => code.state)}`;
    if (found !== (state === 'used' ? 'active 1 used' : 'provisioning 0 pending'))
      this.findings.add(`a code that is ${state} leaves ${found}`);
  }

  #instance() {
    return this.#instances[this.#whole(0, 2)] as ReturnType<Scenario['start']>;
  }

  #whole(least: number, most: number): number {
    return Math.floor(this.#chance.between(least, most + 1));
  }
}

const told = ({ state }: Made, isOver: boolean) =>
  state === 'used' ? 'was used' : isOver ? 'has expired' : 'is good';

/** Runs reproducible scenarios, each on a store in memory. */
export async function runRegistrations({
  scenarios,
  seed,
  defect = (store) => store,
}: {
  scenarios: number;
  seed: string;
  defect?: StoreDefect;
}): Promise<RegistrationTotals> {
  const tally: RegistrationTotals = { scenarios, registrations: 0, bound: 0, findings: [] };
  for (let n = 0; n < scenarios; n++) {
    const clock = new ManualClock();
    const store = await openStore('memory:', { clock });
    const scenario = new Scenario(new SeededRandom(`${seed}/${n}`), clock, store, defect);
    await scenario.run(60);
    await store.close();
    tally.registrations += scenario.registrations;
    tally.bound += scenario.bound;
    for (const finding of scenario.findings) {
      if (!tally.findings.some((known) => known.startsWith(finding)))
        tally.findings.push(`${finding} (scenario ${seed}/${n})`);
    }
  }
  return tally;
}
