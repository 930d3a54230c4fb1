import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, it } from 'vitest';
import { listenerErrors } from '../../../src/http/openapi/answers.ts';
import { examples } from '../../../src/http/openapi/content.ts';
import { openApiDocument } from '../../../src/http/openapi/document.ts';
import { errorKinds } from '../../../src/wire/errors.ts';
import { impliedErrors, possibleErrors } from '../../../src/wire/operation.ts';
import { type Operation, operations } from '../../../src/wire/operations/operations.ts';
import { type SchemaName, schemas } from '../../../src/wire/schemas.ts';
import { responseIn } from '../../support/service/described-answers.ts';

type Json = { [name: string]: Json } & Json[];

const document = JSON.parse(JSON.stringify(openApiDocument('1.2.3'))) as Json;
const table = Object.entries<Operation>(operations);

function described({ path, method }: Operation): Json {
  return document.paths![path.replace(/:(\w+)/g, '{$1}')]![method.toLowerCase()]!;
}

const responseOf = ({ path, method }: Operation, status: number | string): Json =>
  responseIn(document, path.replace(/:(\w+)/g, '{$1}'), method, status).response;

/** Yields every object of a document with its path. */
function* objectsIn(
  value: unknown,
  place = '#',
): Generator<[place: string, object: Record<string, unknown>]> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield [place, value as Record<string, unknown>];
  for (const [name, member] of Object.entries(value))
    yield* objectsIn(member, `${place}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`);
}

const everywhere = [
  'X-Request-Id',
  'X-Content-Type-Options',
  'Referrer-Policy',
  'Content-Security-Policy',
];
const objects = [...objectsIn(document)];
const places = new Set(objects.map(([place]) => place));

