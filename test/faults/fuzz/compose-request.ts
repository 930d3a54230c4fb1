import { type Operation, operations } from '../../../src/wire/operations.ts';
import { type Described, operationOf, systemOperations } from '../../support/described-answers.ts';
import type { Fixture } from './fixture.ts';
import { Grower, guid, type Schema } from './grow-json.ts';
import { nastyTexts } from './nasty-values.ts';
import type { FuzzRandom } from './random.ts';
import { spoilBody } from './spoil-json.ts';

/** Kinds of credentials. */
export const callerKinds = ['platform', 'tenant', 'device'] as const;
export type CallerKind = (typeof callerKinds)[number];

/** A request with its expectations. */
export interface Composed {
  method: string;
  path: string;
  headers: [name: string, value: string][];
  body: string | Buffer | undefined;
  /** The operation of the request, if any. */
  described: Described | undefined;
}

/** Returns the operations to call. Those of TVs are the most frequent. */
function tableOf(only: readonly string[] | undefined): Operation[] {
  const all = Object.entries<Operation>(operations)
    .filter(([id]) => only?.includes(id) ?? true)
    .map(([, operation]) => operation);
  const ofTvs = all.filter(({ access }) => access === 'device' || access === 'public');
  return [...all, ...ofTvs, ...ofTvs, ...ofTvs, ...ofTvs];
}

/** Operations that return a whole store are rarely called. */
const seldom = ['/v1/backup', '/openapi.json', '/metrics'];
const methods = [
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'TRACE',
  'PROPFIND',
  'SEARCH',
  'M-SEARCH',
  'PURGE',
  'MKCOL',
  'LINK',
];
const otherPaths = [
  '/',
  '//',
  '/v1',
  '/v1/',
  '/v2/venues',
  '/devices',
  '/devices/',
  '/docs/',
  '/docs/page.js',
  '/docs/../v1/me',
  '/media/x.svg',
  '/.env',
];
const visible = (text: string) =>
  text.replaceAll(/[^\x21-\x7e]/gu, (one) =>
    encodeURIComponent(one.isWellFormed() ? one : '\ufffd'),
  );

/** Composes requests. Most are valid, or invalid in one place. */
export class Composer {
  readonly #document: Schema;
  readonly #world: Fixture;
  readonly #grower: Grower;
  readonly #table: Operation[];

  /** `only` limits the operations. */
  constructor(document: Schema, world: Fixture, only?: readonly string[]) {
    this.#table = tableOf(only);
    this.#document = document;
    this.#world = world;
    this.#grower = new Grower(document, (name, fuzzRandom) => world.idFor(name, fuzzRandom));
  }

  compose(fuzzRandom: FuzzRandom): Composed {
    if (fuzzRandom.happens(0.04)) return this.#beside(fuzzRandom);
    const operation = fuzzRandom.one(this.#table);
    if (seldom.includes(operation.path) && fuzzRandom.happens(0.97))
      return this.compose(fuzzRandom);
    return this.composeFor(operation, fuzzRandom);
  }

  /** Composes a request of one operation. `caller`: whose credential it has. Default: random. */
  composeFor(operation: Operation, fuzzRandom: FuzzRandom, caller?: CallerKind): Composed {
    const template = operation.path.replace(/:(\w+)/g, '{$1}');
    const described = this.#document.paths[template][operation.method.toLowerCase()];
    const tv = fuzzRandom.one(this.#world.known.tvs);
    const path = this.#path(operation, tv.screenId, fuzzRandom);
    const method = fuzzRandom.happens(0.02)
      ? fuzzRandom.one(methods)
      : operation.method === 'GET' && fuzzRandom.happens(0.03)
        ? 'HEAD'
        : operation.method;
    const body = this.#body(described.requestBody, fuzzRandom);
    const headers = [
      ...(caller
        ? this.#credentialOf(caller, tv.apiKey)
        : this.#credential(operation, tv.apiKey, fuzzRandom)),
      ...this.#headers(operation, body, fuzzRandom),
    ];
    return this.#finish(
      method,
      `${path}${this.#query(described.parameters ?? [], fuzzRandom)}`,
      headers,
      body,
    );
  }

  /** Requests for system paths and unknown paths. */
  #beside(fuzzRandom: FuzzRandom): Composed {
    const path = fuzzRandom.one(
      fuzzRandom.happens(0.5) ? Object.keys(systemOperations) : otherPaths,
    );
    if (seldom.includes(path) && fuzzRandom.happens(0.9)) return this.compose(fuzzRandom);
    const query = fuzzRandom.happens(0.3) ? `?${visible(fuzzRandom.one(nastyTexts))}` : '';
    return this.#finish(
      fuzzRandom.happens(0.7) ? 'GET' : fuzzRandom.one(methods),
      `${path}${query}`,
      [],
      undefined,
    );
  }

