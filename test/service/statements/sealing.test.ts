import { readFile, rename, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { dayMs, hourMs, minuteMs } from '../../../src/domain/clock.ts';
import { SignageError } from '../../../src/domain/error.ts';
import { serve, serveOn } from '../../../src/serve.ts';
import { decorateStore } from '../../../src/service/store-decorator.ts';
import { openStore } from '../../../src/store/location/open.ts';
import type { Store } from '../../../src/store/store.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { expectInvalid, expectProblem, impression } from '../../support/service/management.ts';
import { startService } from '../../support/service/service.ts';
import {
  keyFile,
  listed,
  type Seller,
  startSeller,
  verified,
} from '../../support/statements/seller.ts';
import { believeClock } from '../../support/stores/believed-clock.ts';

const startIt = ({ admin }: Pick<Seller, 'admin'>, more: object = {}) =>
  admin.send('POST', '/v1/statements', { body: { campaign: 'summer', ...more } });

/** Moves the clock at once. */
function skip({ service: { clock } }: Pick<Seller, 'service'>, ms: number): void {
  clock.set(clock.now() + ms);
}

/** Moves the clock by minutes until so many statements are sealed. */
async function sealed({ service, admin }: Pick<Seller, 'service' | 'admin'>, count: number) {
  await expect
    .poll(async () => {
      service.clock.advance(minuteMs);
      return (await listed(admin)).items.length;
    })
    .toBe(count);
  return verified(admin);
}

/** Lets minutes pass, so that a job that would seal could. */
async function passMinutes({ service, admin }: Pick<Seller, 'service' | 'admin'>) {
  for (let minute = 0; minute < 10; minute++) {
    service.clock.advance(minuteMs);
    await listed(admin);
  }
}

describe('the sealing of statements', () => {
  it('says who has booked the campaign, what was planned, and what was lost', async () => {
    const seller = await startSeller();
    const { admin, service, tv } = seller;
    await admin.put('/v1/campaigns/summer', { client: 'Ice & "Co."' });
    const item = {
      creativeId: '0c000000-0000-4000-8000-000000000001',
      creativeUrl: 'https://media.example.com/a.png',
      creativeType: 'image',
      duration: 10,
    };
    const items = [{ ...item, campaign: 'summer' }, item];
    await admin.put(`/v1/screens/${tv.screenId}/playlist`, { items });
    await startIt(seller, { settleHours: 0, to: '2026-11-21' });
    service.clock.advance(hourMs);
    await seller.play('2026-11-20T12:30:00Z');
    const beat = { type: 'heartbeat', timestamp: Date.parse('2026-11-20T12:40:00Z') / 1000 };
    await tv.send('POST', 'events', { body: [{ ...beat, seq: 4 }] });
    skip(seller, dayMs);
    const [one] = await sealed(seller, 1);
    // Half of the loop, from noon to midnight.
    expect(one?.head).toMatchObject({ 'planned-seconds': String(6 * 3600), unattributed: '3' });
    expect(JSON.parse(one?.head.client ?? '')).toBe('Ice & "Co."');
  });

  it('seals each day once, three days after its end, with its plays only', async () => {
    const seller = await startSeller();
    expect((await startIt(seller)).body).toMatchObject({
      campaignId: seller.campaignId,
      settleHours: 72,
      nextDay: '2026-11-20',
      number: 0,
      problem: null,
    });
    await seller.play('2026-11-20T12:00:00Z', '2026-11-19T12:00:00Z', '2026-11-20T12:00:10Z');
    const other = impression({ timestamp: Date.parse('2026-11-20T12:00:00Z') / 1000 });
    await seller.tv.send('POST', 'events', { body: [other] });
    // The day ends last in UTC-12, at noon.
    skip(seller, dayMs * 4 - 20 * minuteMs);
    await passMinutes(seller);
    expect((await listed(seller.admin)).items).toEqual([]);
    const [one] = await sealed(seller, 1);
    expect(one?.head).toMatchObject({
      issuer: 'ads.example.com',
      tenant: seller.tv.tenantId,
      campaign: seller.campaignId,
      day: '2026-11-20',
      'time-zone': 'venue',
      number: '1',
      kind: 'day',
      plays: '2',
      'full-plays': '2',
      seconds: '20',
      late: '0',
      basis: 'device-reported',
      previous: 'none',
    });
    expect(one?.head).not.toHaveProperty('incomplete');
    expect(one?.head).not.toHaveProperty('client');
    expect(one?.rows[0]).toMatchObject({
      start: '2026-11-20T11:59:50.000Z',
      screenId: seller.tv.screenId,
    });
    await passMinutes(seller);
    expect((await listed(seller.admin)).items).toHaveLength(1);
    skip(seller, dayMs);
    const [, two] = await sealed(seller, 2);
    expect(two?.head).toMatchObject({ day: '2026-11-21', number: '2', plays: '0' });
  });

  it('seals plays that came too late as an amendment, and changes no sealed number', async () => {
    const seller = await startSeller();
    await startIt(seller);
    await seller.play('2026-11-20T12:00:00Z');
    skip(seller, dayMs * 4);
    const [before] = await sealed(seller, 1);
    await seller.play('2026-11-20T13:00:00Z', '2026-11-21T09:00:00Z');
    skip(seller, dayMs);
    const [first, second, third] = await sealed(seller, 3);
    expect(first).toEqual(before);
    expect(second?.head).toMatchObject({
      day: '2026-11-20',
      kind: 'amendment',
      plays: '1',
      late: '1',
    });
    expect(third?.head).toMatchObject({ day: '2026-11-21', kind: 'day', plays: '1' });
    skip(seller, dayMs);
    expect(await sealed(seller, 4)).toHaveLength(4);
  });

  it('leaves simulated TVs out, and ends with the day before to', async () => {
    const seller = await startSeller();
    await startIt(seller, { to: '2026-11-21' });
    const { id: screenId } = await seller.service.screen();
    const made = await seller.admin.send('POST', '/v1/devices/provisioning-codes', {
      body: { screenId, simulated: true },
    });
    const { body: tv } = await seller.service.register(made.body.code);
    const body = [impression({ campaignId: seller.campaignId, timestamp: 1_795_176_000 })];
    await seller.service.send('POST', `/devices/${screenId}/events`, { key: tv.apiKey, body });
    skip(seller, dayMs * 10);
    const [one] = await sealed(seller, 1);
    expect(one?.head.plays).toBe('0');
    await passMinutes(seller);
    expect((await listed(seller.admin)).items).toHaveLength(1);
  });

  it('says that plays may be missing when retention came before the sealing', async () => {
    const file = await keyFile();
    const seller = await startSeller({
      retentionDays: 5,
      store: await temporaryFolder(),
      statementKeyFile: file,
    });
    await startIt(seller);
    await seller.play('2026-11-20T12:00:00Z');
    await rename(file, `${file}.away`);
    skip(seller, 8 * dayMs);
    await expect
      .poll(async () => {
        seller.service.clock.advance(minuteMs);
        return (await seller.admin.get('/v1/events')).body.items.length;
      })
      .toBe(0);
    await rename(`${file}.away`, file);
    const [one] = await sealed(seller, 5);
    expect(one?.head).toMatchObject({ plays: '0', incomplete: 'plays may be missing' });
  });

  it('keeps rows as long as events, and heads for ever', async () => {
    const seller = await startSeller({ retentionDays: 6, store: await temporaryFolder() });
    await startIt(seller, { to: '2026-11-21' });
    await seller.play('2026-11-20T12:00:00Z');
    skip(seller, dayMs * 4);
    await sealed(seller, 1);
    const rows = async () => {
      seller.service.clock.advance(minuteMs);
      const [one] = (await listed(seller.admin)).items;
      return seller.admin.get(`/v1/statements/rows?id=${encodeURIComponent(one?.id ?? '')}`);
    };
    skip(seller, 5 * dayMs);
    expect((await rows()).status).toBe(200);
    skip(seller, 2 * dayMs);
    await expect.poll(async () => (await rows()).status).toBe(404);
    expectProblem(await rows(), 'statement_not_found');
  });

  it('does not believe a clock that has jumped, and seals nothing twice when it is set back', async () => {
    const seller = await startSeller({}, serve);
    await startIt(seller);
    await seller.play('2026-11-20T12:00:00Z');
    skip(seller, 30 * dayMs);
    await passMinutes(seller);
    expect((await listed(seller.admin)).items).toEqual([]);
    const steady = await startSeller();
    await startIt(steady);
    await steady.play('2026-11-20T12:00:00Z');
    skip(steady, dayMs * 4);
    const before = await sealed(steady, 1);
    steady.service.clock.set(Date.parse('2026-11-22T00:00:00Z'));
    await passMinutes(steady);
    expect(await verified(steady.admin)).toEqual(before);
    steady.service.clock.set(Date.parse('2026-11-25T13:00:00Z'));
    expect((await sealed(steady, 2))[1]?.head.day).toBe('2026-11-21');
  });

  it('seals nothing on a full disk, and all of it later', async () => {
    let isFull = false;
    const run: typeof serve = (options = {}) =>
      serveOn(async (...given) => {
        const store = await openStore(...given);
        await believeClock(store);
        const write: Store['write'] = async (change) => {
          if (isFull) throw new SignageError('unavailable', 'No space is left on the disk.');
          return store.write(change);
        };
        return decorateStore(store, { write });
      }, options);
    const seller = await startSeller({}, run);
    await startIt(seller);
    await seller.play('2026-11-20T12:00:00Z');
    isFull = true;
    skip(seller, dayMs * 4);
    await passMinutes(seller);
    expect((await listed(seller.admin)).items).toEqual([]);
    isFull = false;
    expect((await sealed(seller, 1))[0]?.head.plays).toBe('1');
  });
});

describe('the key of statements', () => {
  it.each([
    ['absent', (file: string) => rename(file, `${file}.away`), 'cannot be read'],
    ['no key', (file: string) => writeFile(file, 'PRIVATE+KEY+secret'), 'has no statement key'],
    [
      'another one',
      async (file: string) => writeFile(file, await readFile(await keyFile(8))),
      'is another one than before',
    ],
  ])(
    'that is %s stops the sealing, which says so and goes on later',
    async (_, break_, problem) => {
      const statementKeyFile = await keyFile();
      const errors: string[] = [];
      const error = (fields: { problem?: string }) => void errors.push(fields.problem ?? '');
      const log = { debug() {}, info() {}, warn() {}, error };
      const seller = await startSeller({ statementKeyFile, log });
      await startIt(seller);
      const key = await readFile(statementKeyFile);
      await break_(statementKeyFile);
      skip(seller, dayMs * 4);
      await passMinutes(seller);
      const { items, logs } = await listed(seller.admin);
      expect(items).toEqual([]);
      expect(logs[0]?.problem).toContain(problem);
      expect(errors.filter((text) => text.includes(problem))).toHaveLength(1);
      expect(JSON.stringify([logs, errors])).not.toContain('PRIVATE');
      await writeFile(statementKeyFile, key);
      await sealed(seller, 1);
    },
  );

  it('501 for a start without it', async () => {
    const service = await startService();
    const answer = await service.manage('POST', '/v1/statements', { campaign: 'summer' });
    expectProblem(answer, 'not_supported');
    expect(answer.body.detail).toContain('--statement-key-file');
  });

  it('is replaced by another one in a new log', async () => {
    const statementKeyFile = await keyFile();
    const seller = await startSeller({ statementKeyFile });
    await startIt(seller);
    skip(seller, dayMs * 4);
    await sealed(seller, 1);
    await writeFile(statementKeyFile, await readFile(await keyFile(8)));
    const resume = (newLog: string) =>
      seller.admin.send('POST', '/v1/statements/resume', { body: { campaign: 'summer', newLog } });
    expect((await resume('two')).body).toMatchObject({ number: 0, nextDay: '2026-11-21' });
    expectInvalid(await resume('two'), 'newLog');
    skip(seller, dayMs);
    await expect
      .poll(async () => {
        seller.service.clock.advance(minuteMs);
        return (await listed(seller.admin)).items.length;
      })
      .toBe(2);
    const { items, logs } = await listed(seller.admin);
    expect(items.map(({ number, day }) => [number, day])).toEqual([
      [1, '2026-11-20'],
      [1, '2026-11-21'],
    ]);
    const answer = await seller.service.send('GET', `/statement-keys/${seller.tv.tenantId}`);
    expect(answer.text).toBe(logs[0]?.keys.map((key) => `${key}\n`).join(''));
    expect(logs[0]?.keys).toEqual([
      expect.stringContaining(`ads.example.com/${seller.tv.tenantId}+`),
      expect.stringContaining(`ads.example.com/${seller.tv.tenantId}/two+`),
    ]);
  });
});

describe('POST /v1/statements', () => {
  it('400 for a retention that is too short', async () => {
    const seller = await startSeller({ retentionDays: 4 });
    expectInvalid(await startIt(seller), 'settleHours');
    expect((await startIt(seller, { settleHours: 2 * 24 })).status).toBe(200);
  });

  it('changes when a campaign is sealed, and not which days were', async () => {
    const seller = await startSeller();
    await startIt(seller);
    skip(seller, dayMs * 4);
    await sealed(seller, 1);
    const { body } = await startIt(seller, {
      settleHours: 0,
      from: '2026-11-01',
      to: '2026-12-01',
    });
    expect(body).toMatchObject({ settleHours: 0, from: '2026-11-20', to: '2026-12-01', number: 1 });
    await sealed(seller, 4);
    expect(seller.service.clock.now()).toBeLessThan(Date.parse('2026-11-24T12:00:00Z') + hourMs);
  });
});

describe('GET /v1/statements', () => {
  it('200 in pages, of one tenant and campaign', async () => {
    const seller = await startSeller();
    await startIt(seller, { from: '2026-11-12' });
    await startIt(seller, { campaign: 'winter', from: '2026-11-14' });
    await sealed(seller, 8);
    const all = (await listed(seller.admin)).items.map(({ id }) => id);
    const paged: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const query: string = cursor && `&cursor=${encodeURIComponent(cursor)}`;
      const { body } = await seller.admin.get(`/v1/statements?limit=2${query}`);
      expect(body.items.length).toBeLessThanOrEqual(2);
      paged.push(...body.items.map(({ id }: { id: string }) => id));
      cursor = body.nextCursor;
    }
    expect(paged).toEqual(all);
    const winter = (await seller.admin.get('/v1/statements?campaign=winter')).body;
    expect(winter.logs).toHaveLength(1);
    expect(new Set(winter.items.map(({ day }: { day: string }) => day.slice(0, 9)))).toEqual(
      new Set(['2026-11-1']),
    );
    const { body: tenant } = await seller.service.manage('POST', '/v1/tenants', { name: 'Other' });
    const other = seller.admin.in(tenant.id);
    expect((await other.get('/v1/statements')).body).toMatchObject({ items: [], logs: [] });
    const rows = await other.get(`/v1/statements/rows?id=${encodeURIComponent(all[0] ?? '')}`);
    expectProblem(rows, 'statement_not_found');
    expectProblem(
      await seller.service.send('GET', `/statement-keys/${tenant.id}`),
      'statement_not_found',
    );
  });
});
