import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  auditOf,
  expectInvalid,
  expectProblem,
  item,
  type Manager,
  manager,
} from '../../support/service/management.ts';
import { startService, type TestService } from '../../support/service/service.ts';

const path = '/v1/publications';
let service: TestService;
let admin: Manager;
let venueId: string;
/** Two screens of the venue, ordered by id. */
let ids: [string, string];
const [spring, summer] = [[item({ title: 'spring' })], [item({ title: 'summer' })]];

const send = (body: object, key?: string, caller = admin) =>
  caller.send('POST', path, { body, ...(key && { headers: { 'Idempotency-Key': key } }) });
const results = async (body: object, key?: string, caller = admin) => {
  const answer = await send(body, key, caller);
  expect(answer.status, answer.text).toBe(200);
  return answer.body.results;
};
const publish = (items: unknown, more: object = {}) =>
  results({ screenIds: ids, action: 'publish', items, ...more });
const rollback = (more: object = {}, key?: string) =>
  results({ screenIds: ids, action: 'rollback', ...more }, key);
const on = (version: number | null, changed = true) =>
  ids.map((screenId) => ({ screenId, version, changed, playing: version !== null }));
const refused = (code: string) => ids.map((screenId) => ({ screenId, code }));
const current = (id: string = ids[0]) => admin.get(`/v1/screens/${id}/playlist`);
const seconds = () => Math.floor(service.clock.now() / 1000);

beforeAll(async () => {
  service = await startService();
  admin = manager(service);
});
beforeEach(async () => {
  venueId = (await service.venue()).id;
  const made = [await service.screen({ venueId }), await service.screen({ venueId })];
  ids = made.map(({ id }) => id).sort() as typeof ids;
});

