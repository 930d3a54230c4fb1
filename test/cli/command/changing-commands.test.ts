// What all commands that change something have in common, one row for each operation: --dry-run, a
// role below the required one, and an unknown name change nothing.
import { beforeAll, describe, expect, it } from 'vitest';
import { loadVerbs } from '../../../src/cli/command/tree.ts';
import type { Clock } from '../../../src/domain/clock.ts';
import { rankedRoles } from '../../../src/domain/records/role.ts';
import { type Operation, operations } from '../../../src/wire/operations.ts';
import type { TestService } from '../../support/service.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { type Cli, type CliOptions, cliOf, startCli } from '../run-cli.ts';

type Ranked = (typeof rankedRoles)[number];

interface World {
  venueId: string;
  /** The screen Lobby/Main, with a TV, a playlist and a config. */
  mainId: string;
  deviceId: string;
  /** The screen Lobby/Free, with a pairing code. */
  freeId: string;
  code: string;
  claim: string;
  emptyVenueId: string;
  tenant: { id: string; name: string };
  tokenId: string;
  /** A file that does not exist. */
  newFile: string;
}

interface Row {
  command: string;
  /** Names an existing record. */
  named?: (world: World) => string;
  /** Default: the name alone. */
  words?: (name: string, world: World) => string[];
  stdin?: string;
  request: (world: World) => { method: string; path: string; body?: unknown };
}

const item = {
  creativeId: '11111111-1111-4111-8111-111111111111',
  creativeUrl: 'https://media.example.com/spring.mp4',
  creativeType: 'video',
  duration: 15,
};
const main = () => 'Lobby/Main';
const free = () => 'Lobby/Free';

