import { beforeAll, describe, expect, it } from 'vitest';
import { makeApiClient, type ServiceReader } from '../../../src/cli/connection/client.ts';
import {
  findDevice,
  findScreen,
  findTenant,
  findToken,
  findVenue,
} from '../../../src/cli/records/find.ts';
import { ManagementClient } from '../../../src/client/management-client.ts';
import type { SignageError } from '../../../src/domain/error.ts';
import { unknownId } from '../../support/service/management.ts';
import { adminToken, startService } from '../../support/service/service.ts';

let reader: ServiceReader;
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
  const token = async (name: string, role: string) =>
    (await service.manage('POST', '/v1/tokens', { name, role })).body.id;
  const own = await token('Twin', 'viewer');
  const platform = await token('Twin', 'platform');
  const single = await token('Single', 'viewer');
  ids = { lobby, annex, main, other, rear, deviceId, tenant, own, platform, single };
  const client = new ManagementClient({ url: service.url, token: adminToken });
  reader = makeApiClient({
    connect: async () => ({ client, tenantId: undefined, clientIn: () => client }),
    plan: undefined,
    signal: new AbortController().signal,
  });
});

const failure = (work: Promise<unknown>): Promise<SignageError> =>
  work.then(
    () => Promise.reject(new Error('went well')),
    (error) => error,
  );

/** A text, or the id of a record that is written as `#name`. */
const textOf = (text: string) => (text.startsWith('#') ? (ids[text.slice(1)] ?? '') : text);

describe('finds a record', () => {
  it.each([
    [findVenue, 'Lobby', 'lobby'],
    [findVenue, 'LOBBY', 'lobby'],
    [findVenue, ' lobby ', 'lobby'],
    [findScreen, 'Lobby/Main', 'main'],
    [findScreen, 'annex/main', 'other'],
    [findScreen, 'Rear', 'rear'],
    [findScreen, '#rear', 'rear'],
    [findDevice, '#deviceId', 'deviceId'],
    [findDevice, '#main', 'deviceId'],
    [findDevice, 'Lobby/Main', 'deviceId'],
    [findToken, 'single', 'single'],
    [findToken, '#single', 'single'],
    [findTenant, 'Default', 'tenant'],
    [findTenant, '#tenant', 'tenant'],
  ])('%o by "%s": %s', async (find, text, which) => {
    expect((await find(reader, textOf(text))).id).toBe(ids[which]);
  });

  it('by an id in capitals, and by the id of its venue and its name', async () => {
    expect((await findVenue(reader, textOf('#lobby').toUpperCase())).id).toBe(ids.lobby);
    expect((await findScreen(reader, `${ids.annex}/Main`)).id).toBe(ids.other);
  });
});

describe('throws', () => {
  it.each([
    [findVenue, 'Lob', 'venue_not_found'],
    [findVenue, '', 'venue_not_found'],
    [findVenue, unknownId, 'venue_not_found'],
    [findScreen, 'Lobby/Rear', 'screen_not_found'],
    [findScreen, 'Nowhere/Main', 'venue_not_found'],
    [findScreen, 'Nothing', 'screen_not_found'],
    [findScreen, unknownId, 'screen_not_found'],
    [findDevice, unknownId, 'device_not_found'],
    [findToken, 'x', 'token_not_found'],
    [findTenant, 'x', 'tenant_not_found'],
  ])('%o "%s": %s', async (find, text, code) => {
    expect(await failure(find(reader, text))).toMatchObject({ code });
  });

  it('for an ambiguous name, and lists full names that commands accept, or ten of many', async () => {
    const error = await failure(findScreen(reader, 'main'));
    const hint = expect.stringContaining('full names');
    expect(error).toMatchObject({ code: 'ambiguous_name', hint });
    expect(error.message).toContain('Lobby/Main');
    expect(error.message).toContain('Annex/Main');
    expect((await failure(findScreen(reader, 'Many'))).message).toMatch(
      /^There are 12 screens called "Many": (Venue \d+\/Many, ){10}and 2 more\.$/,
    );
  });

  it('for a screen without a device, with the command that pairs one', async () => {
    const hint = expect.stringContaining('signage pair Annex/Main');
    const error = await failure(findDevice(reader, 'Annex/Main'));
    expect(error).toMatchObject({ code: 'device_not_found', hint });
  });

  it('for a name that a tenant token and a platform token share', async () => {
    const { code, message } = await failure(findToken(reader, 'Twin'));
    expect(code).toBe('ambiguous_name');
    expect(message).toContain(`${ids.own} (viewer)`);
    expect(message).toContain(`${ids.platform} (platform)`);
  });
});