  #finish(
    method: string,
    path: string,
    headers: Composed['headers'],
    body: Composed['body'],
  ): Composed {
    const isBare = method === 'GET' || method === 'HEAD' || method === 'TRACE';
    // Dot segments change a path before it is routed (RFC 3986 §5.2.4).
    const place = URL.canParse(`http://fuzz${path}`)
      ? new URL(`http://fuzz${path}`).pathname
      : path;
    return {
      method,
      path,
      headers,
      body: isBare ? undefined : body,
      described: operationOf(method === 'HEAD' ? 'GET' : method, place),
    };
  }

  #path({ path, access }: Operation, screenId: string, fuzzRandom: FuzzRandom): string {
    const id = access === 'device' ? screenId : this.#world.idInPath(path, fuzzRandom);
    const other = () =>
      fuzzRandom.one([
        guid(fuzzRandom),
        visible(fuzzRandom.one(nastyTexts)) || 'x',
        id.toUpperCase(),
        encodeURIComponent(id).replaceAll('-', '%2D'),
      ]);
    const filled = path.replace(/:\w+/, () => (fuzzRandom.happens(0.9) ? id : other()));
    return fuzzRandom.happens(0.01)
      ? `${filled}${fuzzRandom.one(['/', '//', '/x', '%2f', ';a=b', '.', '/..'])}`
      : filled;
  }

  #query(parameters: readonly Schema[], fuzzRandom: FuzzRandom): string {
    const known = parameters.filter(({ in: place }) => place === 'query');
    const pairs = known
      .filter(({ required }) => required || fuzzRandom.happens(0.25))
      .filter(({ name }) => name !== 'waitSeconds' || fuzzRandom.happens(0.1))
      .map(({ name, schema }) => [
        name,
        name === 'waitSeconds'
          ? fuzzRandom.one(['1', '0', '31', '1.5', 'x', '-1'])
          : fuzzRandom.happens(0.75)
            ? String(this.#grower.grow(schema, fuzzRandom, name))
            : fuzzRandom.one(nastyTexts),
      ]);
    if (fuzzRandom.happens(0.02))
      pairs.push([
        fuzzRandom.one(['nonsense', '__proto__', 'limit', ...nastyTexts.slice(0, 30)]),
        fuzzRandom.one(nastyTexts),
      ]);
    if (fuzzRandom.happens(0.02) && pairs[0]) pairs.push(pairs[0]);
    if (pairs.length === 0)
      return fuzzRandom.happens(0.01)
        ? fuzzRandom.one(['?', '?&', '?=', '?%zz', '?a=%00', '?limit'])
        : '';
    const encode = (text = '') =>
      fuzzRandom.happens(0.02)
        ? visible(text).replaceAll('#', '')
        : encodeURIComponent(text.toWellFormed());
    return `?${pairs.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&')}`;
  }

  #body(described: Schema, fuzzRandom: FuzzRandom): Composed['body'] {
    if (!described) return fuzzRandom.happens(0.03) ? spoilBody({ a: 1 }, fuzzRandom) : undefined;
    if (!described.required && fuzzRandom.happens(0.3)) return undefined;
    const value = this.#grower.grow(described.content['application/json'].schema, fuzzRandom);
    return fuzzRandom.happens(0.5) ? JSON.stringify(value) : spoilBody(value, fuzzRandom);
  }

  #credentialOf(caller: CallerKind, apiKey: string): Composed['headers'] {
    const { platformToken, tenantId, adminToken } = this.#world;
    const key = { platform: platformToken, tenant: adminToken, device: apiKey }[caller];
    const tenant: Composed['headers'] = caller === 'platform' ? [['x-tenant-id', tenantId]] : [];
    return [['authorization', `Bearer ${key}`], ...tenant];
  }

  #credential(
    { access, path }: Operation,
    apiKey: string,
    fuzzRandom: FuzzRandom,
  ): Composed['headers'] {
    const { platformToken, tenantId, known } = this.#world;
    if (fuzzRandom.happens(0.03)) return [];
    const bearer = (key: string): [string, string] => [
      'authorization',
      `${fuzzRandom.one(['Bearer', 'Bearer', 'bearer'])} ${key}`,
    ];
    if (fuzzRandom.happens(0.03))
      return [
        bearer(
          fuzzRandom.one([
            apiKey,
            platformToken,
            'mak_x',
            `dak_${'0'.repeat(49)}`,
            '',
            'é',
            'a b',
            'x'.repeat(3000),
          ]),
        ),
      ];
    if (access === 'device') return [bearer(apiKey)];
    if (path === '/devices/claims/:claim') return [bearer(fuzzRandom.one(known.claims).token)];
    const isPlatform = access === 'platform' || fuzzRandom.happens(0.6);
    const named: Composed['headers'] =
      isPlatform || fuzzRandom.happens(0.1)
        ? [['x-tenant-id', fuzzRandom.happens(0.97) ? tenantId : fuzzRandom.one(known.tenants)]]
        : [];
    return [bearer(isPlatform ? platformToken : fuzzRandom.one(known.tokens)), ...named];
  }

  #headers(
    { headers: taken = [], conditional, revision }: Operation,
    body: Composed['body'],
    fuzzRandom: FuzzRandom,
  ): Composed['headers'] {
    const headers: Composed['headers'] = [
      [
        'x-forwarded-for',
        `203.0.113.${fuzzRandom.whole(0, 255)}, 10.${fuzzRandom.whole(0, 255)}.${fuzzRandom.whole(0, 255)}.1`,
      ],
    ];
    const add = (probability: number, name: string, ...values: string[]) => {
      if (fuzzRandom.happens(probability)) headers.push([name, fuzzRandom.one(values)]);
    };
    if (body !== undefined)
      headers.push([
        'content-type',
        fuzzRandom.happens(0.95) ? 'application/json' : fuzzRandom.one(contentTypes),
      ]);
    if (taken.length > 0)
      add(
        0.5,
        'idempotency-key',
        guid(fuzzRandom),
        'the-same-key-as-ever',
        'k',
        '',
        ' ',
        'ü',
        'x'.repeat(256),
      );
    if (conditional)
      add(0.4, 'if-none-match', '*', '"x"', 'W/"x"', '"', '', ',,,', `${'"a",'.repeat(300)}"b"`);
    if (revision) {
      add(0.1, 'if-match', '*', '"x"', 'W/"x"', '"', '', ',,,', `${'"a",'.repeat(300)}"b"`);
      add(0.05, 'if-none-match', '*', '"x"', '');
    }
    add(0.2, 'accept-encoding', 'gzip', 'br, gzip;q=0.5', '*;q=0', 'identity;q=0', ';;,q=', '');
    add(0.05, 'x-request-id', 'fuzz', '', 'a b', 'x'.repeat(129), '../..', 'é');
    add(0.03, 'accept', 'text/csv', 'text/csv;q=0', '*/*', 'application/xml', ';;;', '');
    add(0.02, 'content-encoding', 'gzip', 'identity', 'br', '');
    add(0.02, 'range', 'bytes=0-1', 'bytes=-1');
    add(0.02, 'origin', 'https://tv.example.com', 'null');
    add(0.02, 'x-http-method-override', 'DELETE');
    add(0.01, 'x-tenant-id', ...nastyTexts.filter((text) => /^[\x20-\xff]*$/.test(text)));
    add(0.01, 'cookie', 'a=b; '.repeat(100));
    return headers;
  }
}

const contentTypes = [
  'application/merge-patch+json',
  'APPLICATION/JSON; charset=utf-16',
  'application/json;;',
  'text/plain',
  'multipart/form-data',
  '+json',
  'x',
  '',
];
