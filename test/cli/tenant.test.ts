// signage tenant create, list, get, update, delete.
import { beforeAll, describe, expect, it } from 'vitest';
import type { Clock } from '../../src/domain/clock.ts';
import type { TestService } from '../support/service.ts';
import { type Cli, startCli } from './run-cli.ts';

let cli: Cli;
let service: TestService<Clock>;
let admin: Cli;
beforeAll(async () => {
  let as: (role: string) => Promise<Cli>;
  ({ cli, service, as } = await startCli());
  admin = await as('admin');
});

const names = async () =>
  (await service.manage('GET', '/v1/tenants')).body.items.map(({ name }: { name: string }) => name);
const make = async (name: string) => (await service.manage('POST', '/v1/tenants', { name })).body;

describe('signage tenant create', () => {
  it('creates a tenant and prints it', async () => {
    const run = await cli(['tenant', 'create', '--name', 'Acme', '-o', 'json']);
    expect(run).toMatchObject({
      code: 0,
      json: { name: 'Acme', id: expect.any(String) },
      stderr: '',
    });
    expect(await names()).toContain('Acme');
    expect((await cli(['tenant', 'create', '--name', 'Beta'])).stdout).toMatch(
      /^Name +Beta\nId +[0-9a-f-]{36}\n/,
    );
  });

  it('2 without a name, 5 for a taken name, 6 for an invalid name', async () => {
    await make('Taken');
    expect((await cli(['tenant', 'create'])).code).toBe(2);
    const taken = await cli(['tenant', 'create', '--name', 'taken']);
    expect(taken.code).toBe(5);
    expect(taken.stderr).toContain('signage tenant get taken');
    expect((await cli(['tenant', 'create', '--name', ' '])).code).toBe(6);
  });
});

describe('signage tenant list, get', () => {
  it('lists all tenants, or those that match --search', async () => {
    await make('Search me');
    expect(
      (await cli(['tenant', 'list', '-o', 'json', '--jq', '.[].name'])).stdout
        .split('\n')
        .slice(0, -1),
    ).toEqual(await names());
    expect((await cli(['tenant', 'list', '--search', 'SEARCH', '-o', 'name'])).stdout).toBe(
      'Search me\n',
    );
    expect((await cli(['tenant', 'list'])).stdout).toMatch(/^NAME +ID\n/);
    expect((await admin(['tenant', 'list'])).code).toBe(4);
  });

  it('finds one by name or id; 3 for an unknown name', async () => {
    const tenant = await make('Find me');
    for (const name of ['find me', tenant.id])
      expect((await cli(['tenant', 'get', name, '-o', 'json'])).json).toEqual(tenant);
    expect((await cli(['tenant', 'get', 'Nothing'])).code).toBe(3);
    expect((await cli(['tenant', 'get', '0190a5b4-6f00-7c3e-9d2a-5b8f1e2c3d4e'])).code).toBe(3);
  });
});

describe('signage tenant update', () => {
  it('renames a tenant', async () => {
    const { id } = await make('Before');
    expect(
      (await cli(['tenant', 'update', 'Before', '--name', 'After', '-o', 'json'])).json,
    ).toMatchObject({ id, name: 'After' });
    expect(await names()).toContain('After');
  });

  it('2 without a name, 5 for a taken name', async () => {
    await make('One');
    await make('Two');
    expect((await cli(['tenant', 'update', 'One'])).code).toBe(2);
    expect((await cli(['tenant', 'update', 'One', '--name', 'TWO'])).code).toBe(5);
  });
});

describe('signage tenant delete', () => {
  it('asks, or accepts --yes; 2 without a terminal', async () => {
    await make('Doomed');
    expect((await cli(['tenant', 'delete', 'Doomed'])).code).toBe(2);
    expect(
      (
        await cli(['tenant', 'delete', 'Doomed'], {
          tty: true,
          keys: [[/Delete the tenant "Doomed" and its tokens\?/, 'n\r']],
        })
      ).code,
    ).toBe(5);
    expect(await names()).toContain('Doomed');
    const run = await cli(['tenant', 'delete', 'Doomed', '--yes']);
    expect(run).toMatchObject({ code: 0, stdout: '', stderr: 'Deleted the tenant "Doomed".\n' });
    expect(await names()).not.toContain('Doomed');
  });

  it('5 while it has venues, with a hint', async () => {
    await make('Full house');
    expect((await cli(['venue', 'create', '--name', 'V', '--tenant', 'Full house'])).code).toBe(0);
    const run = await cli(['tenant', 'delete', 'Full house', '--yes']);
    expect(run.code).toBe(5);
    expect(run.stderr).toContain("signage venue list --tenant 'Full house'");
    expect(await names()).toContain('Full house');
  });
});
