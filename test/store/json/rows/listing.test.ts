import { expect, it } from 'vitest';
import type { LastActivityTable } from '../../../../src/store/json/activity/last-activity.ts';
import { CommittedRows } from '../../../../src/store/json/rows/committed-rows.ts';
import {
  listFinishedCodes,
  listPlaylistSummaries,
  listRows,
} from '../../../../src/store/json/rows/listing.ts';
import { yieldsDuring } from '../../../support/runtime/yields-during.ts';
import { codeRow, deviceRow, screenRow } from '../../sample-rows.ts';

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
])('%s yields to the event loop after a few slow look-ups', async (_, scan) => {
  expect(await yieldsDuring(scan)).toBeGreaterThan((deviceCount * lookUpMs) / 20);
});

it.each<[string, (base: CommittedRows, ids: string[]) => Promise<unknown>]>([
  ['summaries of playlists', listPlaylistSummaries],
  ['a search for finished codes', (base) => listFinishedCodes(base, 0, 10)],
])('%s yields to the event loop after each 200 rows', async (_, scan) => {
  const base = new CommittedRows();
  const screens = Array.from({ length: 1001 }, (_row, n) => screenRow(n));
  for (const [n, screen] of screens.entries()) {
    base.load('screens', screen.id, screen);
    base.load('codes', codeRow(n).id, codeRow(n));
  }
  base.index();
  const ids = screens.map(({ id }) => id);
  expect(await yieldsDuring(() => scan(base, ids))).toBeGreaterThanOrEqual(5);
});
