// Options of `serve` with the right name and a wrong value, as a program in JavaScript can pass.
import { expect, it } from 'vitest';
import { serveRules } from '../../src/serve/option-rules.ts';
import type { ServeOptions } from '../../src/serve/serve-options.ts';
import { serve } from '../../src/serve.ts';
import { adminToken } from '../support/service/service.ts';

const rejection = async (options: object) => {
  const running = await serve({
    port: 0,
    store: 'memory:',
    adminToken,
    ...options,
  } as ServeOptions).catch((error: unknown) => error as { code: string; message: string });
  if ('close' in running) {
    await running.close();
    return 'started';
  }
  return `${running.code}: ${running.message}`;
};

it.each<[object, string]>([
  [{ log: console.log }, 'log must be an object with debug, info, warn and error, not [Function'],
  [{ log: { info() {} } }, 'log must be an object with debug, info, warn and error'],
  [
    { corsOrigins: 'https://tv.example.com' },
    "corsOrigins must be a list of texts, not 'https://tv",
  ],
  [{ corsOrigins: [7] }, 'corsOrigins.0 must be a text'],
  [{ trustProxy: '10.0.0.1' }, 'trustProxy must be a list of texts'],
  [{ faults: 'x' }, "faults must be a list of texts, not 'x'"],
  [{ clock: {} }, 'clock must be an object with now and after, not {}'],
  [{ clock: Date }, 'clock must be an object with now and after'],
  [{ random: 4 }, 'random must be a function, not 4'],
  [{ keepToken: true }, 'keepToken must be a function'],
  [
    { database: 'x' },
    'database must be an object with poolSize, statementTimeoutSeconds, lockTimeout',
  ],
  [{ database: { poolSize: 1 } }, 'database.poolSize must be a whole number from 2 to 200'],
  [{ aws: 5 }, 'aws must be an object with accessKeyId, secretAccessKey, sessionToken, region.'],
  [{ tls: 'x' }, 'tls must be an object with cert, key.'],
  [{ tls: { cert: 'x', key: 5 } }, 'tls.key must be a text.'],
  [{ demo: 'yes' }, "demo must be true or false, not 'yes'"],
  [{ listen: 0 }, 'listen must be true or false'],
  [{ player: null }, 'player must be true or false, not null'],
  [{ port: '4100' }, "port must be a whole number from 0 to 65535, not '4100'"],
  [{ port: 65_536 }, 'port must be a whole number'],
  [{ retentionDays: 0.5 }, 'retentionDays must be a whole number from 1 to 36500, not 0.5'],
  [{ onDemandConcurrency: 0 }, 'onDemandConcurrency must be a whole number from 1 to 1000'],
  [{ onDemand: {} }, 'onDemand must be a function, or a URL.'],
  [{ store: 7 }, 'store must be a location, or an object of the type Store.'],
  [{ store: 'memory' }, 'store must be memory: for a store in memory, or ./memory for a folder.'],
  [
    { objectStore: {} },
    'objectStore must be a URL, none, or an object of the type ObjectStore, not {}.',
  ],
  [{ adminToken: 5 }, 'adminToken must be a text.'],
])('invalid_option for %o', async (options, message) => {
  expect(await rejection(options)).toContain(`invalid_option: The option ${message}`);
});

it('every option refuses a symbol, and accepts undefined', async () => {
  for (const name of Object.keys(serveRules.shapes)) {
    expect(await rejection({ [name]: Symbol('x') })).toContain(`The option ${name} must be`);
  }
  const all = Object.keys(serveRules.shapes).filter(
    (name) => !['port', 'store', 'adminToken'].includes(name),
  );
  expect(await rejection(Object.fromEntries(all.map((name) => [name, undefined])))).toBe('started');
});

it.each(['https://*.example.com', 'https://*', '*.example.com'])(
  'invalid_option for the origin %s, which never matches',
  async (origin) => {
    expect(await rejection({ corsOrigins: [origin] })).toContain('is not an origin');
  },
);

it('no message shows a value that may be secret', async () => {
  const secret = 'mak_0123456789abcdefghijABCDEF';
  for (const name of ['adminToken', 'metricsToken', 'onDemandToken', 'tls', 'aws', 'store'])
    expect(await rejection({ [name]: [secret] })).not.toContain(secret);
});
