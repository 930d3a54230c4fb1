// Names with invisible characters, and such names stored by earlier versions.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openStore } from '../../../src/store/open.ts';
import { expectInvalid, expectProblem, type Manager, manager } from '../../support/management.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { mounted } from '../../support/mounted.ts';
import { adminToken, startService } from '../../support/service.ts';

const invisible = [
  ...[
    '\u00ad',
    '\u061c',
    '\u200b',
    '\u200e',
    '\u200f',
    '\u2028',
    '\u2029',
    '\u202a',
    '\u202b',
    '\u202c',
    '\u202d',
    '\u202e',
  ],
  ...['\u2060', '\u2064', '\u2066', '\u2067', '\u2068', '\u2069', '\u206f', '\ufeff'],
];

describe('a name with an invisible character', () => {
  let admin: Manager;
  let venueId: string;
  beforeAll(async () => {
    admin = manager(await startService());
    venueId = (await admin.venue('Here')).id;
  });

  it.each(invisible)(
    '400 for %j, in the name of a tenant, a token, a venue, a screen',
    async (character) => {
      const name = `Lob${character}by`;
      expectInvalid(await admin.post('/v1/tenants', { name }), '/name');
      expectInvalid(await admin.post('/v1/tokens', { name, role: 'viewer' }), '/name');
      expectInvalid(await admin.post('/v1/venues', { name }), '/name');
      expectInvalid(await admin.post('/v1/screens', { venueId, name }), '/name');
      expectInvalid(await admin.patch(`/v1/venues/${venueId}`, { name }), '/name');
      expect((await admin.get('/v1/venues')).body.items).toHaveLength(1);
    },
  );

  it.each(['क्\u200dष', 'می\u200cخواهم', '👩\u200d👧', '⭐\ufe0f'])(
    '201 for %j, which scripts and emoji need',
    async (name) => {
      expect((await admin.post('/v1/venues', { name })).body.name).toBe(name);
    },
  );
});

describe('a name stored by an earlier version', () => {
  const old = 'Lob\u200bby\u202e';
  let store: Awaited<ReturnType<typeof openStore>>;
  let service: Awaited<ReturnType<typeof mounted>>;
  let path: string;
  beforeAll(async () => {
    const clock = new ManualClock();
    store = await openStore('memory:', { clock });
    service = await mounted({ store, clock });
    const { id } = await service.manage('POST', '/v1/venues', { name: 'Lobby' });
    path = `/v1/venues/${id}`;
    await store.write(async (tx) => {
      const venue = await tx.get('venues', id);
      if (venue) await tx.put('venues', { ...venue, name: old });
    });
  });
  afterAll(() => store.close());
  const send = (method: string, at: string, body?: unknown) =>
    service.send(method, at, { key: adminToken, body });

  it('is returned, and found by its name and a part of it', async () => {
    expect((await send('GET', path)).body.name).toBe(old);
    for (const query of [
      `name=${encodeURIComponent(old)}`,
      `search=${encodeURIComponent('b\u200bb')}`,
    ]) {
      expect((await send('GET', `/v1/venues?${query}`)).body.items).toMatchObject([{ name: old }]);
    }
  });

  it('stays when other members are patched, and stays taken', async () => {
    expect((await send('PATCH', path, { address: 'Here 1' })).body).toMatchObject({
      name: old,
      address: 'Here 1',
    });
    const again = await send('PATCH', path, { name: old });
    expect(again.status).toBe(400);
    expect((await send('PATCH', path, { name: 'Lobby 2' })).body.name).toBe('Lobby 2');
    expectProblem(await send('POST', '/v1/venues', { name: 'lobby 2' }), 'name_taken');
  });
});
