// What JSON of a management request could lose: it is refused instead.
import { beforeAll, describe, expect, it } from 'vitest';
import { expectProblem, item, type Manager, manager } from '../../support/service/management.ts';
import { type BoundTv, startService, type TestService } from '../../support/service/service.ts';

let service: TestService;
let admin: Manager;
let tv: BoundTv;
beforeAll(async () => {
  service = await startService();
  admin = manager(service);
  tv = await service.tv();
});

const typed = { headers: { 'content-type': 'application/json' } };
const raw = (body: unknown, ...numbers: string[]) =>
  numbers.reduce((text, number, at) => text.replace(`"#${at}"`, number), JSON.stringify(body));

describe('numbers that a double cannot hold', () => {
  it('are refused in playlists, schedules and configs, with their place', async () => {
    const text = raw({ items: [item({ adId: '#0', price: '#1' })] }, '9007199254740993', '1e309');
    const path = `/v1/screens/${tv.screenId}`;
    const put = (to: string, body: string) => service.manage('PUT', to, Buffer.from(body), typed);
    const answer = await put(`${path}/playlist`, text);
    expectProblem(answer, 'invalid_request');
    expect(answer.body.errors).toMatchObject([
      { path: '/items/0/adId', message: expect.stringContaining('"9007199254740993"') },
      { path: '/items/0/price' },
    ]);
    expectProblem(await admin.get(`${path}/playlist`), 'playlist_not_found');
    const config = await put(`${path}/config`, '{"player":{"id":12345678901234567890}}');
    expectProblem(config, 'invalid_request');
    expect(config.body.errors).toMatchObject([{ path: '/player/id' }]);
    expect((await put(`${path}/config`, '{"player":{"scale":0.10,"big":1e5}}')).status).toBe(200);
  });

  it('are accepted in the events of TVs', async () => {
    const events = '[{"type":"heartbeat","timestamp":1760000000,"serial":9007199254740993}]';
    const answer = await tv.send('POST', 'events', {
      key: tv.apiKey,
      body: Buffer.from(events),
      ...typed,
    });
    expect(answer.status).toBe(202);
  });
});

describe('members named __proto__', () => {
  const send = (method: string, path: string, body: string) =>
    service.manage(method, path, Buffer.from(body), typed);

  it.each([
    [
      'POST',
      '/v1/venues',
      '{"name":"Odd","labels":{"__proto__":"x","a":"b"}}',
      '/labels/__proto__',
    ],
    ['POST', '/v1/venues', '{"name":"Odd","__proto__":{"name":"Even"}}', '/__proto__'],
    ['POST', '/v1/venues', '{"name":"Odd","labels":{"\\u005f_proto__":"x"}}', '/labels/__proto__'],
  ])('are refused in a management request: %s %s %s', async (method, path, body, place) => {
    const answer = await send(method, path, body);
    expectProblem(answer, 'invalid_request');
    expect(answer.body.errors.map((one: { path: string }) => one.path)).toEqual([place]);
    expect((await admin.get('/v1/venues?name=Odd')).body.items).toEqual([]);
  });

  it('are refused in the items of a playlist, with their place', async () => {
    const text = JSON.stringify({ items: [item(), item({ more: { a: [{ '#': 1 }] } })] });
    const path = `/v1/screens/${tv.screenId}/playlist`;
    const answer = await send('PUT', path, text.replace('"#"', '"__proto__"'));
    expectProblem(answer, 'invalid_request');
    expect(answer.body.errors).toMatchObject([{ path: '/items/1/more/a/0/__proto__' }]);
  });

  it('is a text like any other elsewhere', async () => {
    const answer = await send(
      'POST',
      '/v1/venues',
      '{"name":"__proto__","labels":{"a":"__proto__"}}',
    );
    expect([answer.status, answer.body.labels]).toEqual([201, { a: '__proto__' }]);
  });

  it('are dropped from the events of TVs', async () => {
    const events = '[{"type":"heartbeat","timestamp":1760000000,"__proto__":{"a":1}}]';
    const body = Buffer.from(events);
    const answer = await tv.send('POST', 'events', { key: tv.apiKey, body, ...typed });
    expect(answer.status).toBe(202);
  });
});
