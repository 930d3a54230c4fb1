import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { makeUndiciRequester } from '../../src/client/undici-requester.ts';
import { allChecks } from '../../src/conformance/all-checks.ts';
import { runConformance } from '../../src/conformance/run-conformance.ts';
import { type Clock, systemClock } from '../../src/domain/clock.ts';
import { temporaryFolder } from '../support/disk/temporary-folder.ts';
import { stubService } from '../support/network/stub-service.ts';
import { freshDatabase } from '../support/postgres/postgres.ts';
import { adminToken, startService, type TestService } from '../support/service/service.ts';
import { runAllChecks, runChecks, withResult } from './run-checks.ts';

type Service = TestService<Clock>;
const start = () => startService<Clock>({ clock: systemClock });

/** Counts the records that a run could have created. */
async function recordCounts(service: Service): Promise<number[]> {
  const lists = ['venues', 'screens', 'devices', 'tokens', 'tenants', 'webhooks'];
  return Promise.all(
    lists.map(async (path) => (await service.manage('GET', `/v1/${path}`)).body.items.length),
  );
}

describe('the checks', () => {
  it('are many, each with a unique id', () => {
    const ids = allChecks.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length).toBeGreaterThan(290);
    expect(allChecks.filter(({ level }) => level === 'required').length).toBeGreaterThan(70);
    for (const { id, title, expected } of allChecks)
      expect([id, title, expected]).toEqual([
        expect.stringMatching(/^[a-z0-9.-]+$/),
        expect.stringMatching(/\w/),
        expect.stringMatching(/\w/),
      ]);
  });

  it('refer to existing sections of docs/protocol.md', () => {
    const page = readFileSync(new URL('../../docs/protocol.md', import.meta.url), 'utf8');
    for (const { id, section } of allChecks)
      expect(page, `${id} names §${section}`).toMatch(
        new RegExp(`^#{2,3} ${section.replace('.', '\\.')} `, 'm'),
      );
  });

  it('cover every row of the Errors table of the device endpoints', () => {
    const required = new Set(
      allChecks.filter(({ level }) => level === 'required').map(({ id }) => id),
    );
    const rows = [
      'playlist.200',
      'playlist.404',
      'playlist.500',
      'config.200.default',
      'config.200.custom',
      'config.500',
      'events.202',
      'events.400.no-type',
    ];
    const refusals = ['playlist', 'config', 'events'].flatMap((what) =>
      ['missing', 'invalid', 'revoked', 'orphaned'].map((why) => `${what}.401.${why}`),
    );
    for (const id of [...rows, ...refusals]) expect(required).toContain(id);
  });
});

/** The checks that wait until something expires. */
const waiting = allChecks.filter(({ needs }) => needs === 'time').map(({ id }) => id);

