import { describe, expect, it } from 'vitest';
import { serveSettings } from '../../../src/cli/commands/serve/options.ts';
import type { Flags } from '../../../src/cli/input/settings.ts';
import { readSettings, requirePlainVariables } from '../../../src/cli/input/settings.ts';
import { makeProgram } from '../../../src/cli/program/parser.ts';
import { tree } from '../../../src/cli/tree.ts';
import { fakeIo } from '../../support/process/fake-io.ts';

async function read(argv: string[], env: Record<string, string> = {}) {
  let flags: Flags = {};
  const { root } = makeProgram(tree, fakeIo(), async (_, command) => {
    flags = command.opts();
  });
  await root.parseAsync(['serve', ...argv], { from: 'user' });
  return readSettings(serveSettings, flags, env);
}

describe('settings of signage serve', () => {
  it('have the defaults that help shows', async () => {
    expect(await read([])).toEqual({
      allowOpenData: false,
      host: '127.0.0.1',
      port: 4100,
      data: './signage-data',
      store: 'json',
      databasePoolSize: 10,
      databaseStatementTimeout: 10,
      databaseLockTimeout: 5,
      codeTtlMinutes: 15,
      mediaLimit: 512,
      mediaQuota: 10_240,
      playlistQuota: 256,
      retentionDays: 90,
      authGraceSeconds: 0,
      maxConnections: 20_000,
      keepAlive: 75,
      trustProxy: [],
      webhookAllow: [],
      corsOrigin: [],
      fault: [],
      onDemandTtlSeconds: 10,
      onDemandTimeoutMs: 2000,
      onDemandConcurrency: 20,
      demo: false,
      newAdminToken: false,
      noCompression: false,
      noContext: false,
      noPlayer: false,
      logLevel: 'info',
      logFormat: 'auto',
    });
  });

  it('come from the environment', async () => {
    const env = {
      SIGNAGE_PORT: '0',
      SIGNAGE_STORE: 'memory',
      SIGNAGE_DEMO: 'yes',
      SIGNAGE_TRUST_PROXY: '10.0.0.1, 10.0.0.2',
      SIGNAGE_TLS_CERT: 'cert.pem',
    };
    expect(await read([], env)).toMatchObject({
      port: 0,
      store: 'memory',
      demo: true,
      trustProxy: ['10.0.0.1', '10.0.0.2'],
      tlsCert: 'cert.pem',
    });
  });

  it('prefer a flag to the environment', async () => {
    const env = {
      SIGNAGE_PORT: '1',
      SIGNAGE_HOST: 'elsewhere',
      SIGNAGE_TRUST_PROXY: '10.9.9.9',
      SIGNAGE_DEMO: 'false',
    };
    const argv = [
      '--port',
      '2',
      '--trust-proxy',
      '10.0.0.1',
      '--trust-proxy',
      '10.0.0.2',
      '--demo',
    ];
    expect(await read(argv, env)).toMatchObject({
      port: 2,
      host: 'elsewhere',
      trustProxy: ['10.0.0.1', '10.0.0.2'],
      demo: true,
    });
  });

  it('ignore an empty variable', async () =>
    expect((await read([], { SIGNAGE_PORT: '' })).port).toBe(4100));

  it.each([
    [['--port', 'http'], {}, '--port must be a whole number from 0 to 65535, not "http".'],
    [['--port', '65536'], {}, '--port must be a whole number from 0 to 65535, not "65536".'],
    [['--port=-1'], {}, '--port must be a whole number from 0 to 65535, not "-1".'],
    [['--port', '4.5'], {}, '--port must be a whole number'],
    [['--port', ''], {}, '--port must be a whole number'],
    [
      [],
      { SIGNAGE_PORT: '1e3' },
      'SIGNAGE_PORT must be a whole number from 0 to 65535, not "1e3".',
    ],
    [
      ['--code-ttl-minutes', '61'],
      {},
      '--code-ttl-minutes must be a whole number from 1 to 60, not "61".',
    ],
    [['--retention-days', '0'], {}, '--retention-days must be a whole number from 1'],
    [['--store', 'sqlite'], {}, '--store must be json, memory or postgres://user@host/database.'],
    [
      [],
      { SIGNAGE_LOG_LEVEL: 'loud' },
      'SIGNAGE_LOG_LEVEL must be one of debug, info, warn, error, silent, not "loud".',
    ],
    [[], { SIGNAGE_DEMO: 'maybe' }, 'SIGNAGE_DEMO must be true or false, not "maybe".'],
  ])('reject %j %j', async (argv, env, message) => {
    await expect(read(argv, env as Record<string, string>)).rejects.toThrow(
      expect.objectContaining({ code: 'usage', message: expect.stringContaining(message) }),
    );
  });
});

describe('requirePlainVariables', () => {
  it.each([
    ['SIGNAGE_DATA', '"/srv/signage"', 'quotes'],
    ['SIGNAGE_MEDIA', "'/srv/media'", 'quotes'],
    ['SIGNAGE_DATA', '/srv/signage\r', 'carriage return'],
    ['SIGNAGE_ADMIN_TOKEN', '"mak_example"\r', 'quotes'],
  ])('refuses %s=%j, naming the %s and not the value', (name, text, fault) => {
    const expected = { code: 'usage', message: expect.stringContaining(`${name} has`) };
    const refused = () => requirePlainVariables({ [name]: text });
    expect(refused).toThrowError(expect.objectContaining(expected));
    expect(refused).toThrowError(fault);
    expect(refused).not.toThrowError('mak_');
  });

  it('accepts plain values, and leaves the variables of others alone', () => {
    requirePlainVariables({ SIGNAGE_DATA: "/srv/it's", OTHER: '"x"' });
  });
});
