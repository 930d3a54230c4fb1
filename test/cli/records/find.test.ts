import { beforeAll, describe, expect, it } from 'vitest';
import { makeApiClient, type Reader } from '../../../src/cli/api/client.ts';
import {
  findDevice,
  findScreen,
  findTenant,
  findToken,
  findVenue,
} from '../../../src/cli/records/find.ts';
import { ManagementClient } from '../../../src/client/management-client.ts';
import type { SignageError } from '../../../src/domain/error.ts';
import { unknownId } from '../../support/management.ts';
import { adminToken, startService } from '../../support/service.ts';

let reader: Reader;
let ids: Record<string, string>;

beforeAll(async () => {
  const service = await startService();
  const lobby = (await service.venue({ name: 'Lobby' })).id;
  const annex = (await service.venue({ name: 'Annex' })).id;
  const main = (await service.screen({ venueId: lobby, name: 'Main' })).id;
  const other = (await service.screen({ venueId: annex, name: 'Main' })).id;
  const rear = (await service.screen({ venueId: annex, name: 'Rear' })).id;
  for (let at = 0; at < 12; at++) await service.screen({ name: 'Many' });
  const { deviceId } = await service.tv(main);
  const tenant = (await service.manage('GET', '/v1/me')).body.tenantId;
  const own = (await service.manage('POST', '/v1/tokens', { name: 'Twin', role: 'viewer' })).body
    .id;
  const platform = (await service.manage('POST', '/v1/tokens', { name: 'Twin', role: 'platform' }))
    .body.id;
  const single = (await service.manage('POST', '/v1/tokens', { name: 'Single', role: 'viewer' }))
    .body.id;
  ids = { lobby, annex, main, other, rear, deviceId, tenant, own, platform, single };
  const client = new ManagementClient({ url: service.url, token: adminToken });
  reader = makeApiClient({
    connect: async () => ({ client, tenantId: undefined }),
    plan: undefined,
    signal: new AbortController().signal,
  });
});

const failure = (work: Promise<unknown>): Promise<SignageError> =>
  work.then(
    () => Promise.reject(new Error('went well')),
    (error) => error,
  );

describe('findVenue', () => {
  it.each(['Lobby', 'LOBBY', ' lobby '])('finds a venue by the name "%s"', async (text) =>
    expect((await findVenue(reader, text)).id).toBe(ids.lobby),
  );
  it('finds a venue by its id', async () =>
    expect((await findVenue(reader, ids.lobby!.toUpperCase())).name).toBe('Lobby'));
  it.each(['Lob', '', unknownId])('throws venue_not_found for "%s"', async (text) => {
    expect(await failure(findVenue(reader, text))).toMatchObject({ code: 'venue_not_found' });
  });
});

describe('findScreen', () => {
  it.each([
    ['Lobby/Main', 'main'],
    ['annex/main', 'other'],
    ['Rear', 'rear'],
  ])('finds %s', async (text, which) => {
    expect((await findScreen(reader, text)).id).toBe(ids[which]);
  });

  it('finds a screen by the id of its venue and its name', async () =>
    expect((await findScreen(reader, `${ids.annex}/Main`)).id).toBe(ids.other));
  it('finds a screen by its id', async () =>
    expect((await findScreen(reader, ids.rear!)).name).toBe('Rear'));

  it('throws for an ambiguous name, and lists full names that commands accept', async () => {
    const error = await failure(findScreen(reader, 'main'));
    expect(error).toMatchObject({
      code: 'ambiguous_name',
      hint: expect.stringContaining('full names'),
    });
    expect(error.message).toContain('Lobby/Main');
    expect(error.message).toContain('Annex/Main');
  });

  it('lists the first ten of many candidates', async () => {
    expect((await failure(findScreen(reader, 'Many'))).message).toMatch(
      /^There are 12 screens called "Many": (Venue \d+\/Many, ){10}and 2 more\.$/,
    );
  });

  it.each([
    ['Lobby/Rear', 'screen_not_found'],
    ['Nowhere/Main', 'venue_not_found'],
    ['Nothing', 'screen_not_found'],
    [unknownId, 'screen_not_found'],
  ])('throws for %s: %s', async (text, code) =>
    expect(await failure(findScreen(reader, text))).toMatchObject({ code }),
  );
});

describe('findDevice', () => {
  it('finds a device by its id, or by the id or name of its screen', async () => {
    for (const text of [ids.deviceId!, ids.main!, 'Lobby/Main'])
      expect((await findDevice(reader, text)).id).toBe(ids.deviceId);
  });

  it('throws for a screen without a device', async () => {
    const error = await failure(findDevice(reader, 'Annex/Main'));
    expect(error).toMatchObject({
      code: 'device_not_found',
      hint: expect.stringContaining('signage pair Annex/Main'),
    });
  });

  it('throws for an unknown id', async () =>
    expect(await failure(findDevice(reader, unknownId))).toMatchObject({
      code: 'device_not_found',
    }));
});

describe('findToken and findTenant', () => {
  it('find a record by name and id', async () => {
    for (const text of ['single', ids.single!])
      expect((await findToken(reader, text)).id).toBe(ids.single);
    for (const text of ['Default', ids.tenant!])
      expect((await findTenant(reader, text)).id).toBe(ids.tenant);
  });

  it('throw for a name that a tenant token and a platform token share', async () => {
    const { code, message } = await failure(findToken(reader, 'Twin'));
    expect(code).toBe('ambiguous_name');
    expect(message).toContain(`${ids.own} (viewer)`);
    expect(message).toContain(`${ids.platform} (platform)`);
  });

  it('throw for unknown names', async () => {
    expect(await failure(findToken(reader, 'x'))).toMatchObject({ code: 'token_not_found' });
    expect(await failure(findTenant(reader, 'x'))).toMatchObject({ code: 'tenant_not_found' });
  });
});
