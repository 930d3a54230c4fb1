import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { ServeOptions } from '../../src/serve/serve-options.ts';
import { type Running, serve, serveOn } from '../../src/serve.ts';
import { decorateStore } from '../../src/service/store-decorator.ts';
import { openStore } from '../../src/store/open.ts';
import { withTx } from '../support/defective-store.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

let running: Running | undefined;
afterEach(() => running?.close());

/** Restarts the service on the same folder. */
async function start(store: string, options: ServeOptions = {}): Promise<Running> {
  await running?.close();
  running = await serve({ port: 0, store, ...options });
  return running;
}

async function ask(
  token: string | undefined,
  path: string,
  init: RequestInit = {},
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
): Promise<{ status: number; body: any }> {
  const response = await fetch(`${running!.url}${path}`, {
    ...init,
    headers: { Authorization: `Bearer ${token}`, ...init.headers },
  });
  return { status: response.status, body: await response.json() };
}

const post = (token: string, path: string, body: object) =>
  ask(token, path, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'Content-Type': 'application/json' },
  });

const platformTokens = async (token: string) =>
  (await ask(token, '/v1/tokens')).body.items
    .filter((one: { role: string }) => one.role === 'platform')
    .map(({ name }: { name: string }) => name);

/** Returns the contents of all files in a folder. */
const filesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n');

const [first, second] = ['mak_firstFirstFirstFirstFirst', 'mak_secondSecondSecondSecond'] as const;

describe('the first start', () => {
  it('creates a tenant named default and one platform token, displayed once', async () => {
    const folder = await temporaryFolder();
    const { adminToken } = await start(folder);
    expect(adminToken).toMatch(/^mak_[0-9A-Za-z]{49}$/);
    expect((await ask(adminToken, '/v1/tenants')).body.items).toEqual([
      expect.objectContaining({ name: 'default' }),
    ]);
    expect((await ask(adminToken, '/v1/me')).body).toMatchObject({
      role: 'platform',
      tenantName: 'default',
    });
    expect((await ask(adminToken, '/v1/tokens')).body.items).toHaveLength(1);
    const again = await start(folder);
    expect(again.adminToken).toBeUndefined();
    expect((await ask(adminToken, '/v1/me')).status).toBe(200);
    expect((await ask(adminToken, '/v1/tenants')).body.items).toHaveLength(1);
    await running?.close();
    expect(filesIn(folder)).not.toContain(adminToken!.slice(4));
  });

  it('with a given token that expires makes it a token that does not expire', async () => {
    const folder = await temporaryFolder();
    await start(folder, { adminToken: first });
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    const brief = (await post(first, '/v1/tokens', { name: 'Brief', role: 'platform', expiresAt }))
      .body;
    expect((await ask(brief.token, '/v1/me')).body.expiresAt).toBe(expiresAt);
    await start(folder, { adminToken: brief.token });
    expect((await ask(brief.token, '/v1/me')).body).toMatchObject({
      tokenId: brief.id,
      expiresAt: null,
    });
    expect(await platformTokens(brief.token)).toEqual(['Brief']);
  });

  it('with a given token creates no other', async () => {
    const { adminToken } = await start(await temporaryFolder(), { adminToken: first });
    expect(adminToken).toBe(first);
    expect(await platformTokens(first)).toEqual(['bootstrap']);
  });

  it('leaves existing tenants alone: a second start creates no tenant, even if the first was renamed', async () => {
    const folder = await temporaryFolder();
    const { adminToken } = await start(folder);
    const [tenant] = (await ask(adminToken, '/v1/tenants')).body.items;
    const init = {
      method: 'PATCH',
      body: '{"name":"Aurora"}',
      headers: { 'Content-Type': 'application/json' },
    };
    await ask(adminToken, `/v1/tenants/${tenant.id}`, init);
    await start(folder, { adminToken: first });
    expect((await ask(first, '/v1/tenants')).body.items).toEqual([
      expect.objectContaining({ id: tenant.id, name: 'Aurora' }),
    ]);
  });
});

