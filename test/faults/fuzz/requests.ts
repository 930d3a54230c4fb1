import fc from 'fast-check';
import { type Operation, operations } from '../../../src/wire/operations/operations.ts';
import {
  type Described,
  operationOf,
  systemOperations,
} from '../../support/service/described-answers.ts';
import type { Fixture } from './fixture.ts';
import { hostileTexts } from './hostile-values.ts';
import { arbitraryOf, sometimes } from './json-arbitrary.ts';
import { spoiltBodies } from './spoil-json.ts';

type Pairs = [name: string, value: string][];

/** A request with its expectations. */
export interface FuzzRequest {
  method: string;
  path: string;
  headers: Pairs;
  body: string | Buffer | undefined;
  /** The operation of the request, if any. */
  described: Described | undefined;
}

const methods = 'GET HEAD POST PUT PATCH DELETE OPTIONS TRACE PROPFIND SEARCH M-SEARCH PURGE MKCOL';
const anyMethod = fc.constantFrom(...methods.split(' '));
const otherPaths =
  '/ // /v1 /v1/ /v2/venues /devices /devices/ /docs/ /docs/../v1/me /media/x.svg /.env';
/** Operations that return a whole store are rarely called. */
const seldom = ['/v1/backup', '/openapi.json', '/metrics'];
const hostileText = fc.constantFrom(...hostileTexts);
const etags = ['*', '"x"', 'W/"x"', '"', '', ',,,', `${'"a",'.repeat(300)}"b"`];
const octet = fc.nat(255);
/** Stands for the key of the TV of the request. */
const keyOfTv = '<the key of the TV>';
const nothing = fc.constant<Pairs>([]);

const visible = (text: string) =>
  text.replaceAll(/[^\x21-\x7e]/gu, (one) =>
    encodeURIComponent(one.isWellFormed() ? one : '\ufffd'),
  );

/** Returns the pairs of all parts. */
const joined = (...parts: fc.Arbitrary<Pairs>[]) => fc.tuple(...parts).map((pairs) => pairs.flat());

const header = (percent: number, name: string, ...values: string[]) =>
  sometimes(
    percent,
    fc.constantFrom(...values).map((value): Pairs => [[name, value]]),
    nothing,
  );

function headersOf({ headers = [], conditional, revision }: Operation): fc.Arbitrary<Pairs> {
  const source = fc
    .tuple(octet, octet, octet)
    .map(([a, b, c]): Pairs => [['x-forwarded-for', `203.0.113.${a}, 10.${b}.${c}.1`]]);
  const key = fc.uuid().map((id): Pairs => [['idempotency-key', id]]);
  const oddKeys = ['the-same-key-as-ever', 'k', '', ' ', 'ü', 'x'.repeat(256)];
  return joined(
    source,
    headers.length > 0
      ? fc.oneof(nothing, key, header(100, 'idempotency-key', ...oddKeys))
      : nothing,
    header(conditional ? 40 : 0, 'if-none-match', ...etags),
    header(revision ? 10 : 0, 'if-match', ...etags),
    header(20, 'accept-encoding', 'gzip', 'br, gzip;q=0.5', '*;q=0', 'identity;q=0', ';;,q=', ''),
    header(5, 'x-request-id', 'fuzz', '', 'a b', 'x'.repeat(129), '../..', 'é'),
    header(3, 'accept', 'text/csv', 'text/csv;q=0', '*/*', 'application/xml', ';;;', ''),
    header(2, 'content-encoding', 'gzip', 'identity', 'br', ''),
    header(2, 'range', 'bytes=0-1', 'bytes=-1'),
    header(2, 'origin', 'https://tv.example.com', 'null'),
    header(2, 'x-http-method-override', 'DELETE'),
    header(1, 'x-tenant-id', ...hostileTexts.filter((text) => /^[\x20-\xff]*$/.test(text))),
    header(1, 'cookie', 'a=b; '.repeat(100)),
  );
}

const contentTypes = [
  'application/merge-patch+json',
  'APPLICATION/JSON; charset=utf-16',
  'application/json;;',
  'text/plain',
  '+json',
  '',
];

/** Returns requests of one operation: valid ones, and ones that are invalid in few places. */
function requestsOf(operation: Operation, world: Fixture): fc.Arbitrary<FuzzRequest> {
  const { method, access, path } = operation;
  const good =
    access === 'device' ? world.records.tvs.map((tv) => tv.screenId) : world.idsInPath(path);
  const others = good.flatMap((id) => [id.toUpperCase(), id.replaceAll('-', '%2D')]);
  const odd = fc.oneof(
    fc.uuid(),
    fc.constantFrom(...others),
    hostileText.map((text) => visible(text) || 'x'),
  );
  const endings = fc.constantFrom('/', '//', '/x', '%2f', ';a=b', '.', '/..');
  const otherMethods = method === 'GET' ? fc.constant('HEAD') : anyMethod;
  return fc
    .record({
      method: sometimes(4, otherMethods, fc.constant(method)),
      tv: fc.nat(good.length - 1),
      oddId: sometimes<string | undefined>(10, odd, fc.constant(undefined)),
      ending: sometimes(1, endings, fc.constant('')),
      query: queryOf(operation, world),
      credential: credentials(operation, world),
      headers: headersOf(operation),
      type: sometimes(5, fc.constantFrom(...contentTypes), fc.constant('application/json')),
      body: bodiesOf(operation, world),
    })
    .map((one) => {
      const id = one.oddId ?? good[one.tv] ?? '';
      const { apiKey } = world.records.tvs[one.tv % world.records.tvs.length]!;
      const type: Pairs = one.body === undefined ? [] : [['content-type', one.type]];
      const credential = one.credential.map(([name, value]): Pairs[number] => [
        name,
        value.replace(keyOfTv, apiKey),
      ]);
      return finished(
        one.method,
        `${path.replace(/:\w+/, id)}${one.ending}${one.query}`,
        [...credential, ...one.headers, ...type],
        one.body,
      );
    });
}

