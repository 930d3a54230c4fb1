// Runs each scenario of fixtures/scenarios with three seeds against one service.
import { readdirSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { readScenario } from '../../../src/cli/commands/simulate/run.ts';
import { type Clock, systemClock } from '../../../src/domain/clock.ts';
import { faultKinds, parseFault } from '../../../src/faults/parse-fault.ts';
import { fakeIo } from '../../support/process/fake-io.ts';
import {
  startService,
  type TestService,
  adminToken as token,
} from '../../support/service/service.ts';
import { quickFleet } from '../../support/tv/quick-fleet.ts';

/** The long scenario runs separately, in test/faults. */
const names = readdirSync(new URL('../../../fixtures/scenarios', import.meta.url))
  .map((file) => file.replace('.yaml', ''))
  .filter((name) => name !== 'week');

let service: TestService<Clock>;
beforeAll(async () => {
  service = await startService<Clock>({ clock: systemClock });
});

describe.each(names)('%s', (name) => {
  it.each(['1', '2', '3'])('ends without findings with seed %s', async (seed) => {
    const {
      life,
      faults = [],
      playlist,
      config,
      rotateEvery: rotateEveryMs,
    } = await readScenario(fakeIo(), name);
    const report = await quickFleet({
      url: service.url,
      token,
      count: 2,
      lifeMs: life,
      seed,
      faults,
      playlist,
      config,
      rotateEveryMs,
    });
    expect(report.reconciliation).toMatchObject({
      outcome: 'compared',
      findings: [],
      events: { lost: 0, duplicated: 0, strange: 0 },
    });
    expect(report).toMatchObject({ tvs: { bound: 2, unpaired: 0 }, notes: [] });
    const keys = report.reconciliation.keys;
    expect(keys?.tvs).toBe(rotateEveryMs && 2);
    expect(keys?.working).toBe(keys && keys.tvs + keys.underWay);
    expect(report.rotations > 0).toBe(rotateEveryMs !== undefined);
    expect(report.events.acknowledged).toBeGreaterThan(0);
    expect(report.failures.filter(({ code }) => !expected.includes(code))).toEqual([]);
    for (const { rule, count: times } of report.faults)
      expect(times, `${rule} did nothing`).toBeGreaterThan(0);
  });
});

/** Errors that TVs recover from in these scenarios. */
const expected = [
  'unreachable',
  'device_key_revoked',
  'pairing_code_used',
  'unavailable',
  'internal_error',
];

/** Simulated TVs send no long polls at the speed of the scenarios. */
const ofLongPolls = ['at-once', 'timeout'];

it('there is a scenario for every kind of fault, and one with all of them', async () => {
  const kindsOf = async (name: string) =>
    ((await readScenario(fakeIo(), name)).faults ?? []).map((rule) => parseFault(rule).kind);
  const kinds = faultKinds.filter((kind) => !ofLongPolls.includes(kind)).sort();
  expect([...new Set(await kindsOf('everything'))].sort()).toEqual(kinds);
  const others = await Promise.all(names.filter((name) => name !== 'everything').map(kindsOf));
  expect([...new Set(others.flat())].sort()).toEqual(kinds);
});
