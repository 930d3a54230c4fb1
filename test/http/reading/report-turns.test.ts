import { describe, expect, it } from 'vitest';
import { largest, smallest } from '../../../src/domain/numbers/extremes.ts';
import { decorateStore } from '../../../src/service/store-decorator.ts';
import { openStore } from '../../../src/store/location/open.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { impression, manager } from '../../support/service/management.ts';
import { startService } from '../../support/service/service.ts';

const creatives = 6000;
const lookUpMs = 0.05;
/** The turn of the event loop of each look-up of a name. */
const lookUps: number[] = [];
let turn = 0;

async function countTurns(work: () => Promise<unknown>): Promise<void> {
  let timer: NodeJS.Immediate;
  const count = () => {
    turn++;
    timer = setImmediate(count);
  };
  timer = setImmediate(count);
  await work();
  clearImmediate(timer);
}

/** A service that has played many creatives, and needs a while for the name of each. */
async function start() {
  const clock = new ManualClock();
  const store = await openStore('memory:', { clock });
  const { read } = store;
  const get: typeof read.get = (table, id) => {
    if (table === 'creatives') {
      const endMs = performance.now() + lookUpMs;
      while (performance.now() < endMs);
      lookUps.push(turn);
    }
    return read.get(table, id);
  };
  const slow = decorateStore(store, { read: decorateStore(read, { get }) });
  const service = await startService({ store: slow, clock });
  const tv = await service.tv();
  for (let first = 0; first < creatives; first += 100) {
    const body = Array.from({ length: 100 }, (_, place) => {
      const creativeId = `c0000000-0000-4000-8000-${String(first + place).padStart(12, '0')}`;
      return impression({ creativeId, timestamp: clock.now() / 1000 });
    });
    expect((await tv.send('POST', 'events', { body })).status).toBe(202);
  }
  return service;
}

describe('GET /v1/reports', async () => {
  const service = await start();
  it.each(['impressions', 'coverage'])(
    '%s gives other requests turns while it looks up names',
    async (report) => {
      const path = `/v1/reports/${report}?groupBy=creative`;
      const get = async () => {
        const { status, body } = await manager(service).get(path);
        expect([status, body.items.length]).toEqual([200, creatives]);
      };
      lookUps.length = 0;
      await countTurns(get);
      expect(lookUps).toHaveLength(creatives);
      const turns = largest(lookUps) - smallest(lookUps);
      expect(turns).toBeGreaterThan((creatives * lookUpMs) / 20);
    },
  );
});
