// The quick version of test/faults/fleet-week.full.ts.
import { expect, it } from 'vitest';
import { dayMs, systemClock } from '../../../src/domain/clock.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { startService, adminToken as token } from '../../support/service/service.ts';
import { quickFleet } from '../../support/tv/quick-fleet.ts';

it('a service on files neither loses nor duplicates an event of 25 TVs in a day', async () => {
  const service = await startService({ clock: systemClock, store: await temporaryFolder() });
  const faults = ['lost-answer:events:2%', 'power-cut:every 12h'];
  const { reconciliation, events } = await quickFleet({
    url: service.url,
    token,
    count: 25,
    lifeMs: dayMs,
    faults,
  });
  expect(reconciliation).toMatchObject({ outcome: 'compared', devices: 25, findings: [] });
  // 288 items and about 96 heartbeats each.
  expect(events.made).toBeGreaterThan(25 * 370);
  expect(events.acknowledged).toBe(reconciliation.events.stored);
}, 60_000);