const rows: readonly Row[] = [
  {
    command: 'venue create',
    words: () => ['--name', 'Dry', '--label', 'a=b'],
    request: () => ({
      method: 'POST',
      path: '/v1/venues',
      body: { name: 'Dry', labels: { a: 'b' } },
    }),
  },
  {
    command: 'venue update',
    named: () => 'Lobby',
    words: (name) => [name, '--timezone', ''],
    request: ({ venueId }) => ({
      method: 'PATCH',
      path: `/v1/venues/${venueId}`,
      body: { timezone: null },
    }),
  },
  {
    command: 'venue delete',
    named: () => 'Empty',
    request: ({ emptyVenueId }) => ({ method: 'DELETE', path: `/v1/venues/${emptyVenueId}` }),
  },
  {
    command: 'screen create',
    named: () => 'Lobby',
    words: (name) => ['--name', 'Dry', '--venue', name],
    request: ({ venueId }) => ({
      method: 'POST',
      path: '/v1/screens',
      body: { venueId, name: 'Dry', labels: {} },
    }),
  },
  {
    command: 'screen update',
    named: main,
    words: (name) => [name, '--name', 'Other'],
    request: ({ mainId }) => ({
      method: 'PATCH',
      path: `/v1/screens/${mainId}`,
      body: { name: 'Other' },
    }),
  },
  {
    command: 'screen delete',
    named: main,
    words: (name) => [name, '--force'],
    request: ({ mainId }) => ({ method: 'DELETE', path: `/v1/screens/${mainId}?force=true` }),
  },
  {
    command: 'device revoke',
    named: main,
    words: (name) => [name, '--reason', 'x'],
    request: ({ deviceId }) => ({
      method: 'POST',
      path: `/v1/devices/${deviceId}/revoke`,
      body: { reason: 'x' },
    }),
  },
  {
    command: 'code create',
    named: free,
    request: ({ freeId }) => ({
      method: 'POST',
      path: '/v1/devices/provisioning-codes',
      body: { screenId: freeId },
    }),
  },
  {
    command: 'code cancel',
    named: ({ code }) => code,
    request: ({ code }) => ({
      method: 'DELETE',
      path: `/v1/devices/provisioning-codes/${code}`,
    }),
  },
  {
    command: 'code offer',
    named: free,
    words: (name, { claim }) => [name, claim],
    request: ({ claim, freeId }) => ({
      method: 'POST',
      path: `/v1/devices/claims/${claim}/offer`,
      body: { screenId: freeId },
    }),
  },
  {
    command: 'playlist publish',
    named: main,
    words: (name) => [name, '-f', '-'],
    stdin: JSON.stringify({ items: [item] }),
    request: ({ mainId }) => ({
      method: 'PUT',
      path: `/v1/screens/${mainId}/playlist`,
      body: { items: [item] },
    }),
  },
  {
    command: 'playlist withdraw',
    named: main,
    request: ({ mainId }) => ({ method: 'DELETE', path: `/v1/screens/${mainId}/playlist` }),
  },
  {
    command: 'playlist refresh',
    named: main,
    request: ({ mainId }) => ({ method: 'POST', path: `/v1/screens/${mainId}/playlist/refresh` }),
  },
  {
    command: 'playlist rollback',
    named: main,
    words: (name) => [name, '1', '--valid-until', 'none'],
    request: ({ mainId }) => ({
      method: 'PUT',
      path: `/v1/screens/${mainId}/playlist`,
      body: { items: [item], validUntil: null },
    }),
  },
  {
    command: 'playlist mirror',
    words: () => ['--repair'],
    request: () => ({ method: 'POST', path: '/v1/mirror/repair' }),
  },
  {
    command: 'config set',
    named: main,
    words: (name) => [name, 'loud=true'],
    request: ({ mainId }) => ({
      method: 'PUT',
      path: `/v1/screens/${mainId}/config`,
      body: { mode: 'night', loud: true },
    }),
  },
  {
    command: 'config unset',
    named: main,
    request: ({ mainId }) => ({ method: 'DELETE', path: `/v1/screens/${mainId}/config` }),
  },
  {
    command: 'tenant create',
    words: () => ['--name', 'Dry'],
    request: () => ({ method: 'POST', path: '/v1/tenants', body: { name: 'Dry' } }),
  },
  {
    command: 'tenant update',
    named: ({ tenant }) => tenant.name,
    words: (name) => [name, '--name', 'Other'],
    request: ({ tenant }) => ({
      method: 'PATCH',
      path: `/v1/tenants/${tenant.id}`,
      body: { name: 'Other' },
    }),
  },
  {
    command: 'tenant delete',
    named: ({ tenant }) => tenant.name,
    request: ({ tenant }) => ({ method: 'DELETE', path: `/v1/tenants/${tenant.id}` }),
  },
  {
    command: 'token create',
    words: () => ['--name', 'Dry', '--role', 'viewer'],
    request: () => ({ method: 'POST', path: '/v1/tokens', body: { name: 'Dry', role: 'viewer' } }),
  },
  {
    command: 'token rotate',
    named: () => 'CI',
    request: ({ tokenId }) => ({ method: 'POST', path: `/v1/tokens/${tokenId}/rotate` }),
  },
  {
    command: 'token delete',
    named: () => 'CI',
    request: ({ tokenId }) => ({ method: 'DELETE', path: `/v1/tokens/${tokenId}` }),
  },
  {
    command: 'data backup',
    words: (_, { newFile }) => ['--out', newFile],
    request: () => ({ method: 'POST', path: '/v1/backup' }),
  },
];

let service: TestService<Clock>;
let cli: Cli;
let world: World;
const below = new Map<string, Cli>();