describe('POST /v1/publications', () => {
  it('200 publishes on all screens; the same content again changes nothing', async () => {
    expect(await publish(spring)).toEqual(on(1));
    expect(await publish(spring)).toEqual(on(1, false));
    expect(await publish(spring, { validUntil: seconds() + 60 })).toEqual(on(2));
    for (const id of ids)
      expect((await current(id)).body).toMatchObject({
        screenId: id,
        version: 2,
        items: spring,
        validUntil: seconds() + 60,
      });
  });

  it('200 withdraws, also where there is no playlist', async () => {
    await admin.put(`/v1/screens/${ids[0]}/playlist`, { items: spring });
    const body = { screenIds: ids, action: 'withdraw' };
    expect(await results(body)).toEqual([
      { screenId: ids[0], version: null, changed: true, playing: false },
      { screenId: ids[1], version: null, changed: false, playing: false },
    ]);
    expectProblem(await current(), 'playlist_not_found');
  });

  it('200 rolls back to the previous version, and to a numbered one', async () => {
    await publish(spring);
    await publish(summer);
    expect(await rollback()).toEqual(on(3));
    expect((await current()).body.items).toEqual(spring);
    expect(await rollback()).toEqual(refused('not_repeatable'));
    expect(await rollback({ to: 2 })).toEqual(on(4));
    expect((await current()).body.items).toEqual(summer);
    expect(await rollback({ to: 4 })).toEqual(on(4, false));
    expect(await rollback({ to: 4, validUntil: seconds() + 60 })).toEqual(on(5));
    expect(await rollback({ to: 5, validUntil: null })).toEqual(on(6));
    expect((await current()).body.validUntil).toBeNull();
  });

  it('reports where there is no earlier version, none to go back to, or an expired one', async () => {
    expect(await rollback()).toEqual(refused('playlist_not_found'));
    await publish(spring, { validUntil: seconds() + 60 });
    expect(await rollback()).toEqual(refused('playlist_not_found'));
    expect(await rollback({ to: 9 })).toEqual(refused('playlist_not_found'));
    await publish(summer);
    service.clock.advance(60_000);
    expect(await rollback()).toEqual(refused('invalid_request'));
    expect(await rollback({ validUntil: null })).toEqual(on(3));
    await results({ screenIds: ids, action: 'withdraw' });
    expect(await rollback()).toEqual(refused('playlist_not_found'));
    expect(await rollback({ to: 2 })).toEqual(on(4));
  });

  it('rolls back after more versions than are kept', async () => {
    for (let n = 1; n <= 22; n++) await publish([item({ n })]);
    expect(await rollback({ to: 2 })).toEqual(refused('playlist_not_found'));
    expect(await rollback({ to: 3 })).toEqual(on(23));
    expect((await current()).body.items[0].n).toBe(3);
  });

  it('changes only screens with the version of ifVersions', async () => {
    await admin.put(`/v1/screens/${ids[0]}/playlist`, { items: spring });
    const ifVersions = { [ids[0]]: null, [ids[1]]: null };
    expect(await publish(summer, { ifVersions })).toEqual([
      { screenId: ids[0], code: 'precondition_failed' },
      { screenId: ids[1], version: 1, changed: true, playing: true },
    ]);
    expect(await publish(summer, { ifVersions: { [ids[0].toUpperCase()]: 1 } })).toEqual([
      { screenId: ids[0], version: 2, changed: true, playing: true },
      { screenId: ids[1], version: 1, changed: false, playing: true },
    ]);
    await results({ screenIds: ids, action: 'withdraw' });
    expect(await publish(summer, { ifVersions: { [ids[0]]: null } })).toEqual([
      { screenId: ids[0], version: 3, changed: true, playing: true },
      { screenId: ids[1], version: 2, changed: true, playing: true },
    ]);
  });

  it('sets takeovers only on screens with the takeover of ifTakeovers', async () => {
    const until = seconds() + 3600;
    const take = async (ifTakeovers: object) =>
      (
        await results({ screenIds: ids, action: 'takeover', items: spring, until, ifTakeovers })
      ).map(({ code }: { code?: string }) => code);
    const etagOf = async (id: string) =>
      (await admin.get(`/v1/screens/${id}/takeover`)).headers.get('etag');
    await admin.put(`/v1/screens/${ids[0]}/takeover`, { items: summer, until });
    const theirs = await etagOf(ids[0]);
    const refused = 'precondition_failed';
    expect(await take({ [ids[0]]: null, [ids[1]]: '"another"' })).toEqual([refused, refused]);
    expect(await etagOf(ids[0])).toBe(theirs);
    expect(await take({ [ids[0]]: theirs, [ids[1]]: null })).toEqual([undefined, undefined]);
    expect(await take({ [ids[0]]: theirs })).toEqual([refused, undefined]);
  });

  it('takes the version of what TVs get for ifVersions, until the playlist below changes', async () => {
    const [id] = ids;
    const tv = await service.tv(id);
    await publish(spring);
    const until = seconds() + 3600;
    await admin.put(`/v1/screens/${id}/takeover`, { items: [item({ n: 9 })], until });
    await tv.send('GET', 'playlist');
    const { body } = await admin.get('/v1/status');
    const shown = body.items.find((one: { screen: { id: string } }) => one.screen.id === id)
      .playlist.version;
    expect(shown).toBe(2);
    const screenIds = [id];
    const ifVersions = { [id]: shown };
    const on = (version: number) => ({ screenId: id, version, changed: true, playing: false });
    const refused = [{ screenId: id, code: 'precondition_failed' }];
    expect(await publish(summer, { screenIds, ifVersions: { [id]: shown + 1 } })).toEqual(refused);
    expect(await publish(summer, { screenIds, ifVersions })).toEqual([on(3)]);
    expect(await publish(spring, { screenIds, ifVersions })).toEqual(refused);
    await results({ screenIds, action: 'withdraw' });
    expect(await publish(spring, { screenIds, ifVersions: { [id]: 3 } })).toEqual(refused);
  });

  it('selects the screens of a venue, and those with labels', async () => {
    const bar = await service.screen({ venueId, labels: { role: 'bar' } });
    const body = { action: 'publish', items: spring };
    const changed = async (selection: object) =>
      (await results({ ...body, ...selection })).map((one: { screenId: string }) => one.screenId);
    expect(await changed({ selector: 'role=bar' })).toEqual([bar.id]);
    expect(await changed({ venueId, selector: '!role' })).toEqual(ids);
    expect(await changed({ venueId })).toEqual([...ids, bar.id].sort());
    expect(await changed({ selector: ['role=bar', '!role'] })).toEqual([]);
    expectProblem(await send({ ...body, venueId: randomUUID() }), 'venue_not_found');
  });

  it('takes up to 1,000 screens, and goes on with nextCursor', async () => {
    const many = await service.venue();
    const made = await Promise.all(
      Array.from({ length: 1003 }, () => service.screen({ venueId: many.id })),
    );
    const expected = made.map(({ id }) => id).sort();
    const body = { venueId: many.id, action: 'publish', items: spring };
    const first = (await send(body)).body;
    expect(first.results).toHaveLength(1000);
    const second = (await send({ ...body, cursor: first.nextCursor })).body;
    expect(second.nextCursor).toBeNull();
    expect([...first.results, ...second.results]).toEqual(
      expected.map((screenId) => ({ screenId, version: 1, changed: true, playing: true })),
    );
    const tooMany = { screenIds: expected.slice(0, 1001), action: 'withdraw' };
    expectInvalid(await send(tooMany), '/screenIds');
  });

  it('leaves one audit entry for each changed screen', async () => {
    await publish(spring);
    const entries = await auditOf(admin, async () => {
      await publish(summer, { screenIds: [ids[0]] });
      await publish(summer);
      await rollback();
    });
    expect(
      entries.map(({ action, subject, details }) => [action, subject.id, details]).sort(),
    ).toEqual(
      [
        ['playlist.publish', ids[0], { version: 2 }],
        ['playlist.publish', ids[1], { version: 2 }],
        ...ids.map((id) => ['playlist.publish', id, { version: 3, from: 1 }]),
      ].sort(),
    );
  });

  it('hides screens of other tenants, outside the venues of the token, and unknown ones', async () => {
    const outside = (await service.screen()).id;
    const body = { screenIds: [...ids, outside], action: 'publish', items: spring };
    const bound = manager(
      service,
      (await admin.newToken({ name: randomUUID(), role: 'operator', venueIds: [venueId] })).token,
    );
    expect(await results(body, undefined, bound)).toEqual([
      ...on(1),
      { screenId: outside, code: 'screen_not_found' },
    ]);
    expectProblem(await current(outside), 'playlist_not_found');
    expect(await results({ ...body, screenIds: [randomUUID()] })).toMatchObject([
      { code: 'screen_not_found' },
    ]);
    const elsewhere = await startService();
    const platform = manager(elsewhere);
    const place = await platform.venue('Here');
    const own = (await platform.screen(place.id, 'Own')).id;
    const tenant = await platform.tenant('Other');
    const stranger = platform.in(tenant.id);
    expect(await results({ ...body, screenIds: [own] }, undefined, stranger)).toEqual([
      { screenId: own, code: 'screen_not_found' },
    ]);
    expectProblem(
      await send({ ...body, screenIds: undefined, venueId: place.id }, '', stranger),
      'venue_not_found',
    );
    expectProblem(await send(body, '', await admin.as('viewer')), 'insufficient_role');
  });

  it.each<[string, object, string[]]>([
    ['no selection', { screenIds: undefined }, ['/screenIds']],
    ['two selections', { selector: 'role' }, ['/screenIds']],
    ['a cursor of ids', { cursor: randomUUID() }, ['/cursor']],
    ['no ids', { screenIds: [] }, ['/screenIds']],
    ['a malformed id', { screenIds: ['x'] }, ['/screenIds/0']],
    ['no action', { action: 'delete' }, ['/action']],
    ['no items', { items: undefined }, ['/items']],
    ['an end in the past', { validUntil: 1 }, ['/validUntil']],
    ['a version to publish', { to: 1 }, ['/to']],
    ['items to withdraw', { action: 'withdraw' }, ['/items']],
    ['revisions of takeovers to publish', { ifTakeovers: {} }, ['/ifTakeovers']],
    ['a version of another screen', { ifVersions: { [randomUUID()]: 1 } }, ['/ifVersions/…']],
    ['an unknown member', { screens: [] }, ['']],
  ])('400 for %s', async (_, wrong, paths) => {
    const body = { screenIds: ids, action: 'publish', items: spring, ...wrong };
    const answer = await send(body);
    if (paths[0] === '/ifVersions/…')
      expectInvalid(
        answer,
        `/ifVersions/${Object.keys((wrong as typeof body & { ifVersions: object }).ifVersions)[0]}`,
      );
    else if (paths[0] === '') expectProblem(answer, 'invalid_request');
    else expectInvalid(answer, ...paths);
    expectProblem(await current(), 'playlist_not_found');
  });

  it('400 for an id twice, in any case; and for 1,000 times the same', async () => {
    const body = { action: 'publish', items: spring };
    const twice = [ids[0], ids[0].toUpperCase()];
    expectInvalid(await send({ ...body, screenIds: twice }), '/screenIds/1');
    const answer = await send({ ...body, screenIds: Array(1000).fill(ids[0]) });
    expectProblem(answer, 'invalid_request', { truncated: true });
  });

  it('409 and 4xx for nonsense, without a change', async () => {
    const nonsense = 'x'.repeat(1024 * 1024 - 1);
    expectProblem(await admin.send('POST', path, { body: nonsense }), 'invalid_json');
    expectProblem(await admin.send('POST', path, { body: `${nonsense}xx` }), 'body_too_large');
    const parts = {
      screenIds: ids,
      action: 'publish',
      items: [item({ a: Array(50_001).fill([]) })],
    };
    expectInvalid(await send(parts), '');
  });
});

