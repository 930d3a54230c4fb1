// One command pairs 40 TVs that show claims at the same time. The players are ours, without a
// screen, and wait for their offers as TVs do.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ManagementClient } from '../../../src/client/management-client.ts';
import { RuntimeClient } from '../../../src/client/runtime-client.ts';
import { systemClock, systemRandom } from '../../../src/domain/clock.ts';
import { waitForOfferedCode } from '../../../src/player/pairing/claim.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { startProcess } from '../../support/process/signage-process.ts';
import { median } from '../measure.ts';
import { startServed } from '../served.ts';

const token = `mak_${'ClaimOfTv'.repeat(4)}`;
const tvs = 40;
const rounds = 5;

it(`pairs ${tvs} TVs that show claims: by one command, and by one command for each`, async () => {
  const folder = await temporaryFolder();
  const served = await startServed(join(folder, 'data'), token);
  const management = new ManagementClient({ url: served.url, token });
  const anyone = new RuntimeClient({ url: served.url });
  const env = { SIGNAGE_URL: served.url, SIGNAGE_TOKEN: token };

  /** Creates a venue, and a TV that shows a claim for each of its screens. */
  async function showClaims(venueName: string) {
    const { id: venueId } = await management.call('createVenue', { body: { name: venueName } });
    const stop = new AbortController();
    const registered: Promise<string>[] = [];
    const rows: { screen: string; claim: string; screenId: string }[] = [];
    for (let n = 1; n <= tvs; n++) {
      const name = `TV ${n}`;
      const { id } = await management.call('createScreen', { body: { venueId, name } });
      const deviceInfo = { manufacturer: 'Samsung', model: 'QM55C' };
      const claim = await new Promise<string>((onClaim) => {
        const code = waitForOfferedCode({
          client: anyone,
          deviceInfo,
          clock: systemClock,
          random: systemRandom,
          onClaim,
          accept: async () => true,
          signal: stop.signal,
        });
        const register = (pairingCode: string) => anyone.register({ pairingCode, deviceInfo });
        registered.push(code.then(register).then(({ screenId }) => screenId));
      });
      rows.push({ screen: name, claim, screenId: id });
    }
    return { rows, registered };
  }

  async function signage(...argv: readonly string[]): Promise<void> {
    const command = startProcess(['bin/signage.js', 'pair', ...argv, '--yes', '-o', 'ndjson'], {
      env,
    });
    expect(await command.ended, command.err()).toBe(0);
  }

  async function measure(venue: string, pair: (rows: Shown) => Promise<void>): Promise<number> {
    const { rows, registered } = await showClaims(venue);
    const startMs = performance.now();
    await pair(rows);
    const seconds = (performance.now() - startMs) / 1000;
    expect(await Promise.all(registered)).toEqual(rows.map(({ screenId }) => screenId));
    return seconds;
  }
  type Shown = Awaited<ReturnType<typeof showClaims>>['rows'];

  const together: number[] = [];
  for (let round = 1; round <= rounds; round++) {
    const venue = `Together ${round}`;
    together.push(
      await measure(venue, async (rows) => {
        const file = join(folder, `${venue}.csv`);
        const lines = rows.map(({ screen, claim }) => `${screen},${claim}\n`);
        await writeFile(file, `screen,claim\n${lines.join('')}`);
        await signage('--venue', venue, '--claims-file', file, '--wait-for', 'registered');
      }),
    );
  }
  const each = await measure('One by one', async (rows) => {
    for (const { screen, claim } of rows)
      await signage(`One by one/${screen}`, '--tv', claim, '--wait-for', 'registered');
  });
  await served.stop();
  const range = `${Math.min(...together).toFixed(1)}–${Math.max(...together).toFixed(1)}`;
  console.log(
    `${tvs} TVs that show claims, until all have registered: one command ${median(together).toFixed(1)} s (${range} in ${rounds} rounds), one command for each ${each.toFixed(1)} s (bar: 120 s)`,
  );
  expect(Math.max(...together)).toBeLessThan(120);
});
