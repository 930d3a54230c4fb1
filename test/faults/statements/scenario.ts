import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { inflateRawSync } from 'node:zlib';
import { systemClock } from '../../../src/domain/clock.ts';
import { headHash, readHead } from '../../../src/domain/statements/head.ts';
import { openNote, readVerifierKey } from '../../../src/domain/statements/signed-note.ts';
import { verifyChain, verifyRows } from '../../../src/domain/statements/verify.ts';
import { openStore } from '../../../src/store/location/open.ts';
import { checkout, startProcess } from '../../support/process/signage-process.ts';
import { keyFile, startSeller } from '../../support/statements/seller.ts';

/** Seals what is due on a store, as the instance that watches does, until it is killed. */
const sealer = (store: string, key: string) => `
  import { readFile } from 'node:fs/promises';
  import { randomBytes } from 'node:crypto';
  import { openStore } from ${JSON.stringify(`${checkout}dist/store/location/open.js`)};
  import { startSealing } from ${JSON.stringify(`${checkout}dist/service/statements/sealing.js`)};
  import { makeIdSource } from ${JSON.stringify(`${checkout}dist/domain/id.js`)};
  import { systemClock } from ${JSON.stringify(`${checkout}dist/domain/clock.js`)};
  const store = await openStore(${JSON.stringify(store)});
  const clock = { now: () => store.now(), after: systemClock.after };
  const newId = makeIdSource(clock, randomBytes);
  const deps = { store, clock, random: randomBytes, newId };
  const readKey = () => readFile(${JSON.stringify(key)}, 'utf8');
  const say = (fields, text) => console.log('problem', text, String(fields.err?.stack ?? fields.problem));
  startSealing(deps, { readKey, retentionDays: 90 }, { debug() {}, info() {}, warn: say, error: say });
  console.log('ready');
`;

interface Sealed {
  /** Notes by the ids of their heads. */
  notes: Map<string, string>;
  /** What is wrong with the chains, the rows and the numbers. */
  wrong: string[];
}

/** Reads all heads and rows of a store whose service is stopped. */
async function readSealed(place: string): Promise<Sealed> {
  const store = await openStore(place, { clock: systemClock });
  const notes = new Map<string, string>();
  const wrong: string[] = [];
  try {
    for (const log of (await store.list('statementLogs', { limit: 200 })).items) {
      const key = readVerifierKey(log.keys[0] ?? '');
      const heads = [];
      for (const { id, text: note } of await store.read.select('statements', 'owner', [log.id])) {
        notes.set(id, note);
        const text = key && openNote(Buffer.from(note), key);
        if (!text) {
          wrong.push(`${id} is not signed`);
          continue;
        }
        const head = readHead(text);
        heads.push({ head, hash: headHash(text) });
        if (head.plays === '0') continue;
        const parts = await store.read.select('statements', 'owner', [id.replace('/', '.')]);
        const rows = parts.map((part) => inflateRawSync(Buffer.from(part.text, 'base64')));
        const lines = Buffer.concat(rows).toString('latin1').split('\n').slice(0, -1);
        const fault = await verifyRows(lines, head);
        if (fault !== undefined) wrong.push(`${id}: ${fault}`);
      }
      wrong.push(...verifyChain(heads).values());
      if (log.number !== heads.length) wrong.push(`${log.number} sealed, ${heads.length} stored`);
    }
  } finally {
    await store.close();
  }
  return { notes, wrong };
}

/** Fills a store with plays of past days, and starts the statements of two campaigns. */
async function fill(store: string, statementKeyFile: string): Promise<void> {
  const seller = await startSeller({ store, statementKeyFile, clock: systemClock }, undefined);
  const days = Array.from({ length: 40 }, (_, day) =>
    new Date(Date.UTC(2010, 0, 1 + day, 12)).toISOString(),
  );
  for (let count = 0; count < 5; count++) await seller.play(...days);
  for (const campaign of ['summer', 'winter'])
    await seller.admin.send('POST', '/v1/statements', {
      body: { campaign, from: '2010-01-01', settleHours: 0 },
    });
  await seller.service.close();
}

export interface SealReport {
  kills: number;
  /** Heads that were sealed. */
  sealed: number;
  /** Kills after which more was sealed than before. */
  moved: number;
  wrong: string[];
}

/**
 * Kills processes that seal, at random moments. After each kill, no head that was seen may be
 * missing or another one, and the chain must be whole.
 */
export async function killSealers(
  store: string,
  { kills, atOnce = 1 }: { kills: number; atOnce?: number },
): Promise<SealReport> {
  const key = await keyFile();
  await fill(store, key);
  const wrong: string[] = [];
  let known = new Map<string, string>();
  let moved = 0;
  let kill = 0;
  // On a slow machine, most sealers are killed before they have sealed anything.
  for (; kill < kills || (moved < 2 && kill < 10 * kills); kill++) {
    const sealers = Array.from({ length: atOnce }, () =>
      startProcess(['--input-type=module', '-e', sealer(store, key)]),
    );
    await Promise.all(sealers.map(({ until }) => until(/ready/)));
    await sleep(randomInt(300));
    for (const { signal } of sealers) signal('SIGKILL');
    for (const { ended, out } of sealers) {
      await ended;
      const problem = /problem.*/.exec(out())?.[0];
      if (problem !== undefined) wrong.push(problem);
    }
    const now = await readSealed(store);
    wrong.push(...now.wrong);
    for (const [id, note] of known)
      if (now.notes.get(id) !== note) wrong.push(`${id} is another head after kill ${kill}`);
    if (now.notes.size > known.size) moved++;
    known = now.notes;
  }
  return { kills: kill, sealed: known.size, moved, wrong };
}
