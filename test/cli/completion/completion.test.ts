import { describe, expect, it } from 'vitest';
import { hangUp, json, raw, silence, stubService } from '../../support/network/stub-service.ts';
import { adminToken } from '../../support/service/service.ts';
import { runCli } from '../run-cli.ts';

/** Returns the candidates for the last word, without descriptions. */
async function offered(words: string[], env: Record<string, string>): Promise<string[]> {
  const { code, stdout, stderr } = await runCli(['completion', 'fish', '--', ...words], { env });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => line.split('\t', 1)[0] ?? '');
}

describe('signage completion SHELL', () => {
  it.each(['bash', 'zsh', 'fish'])('prints the script of %s without a service', async (shell) => {
    const { code, stdout, stderr } = await runCli(['completion', shell]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(`signage completion ${shell}`);
  });
});

describe('completion of names', () => {
  it('completes nothing without a token, and sends no request', async () => {
    const stub = await stubService(json(200, {}));
    expect(await offered(['venue', 'get', ''], { SIGNAGE_URL: stub.url })).toEqual([]);
    expect(stub.heard).toEqual([]);
  });

  it.each([
    ['HTML', raw(200, '<html>')],
    ['half an answer', raw(200, '{"items":[{"id":')],
    ['an answer of another shape', json(200, { items: [{ name: 1 }] })],
    ['a closed connection', hangUp],
    ['401', json(401, { code: 'credential_invalid', detail: 'no' })],
    ['silence', silence],
  ])('completes nothing, quickly, for %s', async (_, answer) => {
    const stub = await stubService(answer);
    const startedMs = Date.now();
    expect(
      await offered(['venue', 'get', ''], { SIGNAGE_URL: stub.url, SIGNAGE_TOKEN: adminToken }),
    ).toEqual([]);
    expect(Date.now() - startedMs).toBeLessThan(3_000);
  });

  it('offers ids for names that cannot be typed', async () => {
    const times = {
      createdAt: '',
      updatedAt: '',
      tenantId: 't',
      address: 'a\tb\nc',
      timezone: null,
      hours: null,
      labels: {},
    };
    const items = ['\u001b[2J', 'a\nb', '--yes', 'Plain'].map((name, at) => ({
      id: `id-${at}`,
      name,
      ...times,
    }));
    const stub = await stubService(json(200, { items, nextCursor: null }));
    const { stdout } = await runCli(['completion', 'fish', '--', 'venue', 'get', ''], {
      env: { SIGNAGE_URL: stub.url, SIGNAGE_TOKEN: adminToken },
    });
    expect(stdout).toBe('id-0\ta b c\nid-1\ta b c\nPlain\ta b c\n');
  });
});

describe('completion in bash', () => {
  it('quotes any name', async () => {
    const names = ['$(touch x)', 'it\'s `x` "y"', 'a:b;c', '~root', 'Größe 5*'];
    const times = {
      createdAt: '',
      updatedAt: '',
      tenantId: 't',
      address: null,
      timezone: null,
      hours: null,
      labels: {},
    };
    const stub = await stubService(
      json(200, {
        items: names.map((name, at) => ({ id: `id-${at}`, name, ...times })),
        nextCursor: null,
      }),
    );
    const env = { SIGNAGE_URL: stub.url, SIGNAGE_TOKEN: adminToken };
    const lines = async (line: string) =>
      (await runCli(['completion', 'bash', '--', line], { env })).stdout.split('\n').slice(0, -1);
    expect(await lines('signage venue get ')).toEqual([
      '\\$\\(touch\\ x\\)',
      'it\\\'s\\ \\`x\\`\\ \\"y\\"',
      'a:b\\;c',
      '\\~root',
      'Größe\\ 5\\*',
    ]);
    expect(await lines('signage venue get a:')).toEqual(['b\\;c']);
    expect(await lines('signage venue get "')).toEqual([
      '\\$(touch x)',
      'it\'s \\`x\\` \\"y\\"',
      'a:b;c',
      '~root',
      'Größe 5*',
    ]);
    expect(await lines("signage venue get '")).toEqual([
      '$(touch x)',
      'a:b;c',
      '~root',
      'Größe 5*',
    ]);
  });
});