beforeAll(async () => {
  ({ service, cli } = await startCli());
  const { id: venueId } = await service.venue({ name: 'Lobby' });
  const { id: mainId } = await service.screen({ venueId, name: 'Main' });
  const { deviceId } = await service.tv(mainId);
  const { id: freeId } = await service.screen({ venueId, name: 'Free' });
  const { code } = await service.code(freeId);
  const { claim } = (await service.send('POST', '/devices/claims', { body: { deviceInfo: {} } }))
    .body;
  const { id: emptyVenueId } = await service.venue({ name: 'Empty' });
  const publish = (duration: number) =>
    service.manage('PUT', `/v1/screens/${mainId}/playlist`, { items: [{ ...item, duration }] });
  for (const duration of [item.duration, 20]) expect((await publish(duration)).status).toBe(200);
  await service.manage('PUT', `/v1/screens/${mainId}/config`, { mode: 'night' });
  const { items: tenants } = (await service.manage('GET', '/v1/tenants')).body;
  const token = await service.manage('POST', '/v1/tokens', { name: 'CI', role: 'viewer' });
  for (const role of rankedRoles) below.set(role, cliOf(service, await service.token(role)));
  world = {
    venueId,
    mainId,
    deviceId,
    freeId,
    code,
    claim,
    emptyVenueId,
    tenant: tenants[0],
    tokenId: token.body.id,
    newFile: `${await temporaryFolder()}/new`,
  };
});

/** The newest change in the audit trail, which has an entry for each change. */
const newestChange = async () => {
  const { items } = (await service.manage('GET', '/v1/audit?limit=100')).body;
  return items.find(({ action }: { action: string }) => action !== 'access.denied');
};

const operationOf = (command: string): Operation | undefined =>
  Object.values<Operation>(operations).find(
    (one) => one.method !== 'GET' && one.command?.join(' ') === command,
  );

it('has a row for every operation that changes something', () => {
  const all = Object.values<Operation>(operations).filter(({ method }) => method !== 'GET');
  const commands = new Set(all.flatMap(({ command }) => command?.join(' ') ?? []));
  expect([...commands].filter((name) => !rows.some(({ command }) => command === name))).toEqual([]);
});

describe.each(rows)('signage $command', (row) => {
  const { command, named, words = (name) => [name], stdin, request } = row;
  const options: CliOptions = stdin === undefined ? {} : { stdin };
  const argvOf = (name = '', ...more: string[]) => [
    ...command.split(' '),
    ...words(name, world),
    ...more,
  ];
  const specOf = async () => {
    const [noun = '', verb = ''] = command.split(' ');
    return (await loadVerbs(noun))?.[verb];
  };
  const yes = async () => ((await specOf())?.effect === 'destroys' ? ['--yes'] : []);

  it('--dry-run shows the request, asks nothing, and changes nothing', async () => {
    const before = await newestChange();
    const argv = argvOf(named?.(world), '--dry-run');
    const shown = await cli(argv, options);
    const wanted = request(world);
    expect(shown).toMatchObject({ code: 0, stdout: expect.stringContaining(wanted.path) });
    expect(shown.stdout).toContain(`${wanted.method} ${wanted.path}`);
    const { raw } = (await specOf()) ?? {};
    if (!raw) {
      const data = await cli([...argv, '-o', 'json'], { ...options, tty: stdin === undefined });
      expect(data).toMatchObject({ code: 0, json: [wanted] });
    }
    expect(await newestChange()).toEqual(before);
  });

  it('4 for the role below the required one, and changes nothing', async () => {
    const before = await newestChange();
    const required = operationOf(command)?.access ?? 'operator';
    const access = required === 'backup' ? 'platform' : required;
    const role =
      (rankedRoles as readonly string[])[rankedRoles.indexOf(access as Ranked) - 1] ?? '';
    const run = await below.get(role)?.(argvOf(named?.(world), ...(await yes())), options);
    expect(run).toMatchObject({ code: 4, stdout: '' });
    expect(run?.stderr).toContain('signage whoami');
    expect(await newestChange()).toEqual(before);
  });

  if (!named) return;
  it('3 for an unknown name, and changes nothing', async () => {
    const before = await newestChange();
    const unknown = command.startsWith('code cancel') ? 'ZZZZ2222' : 'Nowhere';
    const run = await cli(argvOf(unknown, ...(await yes())), options);
    expect(run).toMatchObject({ code: 3, stdout: '' });
    expect(run.stderr).toMatch(/^signage: /);
    expect(await newestChange()).toEqual(before);
  });
});
