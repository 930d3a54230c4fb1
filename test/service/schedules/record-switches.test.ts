import { expect, it, onTestFinished } from 'vitest';
import { makeIdSource } from '../../../src/domain/id.ts';
import type { SystemDependencies } from '../../../src/service/context.ts';
import { makeSwitchRecorder } from '../../../src/service/schedules/record-switches.ts';
import { openStore } from '../../../src/store/location/open.ts';
import { screenRow } from '../../store/sample-rows.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';

const entry = (entryId: string) => ({ entryId, contentId: entryId, hasMedia: false, bytes: 1 });

it('gives requests of one moment one version only if they have planned the same', async () => {
  const clock = new ManualClock();
  const store = await openStore('memory:', { clock });
  onTestFinished(() => store.close());
  const screen = screenRow(1);
  await store.write((tx) => tx.put('screens', screen));
  const record = makeSwitchRecorder({
    store,
    clock,
    random: () => new Uint8Array(16),
    newId: makeIdSource(clock),
  } as SystemDependencies);
  const due = (entryId: string) => ({
    screen,
    playable: entry(entryId),
    layers: { own: undefined, venue: undefined },
    base: undefined,
  });
  const [breakfast, again, lunch] = await Promise.all([
    record(due('Breakfast')),
    record(due('Breakfast')),
    record(due('Lunch')),
  ]);
  expect(breakfast).toMatchObject({ version: { version: 1 } });
  expect(again).toEqual(breakfast);
  expect(lunch).toMatchObject({ changed: { layers: { own: { delivered: { version: 1 } } } } });
});
