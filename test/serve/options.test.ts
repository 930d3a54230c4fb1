import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { serve } from '../../src/serve.ts';
import { temporaryFolder } from '../support/disk/temporary-folder.ts';

const onDemand = async () => null;
const onDemandUrl = 'https://ads.example';

describe('the options of serve', () => {
  it.each<[string, object, string?]>([
    ['a mistyped name', { prot: 0 }, 'Did you mean port?'],
    ['a name that is like no other', { somethingElse: 0 }, '"somethingElse"'],
    ['a name of Object.prototype', { constructor: 0 }, '"constructor"'],
    ['a store that is no store', { store: {} }, 'type Store'],
    ['null as a store', { store: null }, 'type Store'],
    ['a port below 0', { port: -1 }],
    ['a port above 65535', { port: 65_536 }],
    ['half a port', { port: 80.5 }],
    ['no port', { port: Number.NaN }],
    ['codes that live no minute', { codeTtlMinutes: 0 }],
    ['codes that live longer than an hour', { codeTtlMinutes: 61 }],
    ['no retention', { retentionDays: 0 }],
    ['half a day of retention', { retentionDays: 0.5 }],
    ['a proxy by name', { trustProxy: ['127.0.0.1', 'nginx'] }],
    ['a malformed range of proxies', { trustProxy: ['10.0.0.0/8', '10.0.0.0/33'] }],
    ['an origin with a path', { corsOrigins: ['https://tv.example.com/'] }],
    ['an origin in upper case', { corsOrigins: ['https://TV.example.com'] }],
    ['an origin with its default port', { corsOrigins: ['https://tv.example.com:443'] }],
    ['an origin without a scheme', { corsOrigins: ['tv.example.com'] }],
    ['an origin that is no URL', { corsOrigins: ['https://[x'] }],
    ['a malformed admin token', { adminToken: 'mak_x' }],
    ['a port without a listener', { listen: false, port: 0 }, 'port'],
    ['a certificate without a listener', { listen: false, tls: { cert: '', key: '' } }, 'tls'],
    ['a public URL without a scheme', { publicUrl: 'example.com' }, 'publicUrl'],
    ['a public URL with a query', { publicUrl: 'https://example.com/?a' }, 'publicUrl'],
    ['a public URL with credentials', { publicUrl: 'https://a:b@example.com' }, 'publicUrl'],
    ['a public URL with a password', { publicUrl: 'https://:b@example.com' }, 'publicUrl'],
    ['an ambiguous path', { publicUrl: 'https://example.com/devices/x' }, '/devices'],
    ['the path of a probe', { publicUrl: 'https://example.com/healthz' }, '/healthz'],
    ['an on-demand source that is no URL', { onDemand: 'ads.example' }],
    ['an unknown placeholder', { onDemand: 'https://ads.example/{screen}' }],
    ['a token without a URL', { onDemandToken: 'token' }],
    [
      'a token with a line break',
      { onDemand: onDemandUrl, onDemandToken: 'secretword\nHost: evil' },
    ],
    ['an empty token', { onDemand: onDemandUrl, onDemandToken: '' }],
    ['a TTL out of range', { onDemand, onDemandTtlSeconds: 3601 }],
    ['a time-out out of range', { onDemand, onDemandTimeoutMs: 0 }],
    ['a concurrency out of range', { onDemand, onDemandConcurrency: 0 }],
    ['an object store that is none', { objectStore: {} }, 'type ObjectStore'],
    ['a bucket without a region', { objectStore: 's3://bucket' }],
    ['an object store of another scheme', { objectStore: 'ftp://x' }],
    ['an object store on another host', { objectStore: 'file://host/x' }],
    ['an object store with a secret', { objectStore: 's3://AKIA:secretword@bucket' }],
  ])('invalid_option for %s, before the store is touched', async (_, options, message = '') => {
    const store = join(await temporaryFolder(), 'data');
    const listener = 'listen' in options ? {} : { port: 0 };
    const error = await serve({ store, ...listener, ...options }).catch((thrown) => thrown);
    expect(error).toMatchObject({ name: 'SignageError', code: 'invalid_option' });
    expect(error.message).toContain(message);
    expect(error.message).not.toContain('secretword');
    expect(existsSync(store)).toBe(false);
  });

  it('accept origins of packaged apps', async () => {
    const corsOrigins = ['null', '*', 'file://', 'app://tv', 'http://localhost:3000'];
    await using running = await serve({ port: 0, store: 'memory:', corsOrigins });
    expect((await fetch(`${running.url}/healthz`)).status).toBe(200);
  });
});