describe('GET /openapi.json', () => {
  it('is valid OpenAPI 3.1', async () => {
    const result = await new Validator().validate(structuredClone(document));
    expect(result.errors).toBeUndefined();
    expect(result.valid).toBe(true);
    expect(document.openapi).toMatch(/^3\.1\./);
  });

  it('has the version of the service', () => expect(document.info!.version).toBe('1.2.3'));

  it('has no dangling reference', () => {
    const references = objects
      .map(([, object]) => object.$ref)
      .filter((reference) => typeof reference === 'string');
    expect(references.length).toBeGreaterThan(100);
    expect(references.filter((reference) => !places.has(reference))).toEqual([]);
  });

  it('has the operations of the table and the system paths, and no others', () => {
    const ids = Object.values(document.paths!).flatMap((path) =>
      Object.values(path).map((operation) => operation.operationId),
    );
    const system = ['getHealth', 'getReadiness', 'getMetrics', 'getOpenApi', 'getDocs'];
    expect(ids.toSorted()).toEqual([...Object.keys(operations), ...system].toSorted());
  });

  it('groups each operation under a described tag', () => {
    const tags = document.tags!.map((tag) => tag.name);
    const used = table.flatMap(([, operation]) => described(operation).tags as unknown as string[]);
    expect(used.filter((tag) => !(tags as unknown[]).includes(tag))).toEqual([]);
    expect(used).toHaveLength(table.length);
  });

  it('has no lower bound of JavaScript numbers, no flags in patterns, and extensible responses', () => {
    const numbers = objects.filter(([, one]) => Number(one.minimum) <= Number.MIN_SAFE_INTEGER);
    expect(numbers.map(([place]) => place)).toEqual([]);
    const patterns = objects.flatMap(([, one]) =>
      typeof one.pattern === 'string' ? [one.pattern] : [],
    );
    expect(patterns.filter((pattern) => /^\/|\(\?[a-z-]+[:)]/.test(pattern))).toEqual([]);
    for (const pattern of patterns) expect(() => new RegExp(pattern, 'u')).not.toThrow();
    const closed = objects
      .filter(([, one]) => one.additionalProperties === false)
      .map(([place]) => place);
    expect(
      closed.filter(
        (place) =>
          !/(Creation|Patch|Publication|Input)(\/properties\/(hours|hoursExceptions|entries)\b.*)?$/.test(
            place,
          ),
      ),
    ).toEqual([]);
  });

  it('describes each parameter', () => {
    const parameters = objects.filter(([, one]) => 'in' in one && 'name' in one);
    expect(parameters.length).toBeGreaterThan(80);
    const bare = parameters.filter(([, one]) => typeof one.description !== 'string');
    expect(bare.map(([place]) => place)).toEqual([]);
  });

  it('has the pattern of codes and claims, text for names, and uuid for all other parameters of paths', () => {
    const inPaths = objects.filter(([, one]) => one.in === 'path').map(([, one]) => one);
    const kinds = inPaths.map(({ name, description, schema }) =>
      JSON.stringify([name, description, schema]),
    );
    expect([...new Set(kinds)].toSorted()).toMatchInlineSnapshot(`
      [
        "["claim","The claim that the TV shows",{"type":"string","pattern":"^[A-Z0-9]{6}$"}]",
        "["code","The pairing code, or the code of a login request",{"type":"string","pattern":"^[A-Z0-9]{8}$"}]",
        "["id","The SHA-256 of the file",{"type":"string","pattern":"^[0-9a-f]{64}$"}]",
        "["id","The id of the device",{"type":"string","format":"uuid"}]",
        "["id","The id of the screen",{"type":"string","format":"uuid"}]",
        "["id","The id of the screen, or of the device",{"type":"string","format":"uuid"}]",
        "["id","The id of the tenant",{"type":"string","format":"uuid"}]",
        "["id","The id of the ticket",{"type":"string","format":"uuid"}]",
        "["id","The id of the token",{"type":"string","format":"uuid"}]",
        "["id","The id of the venue",{"type":"string","format":"uuid"}]",
        "["id","The id of the webhook",{"type":"string","format":"uuid"}]",
        "["name","The name of the campaign, or its id",{"type":"string"}]",
      ]
    `);
  });

  it('has no default in a request body, which generated types would make required', () => {
    const bodies = objects.filter(([place]) =>
      /schemas\/(Device(Info)|\w+(Creation|Patch))/.test(place),
    );
    const withDefault = bodies.filter(([, one]) => 'default' in one);
    expect(withDefault.map(([place]) => place)).toEqual([]);
  });

  it('has one pattern for a name, and numbers, booleans and further members where they belong', () => {
    const { VenueCreation, TelemetryEvent, PlaylistItem, Config, StoredEvent } =
      document.components!.schemas!;
    expect(VenueCreation!.properties!.name).toMatchObject({ type: 'string', maxLength: 200 });
    expect(VenueCreation!.properties!.name).not.toHaveProperty('allOf');
    expect(TelemetryEvent!.properties!.duration!.type).toEqual(['number', 'null']);
    expect(PlaylistItem!.properties!).toHaveProperty('campaignId');
    for (const open of [PlaylistItem, Config, TelemetryEvent, StoredEvent!.properties!.event])
      expect(open!.additionalProperties).toBe(true);
    const online = document.paths!['/v1/devices']!.get!.parameters!.find(
      ({ name }) => (name as unknown) === 'online',
    );
    expect(online!.schema!.type).toBe('boolean');
  });

  it('links each creation to the operations on the created record', () => {
    const created = document.paths!['/v1/venues']!.post!.responses!['201']!;
    expect(created.links).toEqual(
      Object.fromEntries(
        ['getVenue', 'updateVenue', 'deleteVenue'].map((operationId) => [
          operationId,
          { operationId, parameters: { id: '$response.body#/id' } },
        ]),
      ),
    );
    const code = document.paths!['/v1/devices/provisioning-codes']!.post!.responses!['201']!;
    expect(Object.keys(code.links!)).toEqual(['getCodeStatus', 'cancelCode']);
  });

  it('has no empty schema', () => {
    const empty = objects.filter(
      ([place, one]) =>
        /\/(properties\/[^/]+|schema|items)$/.test(place) && Object.keys(one).length === 0,
    );
    expect(empty.map(([place]) => place)).toEqual([]);
  });

  it.each(Object.keys(examples) as SchemaName[])('has a valid example of %s', (name) => {
    expect(schemas[name].safeParse(examples[name]).error).toBeUndefined();
  });
});

