// A service that seals statements of the campaign `summer`, and a TV that plays it.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Clock } from '../../../src/domain/clock.ts';
import { campaignIdOf } from '../../../src/domain/playlists/campaign.ts';
import { headHash, readHead } from '../../../src/domain/statements/head.ts';
import {
  openNote,
  readVerifierKey,
  signingKeyText,
} from '../../../src/domain/statements/signed-note.ts';
import type { StatementList } from '../../../src/domain/statements/statement.ts';
import { verifyChain, verifyRows } from '../../../src/domain/statements/verify.ts';
import type { ServeOptions } from '../../../src/serve/serve-options.ts';
import type { serve } from '../../../src/serve.ts';
import { temporaryFolder } from '../disk/temporary-folder.ts';
import type { ManualClock } from '../runtime/manual-clock.ts';
import { impression, type Manager, manager } from '../service/management.ts';
import { type BoundTv, startService, type TestService } from '../service/service.ts';
import { serveBelieving } from '../stores/believed-clock.ts';

export async function keyFile(seed = 7): Promise<string> {
  const path = join(await temporaryFolder(), 'statement.key');
  await writeFile(path, `${signingKeyText('ads.example.com', Buffer.alloc(32, seed))}\n`);
  return path;
}

export async function listed(admin: Pick<Manager, 'get'>): Promise<StatementList> {
  const answer = await admin.get('/v1/statements?limit=200');
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

/** Verifies all statements as a buyer does. Returns their heads. */
export async function verified(admin: Pick<Manager, 'get'>) {
  const { items, logs } = await listed(admin);
  const heads = [];
  for (const { id, note } of items) {
    const keys = (logs[0]?.keys ?? []).map((key) => readVerifierKey(key));
    const text = keys.map((key) => key && openNote(Buffer.from(note), key)).find(Boolean) ?? '';
    const head = readHead(text);
    const rows = await admin.get(`/v1/statements/rows?id=${encodeURIComponent(id)}`);
    const lines = Buffer.from(rows.text).toString('latin1').split('\n').slice(0, -1);
    expect(await verifyRows(lines, head)).toBeUndefined();
    heads.push({ head, hash: headHash(text), rows: lines.map((line) => JSON.parse(line)) });
  }
  expect([...verifyChain(heads).values()]).toEqual([]);
  return heads;
}

export interface Seller<C extends Clock = ManualClock> {
  service: TestService<C>;
  admin: Manager;
  tv: BoundTv;
  campaignId: string;
  /** Reports plays of the campaign, at these times. */
  play(...times: string[]): Promise<void>;
}

/** Starts a seller. Its clock starts at noon of 20 November 2026. */
export async function startSeller<C extends Clock = ManualClock>(
  options: ServeOptions & { clock?: C } = {},
  run: typeof serve = serveBelieving,
): Promise<Seller<C>> {
  const service = await startService<C>({ statementKeyFile: await keyFile(), ...options }, run);
  const admin = manager(service);
  const tv = await service.tv();
  const campaignId = campaignIdOf(tv.tenantId, 'summer');
  return {
    service,
    admin,
    tv,
    campaignId,
    async play(...times) {
      const body = times.map((time) =>
        impression({
          campaignId,
          timestamp: Date.parse(time) / 1000,
          duration: 10,
          plannedDuration: 10,
        }),
      );
      const { status, text } = await tv.send('POST', 'events', { body });
      expect(status, text).toBe(202);
    },
  };
}
