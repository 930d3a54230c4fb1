// Coverage of random histories, compared with an oracle (docs/protocol.md §5.6).
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { dayMs, minuteMs } from '../../../src/domain/clock.ts';
import type { CoverageRow } from '../../../src/domain/planned/coverage.ts';
import { restoreStore } from '../../../src/store/maintenance/restore.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { PlanOracle, plannedBy, type Query } from '../../support/planned/plan-oracle.ts';
import { RandomHistory } from '../../support/planned/random-history.ts';
import { RandomInputs } from '../../support/planned/random-inputs.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { type Manager, manager } from '../../support/service/management.ts';
import { adminToken, startService } from '../../support/service/service.ts';

const steps = 25;
const groups = ['screen', 'venue', 'day', 'creative', 'campaign'] as const;

/** Returns queries of each group, for both kinds of days, with random ranges. */
const queriesOf = (random: RandomInputs): Query[] =>
  (['utc', 'venue'] as const).flatMap((days) =>
    groups.map((groupBy) => {
      const [one, other] = [random.date(), random.date()].sort();
      const range = random.oneOf([{}, { from: one }, { to: other }, { from: one, to: other }]);
      return { groupBy, days, ...range } as Query;
    }),
  );

async function coverage(admin: Manager, query: Query): Promise<Record<string, number>> {
  const text = new URLSearchParams({ ...query });
  const answer = await admin.get(`/v1/reports/coverage?${text}`);
  expect(answer.status, answer.text).toBe(200);
  const rows: CoverageRow[] = answer.body.items;
  expect(rows.filter(({ incomplete }) => incomplete)).toEqual([]);
  const isCampaign = query.groupBy === 'campaign';
  return Object.fromEntries(
    rows.map(({ key, name, plannedSeconds }) => [isCampaign ? name : key, plannedSeconds]),
  );
}

/**
 * Returns the differences between coverage and the oracle. With `folder`, the service is restarted
 * now and then, and a copy that is restored from its backup answers.
 */
async function differences(seed: number, folder?: string): Promise<object[]> {
  const clock = new ManualClock(0);
  const random = new RandomInputs(seed, clock);
  const [zone, around] = random.zone();
  clock.set(around - dayMs * (1 + random.below(2)) + random.below(1440) * minuteMs);
  const startMs = clock.now();
  const service = await startService({ clock, ...(folder && { store: join(folder, 'data') }) });
  const history = new RandomHistory(service, random, zone);
  await history.begin();
  for (let step = 0; step < steps; step++) {
    // Several changes at one moment are possible, too.
    if (!random.chance(0.2)) clock.set(clock.now() + random.below(600) * minuteMs);
    await history.step();
    if (folder !== undefined && step % 8 === 7) await service.restart();
  }
  clock.set(clock.now() + random.below(2000) * minuteMs);
  let reader = manager(service);
  if (folder !== undefined) {
    const headers = { authorization: `Bearer ${adminToken}` };
    const { body } = await fetch(`${service.url}/v1/backup`, { method: 'POST', headers });
    const copy = join(folder, 'copy');
    await restoreStore(body as unknown as AsyncIterable<Uint8Array>, copy, { clock });
    reader = manager(await startService({ clock, store: copy }));
  }
  const oracle = new PlanOracle(startMs, clock.now());
  const found: object[] = [];
  for (const query of queriesOf(random)) {
    const given = await coverage(reader, query);
    const wanted = plannedBy(oracle, history.story, clock.now() / minuteMs, query);
    // Shares of loops are rounded.
    const most = query.groupBy === 'creative' || query.groupBy === 'campaign' ? 0.1 : 0;
    for (const key of new Set([...Object.keys(given), ...Object.keys(wanted)])) {
      const [planned = 0, expected = 0] = [given[key], wanted[key]];
      if (Math.abs(planned - expected) > most) found.push({ seed, query, key, planned, expected });
    }
  }
  await service.close();
  return found;
}

const firstSeed = Number(process.env.COVERAGE_SEED ?? 1);
const seeds = Array.from(
  { length: Number(process.env.COVERAGE_SEEDS ?? 6) },
  (_, place) => firstSeed + place,
);

it.each(seeds)('plans what the protocol says, in a random history from seed %i', async (seed) =>
  expect(await differences(seed)).toEqual([]),
);

it('plans the same after restarts, and from a restored backup', async () => {
  expect(await differences(firstSeed + 100, await temporaryFolder())).toEqual([]);
});
