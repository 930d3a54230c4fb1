import { expect, it } from 'vitest';
import type { LastActivityTable } from '../../../../src/store/json/activity/last-activity.ts';
import { CommittedRows } from '../../../../src/store/json/rows/committed-rows.ts';
import { countFleet, listRows } from '../../../../src/store/json/rows/listing.ts';
import { yieldsDuring } from '../../../support/runtime/yields-during.ts';
import { deviceRow } from '../../sample-rows.ts';

/** Time of each look-up of an activity. */
const lookUpMs = 2;
const deviceCount = 100;

function fleet() {
  const base = new CommittedRows();
  for (let n = 0; n < deviceCount; n++) {
    const device = deviceRow(n, { state: 'bound' });
    base.load('devices', device.id, device);
  }
  base.index();
  return base;
}

const slowActivity = {
  marks() {
    const endMs = performance.now() + lookUpMs;
    while (performance.now() < endMs);
    return { lastSeenAt: 0 };
  },
} as unknown as LastActivityTable;

it.each([
  [
    'a list',
    () =>
      listRows(fleet(), slowActivity, 'devices', {
        online: { is: true, now: Date.now() },
        limit: 10,
      }),
  ],
  ['a count of the fleet', () => countFleet(fleet(), slowActivity, Date.now())],
])('%s yields to the event loop after a few slow look-ups', async (_, scan) => {
  expect(await yieldsDuring(scan)).toBeGreaterThan((deviceCount * lookUpMs) / 20);
});
