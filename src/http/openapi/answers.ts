import type { oas31, ZodOpenApiResponseObject, ZodOpenApiResponsesObject } from 'zod-openapi';
import { errorKinds, type ServiceErrorCode } from '../../wire/errors.ts';
import { possibleErrors } from '../../wire/operation.ts';
import { type Operation, operations } from '../../wire/operations/operations.ts';
import { schemas } from '../../wire/schemas.ts';
import { isCompressible } from '../request/compression.ts';
import { media } from './content.ts';

const text = (description: string): oas31.HeaderObject => ({
  description,
  schema: { type: 'string' },
});

/** Response headers, as components of the document. */
export const responseHeaders = {
  'X-Request-Id': { ...text('Id of this request in the log of the service'), required: true },
  'X-Content-Type-Options': { ...text('`nosniff`'), required: true },
  'Referrer-Policy': { ...text('`no-referrer`'), required: true },
  'Content-Security-Policy': {
    ...text('`sandbox`; for pages, the sources from which they may load content'),
    required: true,
  },
  'X-Playlist-Version': {
    description: 'The `version` of the playlist',
    required: true,
    schema: { type: 'integer', format: 'int64', minimum: 1 },
  },
  'X-Source': {
    description: 'Where the playlist came from',
    required: true,
    schema: { type: 'string', enum: ['on-demand', 'store', 'object-store'] },
  },
  'X-Config-Source': {
    description: 'The most specific level that has a config; `default` if no level has a config',
    required: true,
    schema: { type: 'string', enum: ['screen', 'venue', 'tenant', 'default'] },
  },
  ETag: text('Identifies the content: send it as `If-None-Match`'),
  Location: { ...text('The path of the created record'), required: true },
  'Retry-After': {
    description: 'Whole seconds after which to retry',
    schema: { type: 'integer', minimum: 0 },
  },
  'RateLimit-Policy': text(
    'Number of unknown codes (`q`) that the source may send in a window of `w` seconds',
  ),
  RateLimit: text(
    'Number of unknown codes that the source may still send (`r`), and seconds until the number increases (`t`)',
  ),
  'WWW-Authenticate': text('`Bearer`, with `error="invalid_token"` if there was a credential'),
  'Cache-Control': text('`private, no-cache` for playlists and configs of TVs, else `no-store`'),
  'Content-Disposition': text('The name of the file'),
  'Content-Encoding': text('`br` or `gzip`, if the client accepts it and the body is large'),
  Vary: text('Request headers that select this representation'),
} as const satisfies Record<string, oas31.HeaderObject>;

type HeaderName = keyof typeof responseHeaders;

/** Headers of every response. */
const everywhere = [
  'X-Request-Id',
  'X-Content-Type-Options',
  'Referrer-Policy',
  'Content-Security-Policy',
] as const;

/**
 * Returns the response headers with these names, and the headers of every response.
 */
export function headers(...names: HeaderName[]): oas31.HeadersObject {
  return Object.fromEntries(
    [...everywhere, ...names].map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  );
}

const rateLimit = ['RateLimit-Policy', 'RateLimit'] as const satisfies HeaderName[];

const ownHeaders: Record<string, HeaderName[]> = {
  registerDevice: ['Cache-Control', ...rateLimit],
  getPlaylist: ['X-Playlist-Version', 'X-Source', 'Cache-Control'],
  getDeviceConfig: ['X-Config-Source', 'Cache-Control'],
  createClaim: ['Cache-Control'],
  getClaimStatus: ['Cache-Control'],
  createLogin: ['Cache-Control'],
  getLoginStatus: ['Cache-Control'],
  endLogin: ['Cache-Control'],
  getDeviceChanges: ['Cache-Control'],
  rotateDeviceKey: ['Cache-Control'],
  createBackup: ['Content-Disposition'],
  reportPlays: ['Vary'],
};

const otherMedia: Record<string, ZodOpenApiResponseObject['content']> = {
  reportImpressions: {
    'text/csv': {
      schema: { type: 'string' },
      example:
        'key,impressions,seconds,fullPlays,partialPlays,unknownPlays,plays,name\r\n2026-11-20,128,1920,126,2,0,0,\r\n',
    },
  },
  reportPlays: {
    'application/x-ndjson': { schema: { type: 'string' } },
    'text/csv': { schema: { type: 'string' } },
  },
  getStatementRows: { 'application/x-ndjson': { schema: { type: 'string' } } },
  getStatementKeys: { 'text/plain': { schema: { type: 'string' } } },
  createBackup: { 'text/plain': { schema: { type: 'string' } } },
};

const meanings = {
  200: 'Done',
  201: 'Created',
  202: 'Accepted and durably stored',
  204: 'Done, without a body',
};

