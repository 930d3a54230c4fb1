import { beforeAll, describe, expect, it } from 'vitest';
import { expectProblem, type Manager, manager, walk } from '../../support/service/management.ts';
import { startService } from '../../support/service/service.ts';

let admin: Manager;
let bound: Manager;
let foreign: Manager;
/** Ids of the screens, and of their devices, by name. */
const screens: Record<string, string> = {};
const devices: Record<string, string> = {};

beforeAll(async () => {
  const service = await startService();
  const platform = manager(service);
  const [{ id }] = (await platform.get('/v1/tenants')).body.items;
  foreign = platform.in((await platform.tenant('Other')).id);
  admin = platform.in(id);
  const north = await admin.venue('North', { labels: { region: 'north' } });
  const south = await admin.venue('South', { labels: { region: 'south' } });
  const add = async (name: string, venueId: string, labels: object) => {
    const { id } = await admin.screen(venueId, name, { labels });
    screens[name] = id;
    devices[name] = (await admin.tv(id)).deviceId;
  };
  await add('menu', north.id, { role: 'menu', floor: '1' });
  await add('wall', north.id, { role: 'wall', floor: '2', beta: '' });
  await add('south menu', south.id, { role: 'menu', note: 'a (b), c' });
  const theirs = await foreign.venue('North', { labels: { region: 'north' } });
  await foreign.tv((await foreign.screen(theirs.id, 'menu', { labels: { role: 'menu' } })).id);
  const token = await admin.newToken({ name: 'north', role: 'viewer', venueIds: [north.id] });
  bound = manager(service, token.token);
});

const query = (...selectors: string[]) =>
  selectors.map((one) => `&selector=${encodeURIComponent(one)}`).join('');

describe.each([
  ['/v1/screens', screens],
  ['/v1/devices', devices],
])('GET %s?selector=', (path, ids) => {
  const found = async (caller: Manager, ...selectors: string[]) => {
    const { items } = await walk(caller, `${path}?${query(...selectors).slice(1)}`, 1);
    return items.map(({ id }) => Object.keys(ids).find((name) => ids[name] === id));
  };

  it.each<[string[], string[]]>([
    [['role=menu'], ['menu', 'south menu']],
    [['role=menu,venue:region!=south'], ['menu']],
    [['floor in (1,2),!beta'], ['menu']],
    [['floor notin (1)'], ['wall', 'south menu']],
    [['venue:region=north'], ['menu', 'wall']],
    [['role=menu', 'floor'], ['menu']],
    [['role=nothing'], []],
  ])('200 with the screens of %j', async (selectors, names) => {
    expect(await found(admin, ...selectors)).toEqual(names);
  });

  it('shows nothing of other tenants, and to a bound token nothing of other venues', async () => {
    expect(await found(bound, 'role=menu')).toEqual(['menu']);
    expect(await found(bound, 'venue:region=south')).toEqual([]);
    expect(await found(foreign, 'beta')).toEqual([]);
    expect(await found(foreign, 'role=menu')).toEqual([undefined]);
  });

  it('400 naming the column, also of a second selector, and for more than 64 conditions', async () => {
    const refused = async (text: string, message: string) =>
      expectProblem(await admin.get(`${path}?${text}`), 'invalid_request', {
        errors: [{ path: 'query.selector', message }],
      });
    await refused('selector=role%3Dmenu,city+in+Accra', 'column 19: expected "(" before "Accra"');
    await refused('selector=beta&selector=a,', 'column 3: a label is missing');
    const many = (count: number) =>
      query(...Array.from({ length: count }, (_, n) => `!z${n}`)).slice(1);
    expect((await admin.get(`${path}?${many(64)}`)).status).toBe(200);
    await refused(many(65), 'has more than 64 conditions');
  });
});

describe('GET /v1/screens?selector=', () => {
  it('narrows with the other filters', async () => {
    const one = await admin.get(`/v1/screens?search=south${query('role=menu')}`);
    expect(one.body.items.map(({ id }: { id: string }) => id)).toEqual([screens['south menu']]);
    const none = await admin.get(`/v1/screens?label=role:wall${query('role=menu')}`);
    expect(none.body.items).toEqual([]);
  });
});
