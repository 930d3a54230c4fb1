import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hashKey } from '../../src/domain/api-key.ts';
import { SignageError } from '../../src/domain/error.ts';
import { makeIdSource } from '../../src/domain/id.ts';
import type { Token } from '../../src/domain/records/rows.ts';
import { serve } from '../../src/serve.ts';
import {
  type BootstrapOptions,
  bootstrap,
  checkAdminToken,
} from '../../src/service/assembly/bootstrap.ts';
import { decorateStore } from '../../src/service/store-decorator.ts';
import { openStore } from '../../src/store/location/open.ts';
import type { Store } from '../../src/store/store.ts';
import { tenantRow, tokenRow } from '../store/sample-rows.ts';
import { temporaryFolder } from '../support/disk/temporary-folder.ts';
import { ManualClock } from '../support/runtime/manual-clock.ts';
import { withTx } from '../support/stores/defective-store.ts';

const [first, second] = ['mak_firstFirstFirstFirstFirst', 'mak_secondSecondSecondSecond'] as const;
const clock = new ManualClock();
let store: Store;
beforeEach(async () => {
  store = await openStore('memory:', { clock });
});
afterEach(() => store.close());

const startWith = (options: BootstrapOptions, on = store) =>
  bootstrap(
    { store: on, clock, random: randomBytes, newId: makeIdSource(clock, randomBytes) },
    options,
  );
const start = (adminToken?: string, makesToken?: boolean, on = store) =>
  startWith({ adminToken, makesToken }, on);
const rowOf = (token = '') => store.read.find('tokens', 'hash', hashKey(token));
const tenants = async () =>
  (await store.list('tenants', { limit: 9 })).items.map(({ name }) => name);
const platformTokens = async () =>
  (await store.list('tokens', { limit: 9, where: { role: 'platform' } })).items
    .map(({ name }) => name)
    .toSorted();
const audited = async () =>
  (await store.audit({ tenantIds: [null, ...(await tenantIds())], limit: 20 })).items;
const tenantIds = async () => (await store.list('tenants', { limit: 9 })).items.map(({ id }) => id);
const put = (number: number, fields: Partial<Token>) =>
  store.write((tx) => tx.put('tokens', tokenRow(number, { tenantId: null, ...fields })));

describe('the first start', () => {
  it('creates a tenant named default and one platform token, which it returns once', async () => {
    const { token } = await start();
    expect(token).toMatch(/^mak_[0-9A-Za-z]{49}$/);
    const row = await rowOf(token);
    expect(row).toMatchObject({ name: 'first start', role: 'platform', bootstrap: false });
    expect(JSON.stringify(row)).not.toContain(token?.slice(4));
    expect(await start()).toEqual({ token: undefined });
    expect([await tenants(), await platformTokens()]).toEqual([['default'], ['first start']]);
    const system = { kind: 'system', id: null, name: null };
    expect((await audited()).map(({ action, actor }) => [action, actor])).toEqual([
      ['token.create', system],
      ['tenant.create', system],
    ]);
  });

  it('can take its token back, and the next start creates another', async () => {
    const { token, takeBack } = await start();
    await takeBack?.();
    await takeBack?.();
    expect(await platformTokens()).toEqual([]);
    expect((await audited()).map(({ action }) => action)).toEqual([
      'token.delete',
      'token.create',
      'tenant.create',
    ]);
    const next = await start();
    expect(next.token).toMatch(/^mak_/);
    expect(next.token).not.toBe(token);
    expect(await tenants()).toEqual(['default']);
  });

  it('invalid_option without a token if it may create none, and nothing is changed', async () => {
    await expect(start(undefined, false)).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining('SIGNAGE_ADMIN_TOKEN'),
    });
    expect(await tenants()).toEqual([]);
    expect(await start(first, false)).toEqual({ token: first });
    expect(await start(undefined, false)).toEqual({ token: undefined });
    expect(await platformTokens()).toEqual(['bootstrap']);
  });

  it('of a store with tenants creates none', async () => {
    await store.write((tx) => tx.put('tenants', tenantRow(1, { name: 'Aurora' })));
    await start(first);
    expect([await tenants(), await platformTokens()]).toEqual([['Aurora'], ['bootstrap']]);
  });

  it('is tried three times if another instance makes the same records meanwhile', async () => {
    let failures = 2;
    const racing = decorateStore(store, {
      write: (change) =>
        failures-- > 0
          ? Promise.reject(new SignageError('conflict', 'another instance was first'))
          : store.write(change),
    } as Partial<Store>);
    expect(await start(first, true, racing)).toEqual({ token: first });
    failures = 3;
    await expect(start(first, true, racing)).rejects.toMatchObject({ code: 'conflict' });
  });

  it('of a service returns a token that works, and later starts return none', async () => {
    const folder = await temporaryFolder();
    const tokens: (string | undefined)[] = [];
    for (let time = 0; time < 2; time++) {
      await using service = await serve({ port: 0, store: folder });
      tokens.push(service.adminToken);
      const headers = { Authorization: `Bearer ${tokens[0]}` };
      expect((await fetch(`${service.url}/v1/me`, { headers })).status).toBe(200);
    }
    expect(tokens).toEqual([expect.stringMatching(/^mak_/), undefined]);
  });
});