/** Returns the links from the response of a creation to the operations on the new record. */
function linksOf({ path, method }: Operation): oas31.LinksObject {
  const onRecord = new RegExp(`^${path}/:(id|code|claim)(?:/status)?$`);
  const links = Object.entries<Operation>(operations).flatMap(([operationId, other]) => {
    const [, parameter] = onRecord.exec(other.path) ?? [];
    return parameter === undefined
      ? []
      : [
          [
            operationId,
            { operationId, parameters: { [parameter]: `$response.body#/${parameter}` } },
          ],
        ];
  });
  return method === 'POST' ? Object.fromEntries(links) : {};
}

function success(id: string, operation: Operation): ZodOpenApiResponseObject {
  const { status, answer, access, conditional, revision } = operation;
  // A TV cannot read the device or key that it creates, so its response has no `Location`.
  const isManagement = access !== 'public' && access !== 'device';
  const hasLocation = status === 201 && isManagement;
  return {
    description: meanings[status],
    headers: headers(
      ...(ownHeaders[id] ?? []),
      ...(isManagement ? (['Cache-Control'] as const) : []),
      ...(conditional || (revision && status !== 204) ? (['ETag'] as const) : []),
      ...(hasLocation ? (['Location'] as const) : []),
      ...(isCompressible(operation) ? (['Vary', 'Content-Encoding'] as const) : []),
    ),
    ...(hasLocation ? { links: linksOf(operation) } : {}),
    ...(answer || otherMedia[id]
      ? { content: { ...(answer && { 'application/json': media(answer) }), ...otherMedia[id] } }
      : {}),
  };
}

/** Codes after which a caller should retry later. */
const transient: ServiceErrorCode[] = [
  'too_many_attempts',
  'unavailable',
  'playlist_fetch_failed',
  'config_fetch_failed',
];

/** Error responses that several operations share, by their names in `components.responses`. */
const shared = new Map<string, ZodOpenApiResponseObject>();

/** Returns an error response: a problem document with one of these codes. */
function problem(codes: ServiceErrorCode[], own: readonly HeaderName[]): ZodOpenApiResponseObject {
  const id = [...codes, ...own].join('.');
  const response = shared.get(id) ?? makeProblem(id, codes, own);
  shared.set(id, response);
  return response;
}

function makeProblem(
  id: string,
  codes: ServiceErrorCode[],
  own: readonly HeaderName[],
): ZodOpenApiResponseObject {
  const isTransient = codes.some((code) => transient.includes(code));
  const isUnauthorized = codes.some((code) => errorKinds[code].status === 401);
  return {
    id,
    description: codes.map((code) => `\`${code}\``).join(', '),
    headers: headers(
      'Cache-Control',
      ...(isTransient ? (['Retry-After'] as const) : []),
      ...(isUnauthorized ? (['WWW-Authenticate'] as const) : []),
      ...own,
    ),
    content: {
      'application/problem+json': {
        schema: schemas.problem,
        examples: Object.fromEntries(
          codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]),
        ),
      },
    },
  };
}

/** Errors of the listener, which any request can get (docs/protocol.md §1.4). */
export const listenerErrors = [
  'malformed_request',
  'request_timeout',
  'headers_too_large',
  'transfer_encoding_unsupported',
] as const satisfies ServiceErrorCode[];

/** Returns error responses, by status. `own`: headers of the operation's errors. */
export function problems(
  codes: readonly ServiceErrorCode[],
  own: readonly HeaderName[] = [],
): ZodOpenApiResponsesObject {
  const byStatus = new Map<number, ServiceErrorCode[]>();
  for (const code of [...listenerErrors, ...codes]) {
    const { status } = errorKinds[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [String(status), problem(codes, own)]),
  );
}

/** Returns the further successful responses of an operation. */
function otherAnswers(id: string, operation: Operation): ZodOpenApiResponsesObject {
  return Object.fromEntries(
    Object.entries(operation.otherAnswers ?? {}).map(([status, answer]) => [
      status,
      success(id, { ...operation, status: Number(status) as Operation['status'], answer }),
    ]),
  );
}

/** Returns every response of an operation, by status. */
export function answers(id: string, operation: Operation): ZodOpenApiResponsesObject {
  const unchanged = {
    description: 'Not modified',
    headers: headers(...(ownHeaders[id] ?? []), 'ETag'),
  };
  return {
    [`${operation.status}`]: success(id, operation),
    ...otherAnswers(id, operation),
    ...(operation.conditional ? { '304': unchanged } : {}),
    ...problems(possibleErrors(operation), id === 'registerDevice' ? rateLimit : []),
  };
}
