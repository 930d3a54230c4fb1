// After a gap, a revocation may be among the lost changes.
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openStore } from '../../../../src/store/location/open.ts';
import type { Store } from '../../../../src/store/store.ts';
import { temporaryFolder } from '../../../support/disk/temporary-folder.ts';
import { ManualClock } from '../../../support/runtime/manual-clock.ts';
import { inStore } from '../../../support/service/in-store.ts';
import { guid } from '../../sample-batch.ts';
import { codeRow, deviceKeyRow, tokenRow, venueRow } from '../../sample-rows.ts';
import { filesIn } from '../damages.ts';
import { copyOf } from '../store-folder.ts';
import { repairedCopy } from './repaired-copy.ts';

const later = Date.UTC(2100, 0, 1);
const code = (number: number) => codeRow(number, { state: 'pending', expiresAt: later });

/**
 * A folder after a crash. The checkpoint has the keys, tokens and codes 1 and 2. The journal
 * changes a venue, and writes those of number 2 again.
 */
async function crashed(clock: ManualClock): Promise<string> {
  const folder = await temporaryFolder();
  const all = (number: number) =>
    inStore(folder, (store) =>
      store.write(async (tx) => {
        await tx.put('deviceKeys', deviceKeyRow(number));
        await tx.put('tokens', tokenRow(number, { bootstrap: number === 1 }));
        await tx.put('codes', code(number));
      }),
    );
  await all(1);
  await all(2);
  const store = await openStore(folder, { clock });
  await store.write((tx) => tx.put('venues', venueRow(1, { name: 'Odd venue' })));
  await store.write(async (tx) => {
    await tx.put('deviceKeys', deviceKeyRow(2, { firstUsedAt: 5 }));
    await tx.put('tokens', tokenRow(2, { name: 'Renamed' }));
    await tx.put('codes', code(2));
  });
  const copy = await copyOf(folder);
  await store.close();
  return copy;
}

async function losingChange(folder: string): Promise<void> {
  const segment = (await filesIn(folder)).findLast((file) => file.startsWith('journal')) ?? '';
  const text = await readFile(join(folder, segment), 'utf8');
  await writeFile(join(folder, segment), text.replace('Odd venue', 'Old venue'));
}

const credentialsIn = (folder: string, clock: ManualClock) =>
  inStore(
    folder,
    async ({ read }) => {
      const states = [1, 2].map(async (number) => [
        (await read.get('deviceKeys', deviceKeyRow(number).id))?.state,
        (await read.get('tokens', guid('toke', number)))?.expiresAt,
        (await read.get('codes', code(number).id))?.state,
      ]);
      return Promise.all(states);
    },
    { clock },
  );

it('a repair revokes the credentials that a lost change may have revoked, and lists them', async () => {
  const clock = new ManualClock();
  const folder = await crashed(clock);
  await losingChange(folder);
  const { into, findings } = await repairedCopy(folder, clock);
  const revoked = findings.filter(({ level }) => level === 'revoked');
  expect(revoked.map(({ section }) => section)).toEqual(['deviceKeys', 'tokens', 'codes']);
  expect(revoked[0]?.what).toContain(guid('devi', 1));
  expect(revoked[1]?.what).toContain(guid('toke', 1));
  expect(await credentialsIn(into, clock)).toEqual([
    ['revoked', clock.now(), 'cancelled'],
    ['active', null, 'pending'],
  ]);
  // A start with the same SIGNAGE_ADMIN_TOKEN may make it valid again.
  const tokenIn = async ({ read }: Store) => read.get('tokens', guid('toke', 1));
  const token = await inStore(into, tokenIn, { clock });
  expect(token?.bootstrap).toBe(false);
});

it('a repair keeps them with keepUnproved', async () => {
  const clock = new ManualClock();
  const folder = await crashed(clock);
  await losingChange(folder);
  const { into, findings } = await repairedCopy(folder, clock, { keepUnproved: true });
  expect(findings.filter(({ level }) => level === 'revoked')).toEqual([]);
  expect(findings.reduce((sum, { lost }) => sum + (lost ?? 0), 0)).toBe(1);
  expect(await credentialsIn(into, clock)).toEqual([
    ['active', null, 'pending'],
    ['active', null, 'pending'],
  ]);
});

it('a repair revokes nothing if no change is lost', async () => {
  const clock = new ManualClock();
  const folder = await crashed(clock);
  for (const name of ['manifest.json', 'manifest.copy.json']) await rm(join(folder, name));
  const { into, findings } = await repairedCopy(folder, clock);
  expect(findings.filter(({ level }) => level === 'revoked')).toEqual([]);
  expect(findings.filter(({ level }) => level === 'damage').map(({ file }) => file)).toEqual([
    'manifest.json',
  ]);
  expect(await credentialsIn(into, clock)).toEqual([
    ['active', null, 'pending'],
    ['active', null, 'pending'],
  ]);
});

it('a repair revokes a key whose line is lost, and of which the journal has only an old version', async () => {
  const clock = new ManualClock();
  const folder = await temporaryFolder();
  const store = await openStore(folder, { clock });
  await store.write((tx) => tx.put('deviceKeys', deviceKeyRow(1)));
  await store.write((tx) =>
    tx.put('deviceKeys', deviceKeyRow(1, { state: 'revoked', revokedAt: 7 })),
  );
  await store.close();
  const files = await filesIn(folder);
  await rm(join(folder, files.find((file) => file.startsWith('documents/rows-screens')) ?? ''));
  const segment = files.find((file) => file.startsWith('journal')) ?? '';
  const [first] = (await readFile(join(folder, segment), 'utf8')).split('\n');
  await writeFile(join(folder, segment), `${first}\n`);
  const { into, findings } = await repairedCopy(folder, clock);
  expect(findings.at(-1)).toMatchObject({ level: 'revoked', section: 'deviceKeys' });
  const keyIn = async ({ read }: Store) => read.get('deviceKeys', deviceKeyRow(1).id);
  const key = await inStore(into, keyIn);
  expect(key?.state).toBe('revoked');
});

it('a repair revokes a key whose document is an older copy, which may lack the revocation', async () => {
  const clock = new ManualClock();
  const folder = await temporaryFolder();
  const change = (write: Parameters<Store['write']>[0]) =>
    inStore(folder, (store) => store.write(write));
  const document = async () => {
    const files = await filesIn(folder);
    return join(folder, files.find((file) => file.startsWith('documents/rows-screens')) ?? '');
  };
  await change((tx) => tx.put('deviceKeys', deviceKeyRow(1)));
  const older = await readFile(await document());
  await change((tx) => tx.put('deviceKeys', deviceKeyRow(1, { state: 'revoked', revokedAt: 7 })));
  await change((tx) => tx.put('venues', venueRow(1)));
  await writeFile(await document(), older);
  const { findings } = await repairedCopy(folder, clock);
  expect(findings).toEqual([
    expect.objectContaining({ level: 'damage', lost: null }),
    expect.objectContaining({ level: 'revoked', section: 'deviceKeys' }),
  ]);
});