describe('SIGNAGE_ADMIN_TOKEN', () => {
  it('is the bootstrap token at every start, and the same value changes nothing', async () => {
    const folder = await temporaryFolder();
    await start(folder, { adminToken: first });
    const { tokenId } = (await ask(first, '/v1/me')).body;
    const entries = (await ask(first, '/v1/audit')).body.items;
    expect((await start(folder, { adminToken: first })).adminToken).toBe(first);
    expect((await ask(first, '/v1/me')).body.tokenId).toBe(tokenId);
    expect((await ask(first, '/v1/audit')).body.items).toEqual(entries);
  });

  it('replaces the previous one when it changes, with an audit entry', async () => {
    const folder = await temporaryFolder();
    await start(folder, { adminToken: first });
    const { tokenId } = (await ask(first, '/v1/me')).body;
    await start(folder, { adminToken: second });
    expect((await ask(first, '/v1/me')).body).toMatchObject({
      status: 401,
      code: 'credential_invalid',
    });
    expect(await platformTokens(second)).toEqual(['bootstrap']);
    const { items } = (await ask(second, '/v1/audit?limit=2')).body;
    expect(items).toEqual([
      expect.objectContaining({
        action: 'token.create',
        actor: { kind: 'system', id: null, name: null },
      }),
      expect.objectContaining({ action: 'token.delete', subject: { kind: 'token', id: tokenId } }),
    ]);
  });

  it('still works after a start without it', async () => {
    const folder = await temporaryFolder();
    await start(folder, { adminToken: first });
    expect((await start(folder)).adminToken).toBeUndefined();
    expect((await ask(first, '/v1/me')).status).toBe(200);
  });

  it('is an additional token next to that of the first start', async () => {
    const folder = await temporaryFolder();
    const { adminToken } = await start(folder);
    await start(folder, { adminToken: first });
    expect((await ask(adminToken, '/v1/me')).status).toBe(200);
    expect(await platformTokens(first)).toEqual(['first start', 'bootstrap']);
  });

  it('may be the token of the first start, and a changed value replaces that token, too', async () => {
    const folder = await temporaryFolder();
    const { adminToken } = await start(folder);
    await start(folder, { adminToken: adminToken! });
    expect(await platformTokens(adminToken!)).toEqual(['first start']);
    await start(folder, { adminToken: second });
    expect((await ask(adminToken, '/v1/me')).status).toBe(401);
    expect(await platformTokens(second)).toEqual(['bootstrap']);
  });

  it('gets another name when a platform or backup token already has its name', async () => {
    const folder = await temporaryFolder();
    const { adminToken } = await start(folder);
    await post(adminToken!, '/v1/tokens', { name: 'Bootstrap', role: 'platform' });
    await post(adminToken!, '/v1/tokens', { name: 'bootstrap 2', role: 'backup' });
    await start(folder, { adminToken: first });
    expect((await ask(first, '/v1/me')).body.name).toBe('bootstrap 3');
    expect(await platformTokens(first)).toEqual(['first start', 'Bootstrap', 'bootstrap 3']);
  });

  it('is rejected when it is a tenant’s token, which still works', async () => {
    const folder = await temporaryFolder();
    const { adminToken } = await start(folder);
    const { token } = (
      await post(adminToken!, '/v1/tokens', { name: 'Night shift', role: 'viewer' })
    ).body;
    await expect(start(folder, { adminToken: token })).rejects.toMatchObject({
      code: 'invalid_option',
    });
    await start(folder);
    expect((await ask(token, '/v1/me')).body.role).toBe('viewer');
  });

  it('is not mistaken for a tenant’s token when another instance adds it between two reads', async () => {
    const folder = await temporaryFolder();
    await start(folder, { adminToken: first });
    await running?.close();
    const open: typeof openStore = async (...given) => {
      const store = await openStore(...given);
      return decorateStore(
        store,
        withTx(store, () => ({ select: async () => [] })),
      );
    };
    running = await serveOn(open, { port: 0, store: folder, adminToken: first });
    expect((await ask(first, '/v1/me')).status).toBe(200);
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
  ])('rejects a start with %j, and changes nothing', async (adminToken) => {
    const folder = await temporaryFolder();
    const refused = serve({ port: 0, store: join(folder, 'data'), adminToken });
    await expect(refused).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining('mak_'),
    });
    if (adminToken !== '')
      await expect(refused).rejects.not.toMatchObject({
        message: expect.stringContaining(adminToken.slice(4) || 'x'.repeat(9)),
      });
    expect(readdirSync(folder)).toEqual([]);
  });

  it('accepts 24 characters', async () => {
    const adminToken = `mak_${'x'.repeat(24)}`;
    await start(await temporaryFolder(), { adminToken });
    expect((await ask(adminToken, '/v1/me')).status).toBe(200);
  });
});
