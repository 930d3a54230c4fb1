// `signage tv`, as built, killed like a TV whose plug is pulled.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../src/domain/clock.ts';
import { temporaryFolder } from '../support/disk/temporary-folder.ts';
import { endProcesses, startProcess } from '../support/process/signage-process.ts';
import { item } from '../support/service/content.ts';
import { startService } from '../support/service/service.ts';
import { tvPlace } from '../support/service/tv-place.ts';

afterEach(endProcesses);

it('signage tv that is killed is the same TV when it is started again, and nothing is lost or told twice', {
  timeout: 60_000,
}, async () => {
  const service = await startService<Clock>({ clock: systemClock });
  const folder = await temporaryFolder();
  const file = join(folder, 'killed.json');
  const campaignId = '00000000-0000-4000-8000-0000000000ca';
  const { code, devices, events } = await tvPlace(service, [item({ duration: 2, campaignId })]);
  const told: { what: string; event?: object; received?: number }[] = [];
  const start = (...more: string[]) => {
    const argv = ['bin/signage.js', 'tv', '--state', file, '-o', 'ndjson', '--speed', '20'];
    const env = { XDG_CONFIG_HOME: folder, SIGNAGE_URL: service.url };
    return startProcess([...argv, ...more], { env });
  };
  const hear = ({ out }: ReturnType<typeof start>) => {
    for (const line of out().split('\n').slice(0, -1)) told.push(JSON.parse(line));
  };
  let tv = start('--code', code);
  for (let life = 0; life < 3; life++) {
    // In the middle of whatever it does; the state that is on the disk is whole.
    await tv.until(/"type":"impression"/);
    tv.signal('SIGKILL');
    expect(await tv.ended).toBeNull();
    expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({
      format: 1,
      tv: { binding: {} },
    });
    hear(tv);
    tv = start();
  }
  await tv.until(/"what":"acknowledged"/);
  tv.signal('SIGINT');
  expect(await tv.ended).toBe(130);
  hear(tv);
  expect(await devices()).toHaveLength(1);
  const stored: { type: string }[] = await events();
  expect(stored.filter(({ type }) => type === 'app_started')).toHaveLength(4);
  // Each event at most once; those that are missing were never saved, and never acknowledged.
  const acknowledged = told.filter(({ what }) => what === 'acknowledged');
  expect(stored.length).toBeGreaterThanOrEqual(
    acknowledged.reduce((sum, { received = 0 }) => sum + received, 0),
  );
  const kinds = stored.map((event) => JSON.stringify(event));
  const made = told.flatMap(({ what, event }) =>
    what === 'event' && event ? [JSON.stringify(event)] : [],
  );
  for (const kind of new Set(kinds)) {
    expect(kinds.filter((one) => one === kind).length).toBeLessThanOrEqual(
      made.filter((one) => one === kind).length,
    );
  }
});