describe('newAdminToken', () => {
  it('creates another platform token with an audit entry, and the others keep working', async () => {
    const { token: lost } = await start();
    const tokens = [await startWith({ newAdminToken: true })];
    tokens.push(await startWith({ newAdminToken: true }));
    expect(await platformTokens()).toEqual(['first start', 'new admin token', 'new admin token 2']);
    for (const { token } of [{ token: lost }, ...tokens])
      expect(await rowOf(token)).toMatchObject({ role: 'platform', bootstrap: false });
    expect((await audited()).slice(0, 2).map(({ action }) => action)).toEqual([
      'token.create',
      'token.create',
    ]);
    await tokens[1]?.takeBack?.();
    expect(await platformTokens()).toEqual(['first start', 'new admin token']);
  });

  it('invalid_option with a given token, or if it would not be displayed', async () => {
    await start(first);
    for (const options of [{ adminToken: first }, { makesToken: false }])
      await expect(startWith({ newAdminToken: true, ...options })).rejects.toMatchObject({
        code: 'invalid_option',
        message: expect.stringContaining('SIGNAGE_ADMIN_TOKEN'),
      });
    expect(await platformTokens()).toEqual(['bootstrap']);
  });
});

describe('SIGNAGE_ADMIN_TOKEN', () => {
  it('is the bootstrap token at every start, and the same value changes nothing', async () => {
    expect(await start(first)).toEqual({ token: first });
    const before = [await rowOf(first), await audited()];
    expect(await start(first)).toEqual({ token: first });
    expect(await start()).toEqual({ token: undefined });
    expect([await rowOf(first), await audited()]).toEqual(before);
    expect(await platformTokens()).toEqual(['bootstrap']);
  });

  it('replaces the previous one when it changes, with an audit entry', async () => {
    await start(first);
    const id = (await rowOf(first))?.id;
    await start(second);
    expect(await rowOf(first)).toBeUndefined();
    expect(await platformTokens()).toEqual(['bootstrap']);
    const [created, deleted] = await audited();
    expect(created).toMatchObject({ action: 'token.create' });
    expect(deleted).toMatchObject({ action: 'token.delete', subject: { kind: 'token', id } });
  });

  it('is an additional token next to that of the first start', async () => {
    const { token } = await start();
    await start(first);
    expect(await rowOf(token)).toBeDefined();
    expect(await platformTokens()).toEqual(['bootstrap', 'first start']);
  });

  it('may be the token of the first start, and a changed value replaces that token, too', async () => {
    const { token } = await start();
    await start(token);
    expect(await platformTokens()).toEqual(['first start']);
    await start(second);
    expect(await platformTokens()).toEqual(['bootstrap']);
  });

  it('that would expire becomes a token that does not', async () => {
    await start(first);
    await put(1, { name: 'Brief', role: 'platform', hash: hashKey(second), expiresAt: 1 });
    await start(second);
    expect(await rowOf(second)).toMatchObject({ bootstrap: true, expiresAt: null });
    expect(await platformTokens()).toEqual(['Brief']);
  });

  it('gets another name when a platform or backup token already has its name', async () => {
    await start();
    await put(1, { name: 'Bootstrap', role: 'platform' });
    await put(2, { name: 'bootstrap 2', role: 'backup' });
    await start(first);
    expect((await rowOf(first))?.name).toBe('bootstrap 3');
  });

  it('is rejected when it is a tenant’s token, which still works', async () => {
    await start();
    const row = { name: 'Night shift', role: 'viewer', hash: hashKey(first) } as const;
    await put(1, { ...row, tenantId: (await tenantIds())[0] ?? '' });
    await expect(start(first)).rejects.toMatchObject({ code: 'invalid_option' });
    expect(await rowOf(first)).toMatchObject(row);
    expect(await platformTokens()).toEqual(['first start']);
  });

  it('is not mistaken for a tenant’s token when another instance adds it between two reads', async () => {
    await start(first);
    const behind = decorateStore(
      store,
      withTx(store, () => ({ select: async () => [] })),
    );
    expect(await start(first, true, behind)).toEqual({ token: first });
  });

  it.each([
    '',
    'mak_',
    'mak_tooShort',
    `mak_${'x'.repeat(23)}`,
    `mak_${'x'.repeat(24)}-`,
    `dak_${'x'.repeat(30)}`,
    `mak_${'ä'.repeat(24)}`,
    ` ${first}`,
  ])('rejects %j', (adminToken) => {
    const secret = adminToken.slice(4) || 'x'.repeat(9);
    expect(() => checkAdminToken(adminToken)).toThrow(
      expect.objectContaining({
        code: 'invalid_option',
        message: expect.not.stringContaining(secret),
      }),
    );
  });

  it('may have 24 characters, and is checked before a start touches the store', async () => {
    checkAdminToken(`mak_${'x'.repeat(24)}`);
    checkAdminToken(undefined);
    const folder = await temporaryFolder();
    const refused = serve({ port: 0, store: join(folder, 'data'), adminToken: 'mak_' });
    await expect(refused).rejects.toThrow('mak_ and at least 24');
    expect(readdirSync(folder)).toEqual([]);
  });
});