describe.each(table)('%s in the document', (id, operation) => {
  const entry = described(operation);
  const isManagement = operation.path.startsWith('/v1/') && operation.access !== 'public';

  it('has its name, summary and credential', () => {
    expect(entry).toMatchObject({ operationId: id, summary: operation.summary });
    const scheme = { public: [], device: [{ deviceKey: [] }] }[operation.access as string] ?? [
      { managementToken: [] },
    ];
    expect(entry.security).toEqual(scheme);
  });

  it('has exactly its statuses, and each lists its codes', () => {
    const codes = [
      ...new Set([...listenerErrors, ...impliedErrors(operation), ...(operation.errors ?? [])]),
    ];
    const expected = [
      operation.status,
      ...Object.keys(operation.otherAnswers ?? {}).map(Number),
      ...(operation.conditional ? [304] : []),
      ...codes.map((code) => errorKinds[code].status),
    ];
    expect(Object.keys(entry.responses!)).toEqual(
      [...new Set(expected)].toSorted((a, b) => a - b).map(String),
    );
    for (const status of Object.keys(entry.responses!).filter((one) => Number(one) >= 400)) {
      const answer = responseOf(operation, status);
      const named = Object.keys(answer.content!['application/problem+json']!.examples!);
      expect(named).toEqual(codes.filter((code) => errorKinds[code].status === Number(status)));
      for (const code of named) expect(answer.description).toContain(`\`${code}\``);
    }
  });

  it('has the parameters of its path, its query and its request headers', () => {
    const namesIn = (place: string) =>
      (entry.parameters ?? [])
        .filter((one) => (one.in as unknown) === place)
        .map((one) => one.name);
    const inPath = [...operation.path.matchAll(/:(\w+)/g)].map(([, name]) => name);
    expect(namesIn('path')).toEqual(inPath);
    const query =
      operation.query && (schemas[operation.query] as unknown as { shape: object }).shape;
    expect(namesIn('query')).toEqual(Object.keys(query ?? {}));
    const references = (entry.parameters ?? []).flatMap(
      (one) => (one.$ref as unknown as string) ?? [],
    );
    const names = references.map(
      (reference) => document.components!.parameters![reference.split('/').at(-1)!]!.name,
    );
    const changesRevision =
      operation.revision && ['PUT', 'PATCH', 'DELETE'].includes(operation.method);
    const expected = [
      ...(isManagement ? ['X-Tenant-Id'] : []),
      ...(operation.conditional ? ['If-None-Match', 'If-Match'] : []),
      ...(changesRevision ? ['If-Match'] : []),
      ...(changesRevision && operation.method === 'PUT' ? ['If-None-Match'] : []),
      ...(operation.headers ?? []),
      ...(id === 'postEvents' ? ['X-Device-Time'] : []),
    ];
    expect(names).toEqual(expected);
  });

  it('has its body, and whether it is required', () => {
    if (operation.upload) return expect(Object.keys(entry.requestBody!.content!)).toEqual(['*/*']);
    if (!operation.body) return expect(entry.requestBody).toBeUndefined();
    expect(entry.requestBody!.required ?? false).toBe(!operation.bodyOptional);
    const types =
      operation.method === 'PATCH'
        ? ['application/json', 'application/merge-patch+json']
        : ['application/json'];
    expect(Object.keys(entry.requestBody!.content!)).toEqual(types);
  });

  it('has a response of its schema, with its headers', () => {
    const answer = entry.responses![operation.status]!;
    expect('application/json' in (answer.content ?? {})).toBe(operation.answer !== undefined);
    const own =
      {
        getPlaylist: ['X-Playlist-Version', 'X-Source'],
        getDeviceConfig: ['X-Config-Source'],
        getClaimStatus: ['Cache-Control'],
        getLoginStatus: ['Cache-Control'],
        endLogin: ['Cache-Control'],
        getDeviceChanges: ['Cache-Control'],
        createBackup: ['Content-Disposition'],
        reportPlays: ['Vary'],
        registerDevice: ['RateLimit-Policy', 'RateLimit'],
      }[id] ?? [];
    const hasCacheControl =
      isManagement ||
      (operation.access !== 'public' && operation.conditional) ||
      operation.status === 201;
    const location = operation.status === 201 && isManagement ? ['Location'] : [];
    const isCompressed = isManagement && /^(list|report(Impressions|Coverage)|explain)/.test(id);
    expect(Object.keys(answer.headers!).toSorted()).toEqual(
      [
        ...everywhere,
        ...own,
        ...(hasCacheControl ? ['Cache-Control'] : []),
        ...(operation.conditional || (operation.revision && operation.answer) ? ['ETag'] : []),
        ...location,
        ...(isCompressed ? ['Vary', 'Content-Encoding'] : []),
      ].toSorted(),
    );
    for (const status of Object.keys(entry.responses!)) {
      const headers = Object.keys(responseOf(operation, status).headers!);
      expect(headers.includes('RateLimit'), status).toBe(id === 'registerDevice');
      expect(headers).toEqual(expect.arrayContaining(everywhere));
    }
  });
});

