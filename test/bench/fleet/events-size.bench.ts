import { it } from 'vitest';
import { dayMs } from '../../../src/domain/clock.ts';
import { nodeFileSystem } from '../../../src/store/json/disk/file-system.ts';
import { openJsonStore } from '../../../src/store/json/open.ts';
import type { EventBatch } from '../../../src/store/queries.ts';
import { batchOf, guid, impression } from '../../store/sample-batch.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { timeCalls, timed } from '../measure.ts';

const days = 30;
const batchesPerDay = 667;
const eventsPerBatch = 100;
const concurrency = 64;
const screens = 1000;

it('start after a crash with 2 million events', async () => {
  const folder = await temporaryFolder();
  const clock = new ManualClock();
  const context = {
    disk: nodeFileSystem,
    directory: folder,
    clock,
    lowWaterBytes: 0,
    warn: console.log,
  };
  // Without the lock of the folder, so that it can be opened again as if the process had crashed.
  const open = () =>
    openJsonStore(
      context,
      (length) => new Uint8Array(length),
      async () => {},
    );
  const store = await open();

  let made = 0;
  for (let day = 0; day < days; day++) {
    const samples = Array.from({ length: 50 }, (_, venue) => {
      const events = Array.from({ length: eventsPerBatch }, (_, n) =>
        impression(clock.now() + n * 1000, {
          duration: 15,
          campaignId: guid('camp', n % 20),
          creativeId: guid('crea', n % 50),
        }),
      );
      return batchOf(events, { venueId: guid('venu', venue) });
    });
    await timeCalls(batchesPerDay, concurrency, () => {
      const screen = made++ % screens;
      const sample = samples[screen % 50] as EventBatch;
      const idempotency = { key: `batch ${made}`, sent: sample.body };
      return store.appendBatch({
        ...sample,
        screenId: guid('scre', screen),
        deviceId: guid('devi', screen),
        idempotency,
      });
    });
    if (day < days - 1) clock.advance(dayMs);
  }
  const crashed = await timed(open);
  console.log(`start after a crash: ${crashed.ms.toFixed(0)} ms`);
  await crashed.result.close();
});