describe('the Idempotency-Key of a publication', () => {
  it('a repeat changes nothing, and has the same outcomes with the versions of now', async () => {
    await publish(spring);
    await publish(summer);
    const key = randomUUID();
    const body = {
      screenIds: [...ids, randomUUID()],
      action: 'rollback',
      ifVersions: { [ids[1]]: 7 },
    };
    const first = await results(body, key);
    expect(first).toMatchObject([
      { version: 3, changed: true, playing: true },
      { code: 'precondition_failed' },
      { code: 'screen_not_found' },
    ]);
    expect(await results(body, key)).toEqual(first);
    await publish([item()]);
    expect(await results(body, key)).toEqual([{ ...first[0], version: 4 }, first[1], first[2]]);
    const gone = await service.screen();
    const withdrawal = { screenIds: [gone.id], action: 'withdraw' };
    const other = randomUUID();
    await results(withdrawal, other);
    await admin.delete(`/v1/screens/${gone.id}`);
    expect(await results(withdrawal, other)).toMatchObject([{ code: 'screen_not_found' }]);
  });

  it('a repeat says of no screen that it was changed if the venue has another one now', async () => {
    const body = { venueId, action: 'publish', items: spring };
    const key = randomUUID();
    expect(await results(body, key)).toEqual(on(1));
    const added = (await service.screen({ venueId })).id;
    const repeated = await results(body, key);
    expect(repeated).toHaveLength(3);
    expect(repeated).toEqual(expect.arrayContaining(on(1, false)));
    expect((await current(added)).status).toBe(404);
  });

  it('20 operators repeat a rollback at the same moment: each rolls back once', async () => {
    const screens = await Promise.all(
      Array.from({ length: 20 }, () => service.screen({ venueId })),
    );
    const screenIds = screens.map(({ id }) => id);
    for (const items of [spring, summer]) await results({ screenIds, action: 'publish', items });
    const answers = await Promise.all(
      screenIds.flatMap((id) => {
        const key = randomUUID();
        const once = () => results({ screenIds: [id], action: 'rollback' }, key);
        return [once(), once()];
      }),
    );
    expect(answers.flat().map(({ version, changed }) => [version, changed])).toEqual(
      Array(40).fill([3, true]),
    );
  });

  it('400 for another body', async () => {
    const key = randomUUID();
    await results({ screenIds: ids, action: 'withdraw' }, key);
    const other = await send({ screenIds: [ids[0]], action: 'withdraw' }, key);
    expectProblem(other, 'idempotency_key_reused');
  });
});