describe('a run', () => {
  const stores: [string, () => Promise<string>][] = [
    ['memory', async () => 'memory:'],
    ['files', temporaryFolder],
    ['PostgreSQL', freshDatabase],
  ];
  it.each(stores)(
    'on %s passes every check and deletes what it created',
    {
      timeout: 180_000,
    },
    async (_, makeStore) => {
      const service = await startService<Clock>({ store: await makeStore(), clock: systemClock });
      await service.tv();
      const before = await recordCounts(service);
      let unknownCodes = 0;
      const first = await runChecks(service.url, {
        allow: ['tenants'],
        onExchange: ({ path, outcome }) => {
          if (path === '/devices/register' && outcome === '404') unknownCodes++;
        },
      });
      expect(unknownCodes).toBe(1);
      const guessing = await runChecks(service.url, { ids: ['guessing'], allow: ['guessing'] });
      for (const { left, error } of [first, guessing])
        expect({ left, error }).toEqual({ left: [], error: undefined });
      const outcomes = [...first.outcomes, ...guessing.outcomes];
      expect(withResult(outcomes, 'fail')).toEqual([]);
      const passed = new Set(withResult(outcomes, 'pass').map(({ id }) => id));
      const skipped = ['playlist.500', 'config.500', ...waiting];
      expect(new Set(allChecks.map(({ id }) => id).filter((id) => !passed.has(id)))).toEqual(
        new Set(skipped),
      );
      expect(await recordCounts(service)).toEqual(before);
      expect(JSON.stringify(outcomes)).not.toMatch(/[dm]ak_[0-9A-Za-z]{10}/);
    },
  );

  it('passes the checks that wait until something expires', async () => {
    const { outcomes, left, error } = await runAllChecks(await startService(), { ids: waiting });
    expect({ left, error }).toEqual({ left: [], error: undefined });
    expect(withResult(outcomes, 'pass').map(({ id }) => id)).toEqual(waiting);
  });

  it('skips what cannot be provoked and what is not allowed, and says why', async () => {
    const service = await start();
    const reasons = {
      'cannot be provoked from outside': ['playlist.500', 'config.500'],
      'creates a second tenant: requires a platform token and --with-tenants': [
        'tenant.record',
        'tenant.name',
        'tenant.required',
      ],
      'waits until something expires: requires --slow': waiting,
      'sends unknown codes until this address is locked out: requires --with-guessing': [
        'guessing.429',
        'guessing.retry-after',
        'guessing.trusted',
        'guessing.only',
      ],
    };
    const ids = Object.values(reasons).flat();
    const { outcomes } = await runChecks(service.url, { ids });
    expect(outcomes).toEqual(
      Object.entries(reasons).flatMap(([reason, skipped]) =>
        skipped.map((id) => expect.objectContaining({ id, result: 'skip', seen: null, reason })),
      ),
    );
  });

  it('limited to a level or to id prefixes runs no other checks', async () => {
    const service = await start();
    const required = (
      await runChecks(service.url, { only: 'required', ids: ['state.', 'register.mac'] })
    ).outcomes;
    expect(required.map(({ id }) => id)).toEqual([
      'register.mac-colons',
      'register.mac-dashes',
      'register.mac-invalid',
      'state.created',
      'state.registered',
    ]);
    expect(
      (await runChecks(service.url, { only: 'required', ids: ['guessing'] })).error,
    ).toMatchObject({
      code: 'invalid_option',
    });
  });

  it('skips checks that the deployment prevents', async () => {
    const service = await start();
    const { id } = (await service.manage('GET', '/v1/tenants')).body.items[0];
    await service.manage('PUT', `/v1/tenants/${id}/config`, { syncIntervalMinutes: 3 });
    const { outcomes } = await runChecks(service.url, {
      token: await service.token('operator'),
      ids: ['config', 'role', 'audit', 'register.404'],
    });
    expect(withResult(outcomes, 'fail')).toEqual([]);
    const reasons = new Map(withResult(outcomes, 'skip').map((one) => [one.id, one.reason]));
    expect(reasons.get('config.200.default')).toMatch(/tenant has a stored config/);
    expect(reasons.get('role.403')).toMatch(/role admin or platform/);
    expect(reasons.get('audit.entries')).toMatch(/role admin or platform/);
    for (let n = 0; n < 10; n++) await service.register('0O0O0O0O');
    const [again] = (await runChecks(service.url, { ids: ['register.404'] })).outcomes;
    expect(again).toMatchObject({
      result: 'skip',
      reason: expect.stringMatching(/try again in 15 minutes/),
    });
  });

  it('that is interrupted deletes what it created', async () => {
    const count = 60;
    const service = await start();
    const before = await recordCounts(service);
    const stop = new AbortController();
    const { outcomes, left, error } = await runChecks(service.url, {
      signal: stop.signal,
      onProgress: (done) => void (done === count && stop.abort()),
    });
    expect(error).toMatchObject({ code: 'interrupted' });
    expect(outcomes).toHaveLength(count);
    expect(left).toEqual([]);
    expect(await recordCounts(service)).toEqual(before);
  });

  it('whose iteration is left early deletes what it created', async () => {
    const service = await start();
    const before = await recordCounts(service);
    const makeRequester = async () => makeUndiciRequester(undefined);
    for await (const { id } of runConformance({
      url: service.url,
      token: adminToken,
      makeRequester,
    }))
      if (id === 'playlist.200') break;
    expect(await recordCounts(service)).toEqual(before);
  });

  it('ends when the service becomes unreachable, and reports what is left', async () => {
    const service = await start();
    const onProgress = (done: number) => void (done === 20 && service.close());
    const { outcomes, left, error } = await runChecks(service.url, { onProgress });
    expect(error).toMatchObject({ code: 'unreachable' });
    expect(outcomes.length).toBeLessThan(30);
    expect(left).toEqual([expect.stringMatching(/^\/v1\/venues\//)]);
  });
});

describe('a token', () => {
  it.each<[string, (service: Service) => Promise<string> | string, string]>([
    ['that does not exist', () => 'mak_nothing', 'credential_invalid'],
    ['of an installer', (service) => service.token('installer'), 'insufficient_role'],
    [
      'bound to a venue',
      async (service) => {
        const venueIds = [(await service.venue()).id];
        return (
          await service.manage('POST', '/v1/tokens', { name: 'bound', role: 'operator', venueIds })
        ).body.token;
      },
      'insufficient_role',
    ],
  ])('%s is rejected before anything is created', async (_, tokenOf, code) => {
    const service = await start();
    const token = await tokenOf(service);
    const before = await recordCounts(service);
    const { outcomes, error } = await runChecks(service.url, { token });
    expect(error).toMatchObject({ code });
    expect(outcomes).toEqual([]);
    expect(await recordCounts(service)).toEqual(before);
  });

  it('of the platform requires a tenant if there are several', async () => {
    const service = await start();
    const { id } = (await service.manage('POST', '/v1/tenants', { name: 'other' })).body;
    expect((await runChecks(service.url, { ids: ['state'] })).error).toMatchObject({
      code: 'tenant_required',
    });
    expect(
      withResult((await runChecks(service.url, { ids: ['state'], tenantId: id })).outcomes, 'pass'),
    ).toHaveLength(5);
  });

  it('is rejected with unexpected_answer by another kind of service', async () => {
    const stub = await stubService(
      (response) =>
        void response.writeHead(200, { 'content-type': 'text/html' }).end('<html></html>'),
    );
    expect((await runChecks(stub.url)).error).toMatchObject({ code: 'unexpected_answer' });
    await stub.close();
    expect((await runChecks(stub.url)).error).toMatchObject({ code: 'unreachable' });
  });
});