/** Returns requests of all operations, mostly those of TVs, and of other paths. */
export function requestsTo(world: Fixture, only?: readonly string[]): fc.Arbitrary<FuzzRequest> {
  const each = Object.entries<Operation>(operations)
    .filter(([id]) => only?.includes(id) ?? true)
    .map(([, operation]) => {
      const isOfTvs = operation.access === 'device' || operation.access === 'public';
      const weight = isOfTvs ? 150 : seldom.includes(operation.path) ? 1 : 30;
      return { weight, arbitrary: requestsOf(operation, world) };
    });
  return sometimes(4, besides, fc.oneof(...each));
}

/** Requests for system paths and unknown paths. */
const besides = fc
  .record({
    method: sometimes(30, anyMethod, fc.constant('GET')),
    path: fc.constantFrom(...Object.keys(systemOperations), ...otherPaths.split(' ')),
    query: sometimes(
      30,
      hostileText.map((text) => `?${visible(text)}`),
      fc.constant(''),
    ),
  })
  .map(({ method, path, query }) => finished(method, `${path}${query}`, [], undefined));

function finished(
  method: string,
  path: string,
  headers: Pairs,
  body: FuzzRequest['body'],
): FuzzRequest {
  const isBare = ['GET', 'HEAD', 'TRACE'].includes(method);
  // Dot segments change a path before it is routed (RFC 3986 §5.2.4).
  const url = `http://fuzz${path}`;
  const place = URL.canParse(url) ? new URL(url).pathname : path;
  const described = operationOf(method === 'HEAD' ? 'GET' : method, place);
  return { method, path, headers, body: isBare ? undefined : body, described };
}

function queryOf(operation: Operation, world: Fixture): fc.Arbitrary<string> {
  const parameters = world.taken(operation).query.map(({ name, schema, required }) => {
    const valid = arbitraryOf(schema, world.known, name).map(String);
    const values =
      name === 'waitSeconds'
        ? fc.constantFrom('0', '0', '0', '1', '99', '1.5', 'x', '-1')
        : sometimes(25, hostileText, valid);
    return sometimes(
      required ? 100 : 20,
      values.map((value): Pairs => [[name, value]]),
      nothing,
    );
  });
  const others = fc
    .tuple(fc.constantFrom('nonsense', '__proto__', 'limit'), hostileText)
    .map((pair): Pairs => [pair]);
  const encoded = joined(...parameters, sometimes(2, others, nothing)).map((pairs) => {
    const encode = (text: string) => encodeURIComponent(text.toWellFormed());
    const text = pairs.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&');
    return text && `?${text}`;
  });
  return sometimes(1, fc.constantFrom('?', '?&', '?=', '?%zz', '?a=%00', '?limit'), encoded);
}

function bodiesOf(operation: Operation, world: Fixture): fc.Arbitrary<FuzzRequest['body']> {
  const { body, isBodyRequired } = world.taken(operation);
  const none = fc.constant(undefined);
  if (!body) return sometimes<FuzzRequest['body']>(3, spoiltBodies(fc.constant({ a: 1 })), none);
  const valid = arbitraryOf(body, world.known);
  const texts = fc.oneof(
    valid.map((value) => JSON.stringify(value)),
    spoiltBodies(valid),
  );
  return sometimes<FuzzRequest['body']>(isBodyRequired ? 3 : 30, none, texts);
}

function credentials(
  { access, path }: Operation,
  { platformToken, tenantId, records }: Fixture,
): fc.Arbitrary<Pairs> {
  const bearer = (...keys: string[]) =>
    fc
      .tuple(fc.constantFrom('Bearer', 'Bearer', 'bearer'), fc.constantFrom(...keys))
      .map(([scheme, key]): Pairs => [['authorization', `${scheme} ${key}`]]);
  const odd = ['mak_x', `dak_${'0'.repeat(49)}`, '', 'é', 'a b', 'x'.repeat(3000)];
  const wrong = fc.oneof(nothing, bearer(keyOfTv, platformToken, ...odd));
  const tenant = (percent: number) =>
    header(percent, 'x-tenant-id', ...Array(30).fill(tenantId), ...records.tenants);
  const ofPlatform = joined(bearer(platformToken), tenant(100));
  const ofTenant = joined(bearer(...records.tokens), tenant(10));
  if (access === 'device') return sometimes(6, wrong, bearer(keyOfTv));
  if (path === '/devices/claims/:claim')
    return sometimes(6, wrong, bearer(...records.claims.map(({ token }) => token)));
  const right = access === 'platform' ? ofPlatform : sometimes(60, ofPlatform, ofTenant);
  return sometimes(6, wrong, right);
}