describe('the document beyond the table', () => {
  const answer = (id: keyof typeof operations, status: number) =>
    responseOf(operations[id], status);

  it('has each error response once', () => {
    const inline = objects.filter(
      ([place, object]) => /^#\/paths\/.*\/responses\/[45]\d\d$/.test(place) && !('$ref' in object),
    );
    expect(inline.map(([place]) => place)).toEqual([]);
    const texts = Object.values(document.components!.responses!).map((one) => JSON.stringify(one));
    expect(new Set(texts).size).toBe(texts.length);
  });

  it('describes the report as CSV, too', () => {
    expect(Object.keys(answer('reportImpressions', 200).content!)).toEqual([
      'application/json',
      'text/csv',
    ]);
  });

  it('describes a backup as text', () => {
    expect(answer('createBackup', 200).content).toEqual({
      'text/plain': { schema: { type: 'string' } },
    });
  });

  it.each([
    ['registerDevice', 429],
    ['registerDevice', 503],
    ['getPlaylist', 500],
    ['getDeviceConfig', 500],
    ['listVenues', 503],
  ] as const)('has Retry-After with %s %i', (id, status) =>
    expect(answer(id, status).headers).toHaveProperty('Retry-After'),
  );

  it('has WWW-Authenticate with 401, and no Retry-After where retrying is useless', () => {
    expect(answer('getPlaylist', 401).headers).toHaveProperty('WWW-Authenticate');
    expect(answer('listVenues', 500).headers).not.toHaveProperty('Retry-After');
  });

  it('has stricter rules for the Idempotency-Key of a registration than of a batch', () => {
    const { RegistrationKey, BatchKey } = document.components!.parameters!;
    expect(RegistrationKey!.schema).toEqual({ type: 'string', pattern: '^[!-~]{16,255}$' });
    expect(BatchKey!.schema).toEqual({ type: 'string', minLength: 1, maxLength: 255 });
  });

  it('describes the paths outside both APIs', () => {
    expect(document.paths).toMatchObject({
      '/healthz': {},
      '/readyz': {},
      '/metrics': {},
      '/openapi.json': {},
      '/docs': {},
    });
    const statuses = Object.keys(document.paths!['/readyz']!.get!.responses!);
    expect(statuses).toEqual(['200', '400', '408', '431', '501', '503']);
    for (const path of ['/openapi.json', '/docs']) {
      const file = document.paths![path]!.get!.responses!;
      expect(Object.keys(file['304']!.headers!)).toEqual(
        expect.arrayContaining(['ETag', 'Vary', 'Content-Encoding']),
      );
    }
  });
});

describe('impliedErrors', () => {
  const anyRead = { method: 'GET', path: '/v1/x', access: 'viewer', summary: '', status: 200 };

  /** A part of an operation, errors that it implies, and others that it does not. */
  it.each<[Partial<Operation>, implied: string, others: string]>([
    [
      { access: 'public' },
      'internal_error unavailable',
      'credential_missing device_key_missing tenant_required',
    ],
    [
      { access: 'device' },
      'device_key_missing device_key_mismatch',
      'credential_missing insufficient_role tenant_required',
    ],
    [
      { access: 'viewer' },
      'credential_missing insufficient_role tenant_required tenant_not_found',
      'invalid_request',
    ],
    [{ access: 'operator' }, 'insufficient_role tenant_required', 'device_key_missing'],
    [{ access: 'platform' }, 'insufficient_role tenant_not_found', 'tenant_required'],
    [{ access: 'backup' }, 'insufficient_role tenant_not_found', 'tenant_required'],
    [{ access: 'any' }, 'credential_invalid tenant_not_found', 'insufficient_role tenant_required'],
    [{ access: 'platform', record: 'tenant' }, 'tenant_not_found', 'tenant_required'],
    [{ record: 'venue' }, 'venue_not_found', 'screen_not_found invalid_json'],
    [
      { body: 'venueCreation' },
      'invalid_json invalid_request body_too_large unsupported_media_type',
      'idempotency_key_reused',
    ],
    [{ query: 'venueQuery' }, 'invalid_request', 'invalid_json body_too_large'],
  ])('of %j', (operation, implied, others) => {
    const codes: string[] = impliedErrors({ ...anyRead, ...operation } as Operation);
    expect(codes).toEqual(expect.arrayContaining(implied.split(' ')));
    for (const other of others.split(' ')) expect(codes).not.toContain(other);
    expect(new Set(codes).size).toBe(codes.length);
  });

  it('add up with those of the table to all errors, once each', () => {
    expect(possibleErrors(operations.createScreen)).toEqual([
      ...impliedErrors(operations.createScreen),
      'venue_not_found',
      'name_taken',
      'timezone_required',
    ]);
    expect(
      possibleErrors({ ...operations.getTenant, errors: ['tenant_not_found'] }).filter(
        (code) => code === 'tenant_not_found',
      ),
    ).toHaveLength(1);
  });
});
