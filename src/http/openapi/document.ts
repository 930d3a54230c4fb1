import { z } from 'zod';
import {
  createDocument,
  type ZodOpenApiComponentsObject,
  type ZodOpenApiOperationObject,
  type ZodOpenApiOverride,
  type ZodOpenApiPathsObject,
} from 'zod-openapi';
import { errorKinds, type ServiceErrorCode } from '../../wire/errors.ts';
import { type Operation, operations } from '../../wire/operations/operations.ts';
import { schemas } from '../../wire/schemas.ts';
import { answers, responseHeaders } from './answers.ts';
import { parameters, requestBody, requestHeaders } from './request.ts';
import { systemPaths } from './system-paths.ts';

const apiDescription = `Pairs TVs with screens, gives them playlists and configs, and collects what they played.

- **TVs** register with a pairing code, once, and then send their device key (\`dak_…\`). **People and programs** send a management token (\`mak_…\`).
- Every error is a problem document (RFC 9457). Its \`code\` is stable. Programs should read only the \`code\`.
- Every response has \`X-Request-Id\`: the id that you sent, if it has 1 to 128 characters of \`A-Z a-z 0-9 . _ -\`, otherwise an id of the service.
- Record times are ISO 8601 in UTC; \`validUntil\` and the \`timestamp\` of an event are Unix epoch seconds.`;

/** Tags that group the operations, in the order of the page. */
const tags = [
  { name: 'tv', description: 'The API for TVs' },
  { name: 'code', description: 'Pairing codes, which bind a TV to a screen' },
  { name: 'ticket', description: 'Tickets, with which TVs enrol themselves' },
  { name: 'claim', description: 'TVs that wait with a shared ticket' },
  { name: 'device', description: 'Registered TVs' },
  { name: 'tenant', description: 'Tenants: platform tokens only' },
  { name: 'token', description: 'Management tokens' },
  { name: 'venue', description: 'Places with screens' },
  { name: 'screen', description: 'Screens' },
  { name: 'playlist', description: 'Playlists of the screens' },
  { name: 'schedule', description: 'What screens play when' },
  { name: 'takeover', description: 'What is above everything else on a screen, for a while' },
  { name: 'media', description: 'Files that playlists show' },
  { name: 'config', description: 'Intervals and storage limits of TVs' },
  { name: 'event', description: 'Telemetry' },
  { name: 'notice', description: 'What happened to TVs, venues and playlists' },
  { name: 'webhook', description: 'Receivers of notices' },
  { name: 'report', description: 'Proof of play' },
  { name: 'campaign', description: 'Campaigns and their bookings' },
  { name: 'statement', description: 'Signed statements of what was played' },
  { name: 'data', description: 'Backups of the whole store' },
  { name: 'audit', description: 'Audit trail of all changes' },
  { name: 'service', description: 'The service itself' },
];

/**
 * Returns the tag of an operation: the noun of its command. Without a command, the tag is `token`
 * under `/v1` (the caller's own token), otherwise `tv`.
 */
function tagOf({ command, path }: Operation): string {
  if (path.startsWith('/v1/media')) return 'media';
  if (path === '/v1/identify' || path === '/v1/reload') return 'device';
  return command?.[0] ?? (path.startsWith('/v1/') ? 'token' : 'tv');
}

function problemExample(code: ServiceErrorCode) {
  const { status, title } = errorKinds[code];
  const errors =
    code === 'invalid_request' ? { errors: [{ path: '/name', message: 'must not be empty' }] } : {};
  const existing =
    code === 'name_taken' ? { existingId: '0190a5b4-6f00-7c3e-9d2a-5b8f1e2c3d4e' } : {};
  return {
    summary: title,
    value: {
      type: 'about:blank',
      title,
      status,
      detail: `${title}.`,
      code,
      requestId: 'req-7f3a',
      ...errors,
      ...existing,
    },
  };
}

/** Errors for paths and methods outside the document. */
const outside: readonly ServiceErrorCode[] = [
  'not_found',
  'method_not_allowed',
  'method_unknown',
  'range_not_satisfiable',
];

const codes = (Object.keys(errorKinds) as ServiceErrorCode[]).filter(
  (code) => !outside.includes(code),
);

/**
 * List schemas have no id, because one function creates them all. The document names them after
 * their keys in `schemas`.
 */
const lists = Object.entries(schemas)
  .filter(([name]) => name.endsWith('List'))
  .map(([name, schema]) => [name.charAt(0).toUpperCase() + name.slice(1), schema]);

/** Components shared by the operations. */
const components: ZodOpenApiComponentsObject = {
  securitySchemes: {
    deviceKey: {
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'dak_…',
      description: 'The device key from the registration',
    },
    managementToken: {
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'mak_…',
      description: 'A management token',
    },
    metricsToken: {
      type: 'http',
      scheme: 'bearer',
      description: 'The token for /metrics, if the service was started with one',
    },
  },
  schemas: Object.fromEntries(lists),
  parameters: requestHeaders,
  headers: responseHeaders,
  examples: Object.fromEntries(codes.map((code) => [code, problemExample(code)])),
};

function security({ access }: Operation): Record<string, string[]>[] {
  if (access === 'public') return [];
  return [access === 'device' ? { deviceKey: [] } : { managementToken: [] }];
}

function descriptionOf({ access }: Operation): string {
  if (access === 'public') return 'Needs neither a management token nor a device key.';
  if (access === 'device') return 'Needs the device key from the registration.';
  if (access === 'any') return 'Needs a token of any role.';
  if (access === 'backup') return 'Needs a token with the role `backup` or `platform`.';
  return `Needs a token with the role \`${access}\` or a higher one.`;
}

/** Returns one entry of the operation table as an OpenAPI operation. */
function describeOperation(id: string, operation: Operation): ZodOpenApiOperationObject {
  const body = requestBody(operation);
  return {
    operationId: id,
    summary: operation.summary,
    description: descriptionOf(operation),
    tags: [tagOf(operation)],
    security: security(operation),
    ...parameters(operation),
    ...(body ? { requestBody: body } : {}),
    responses: answers(id, operation),
  };
}

const largestInt32 = 2 ** 31 - 1;

/** Members that clients should know, although the service keeps them without validation. */
const unvalidatedMembers: Record<string, Record<string, z.core.JSONSchema.BaseSchema>> = {
  PlaylistItem: {
    campaignId: {
      description:
        'The campaign, which TVs put into their impressions. Not validated; impressions need a UUID.',
      examples: ['2f9d4c1b-6e3a-4b8d-9c7f-1a2b3c4d5e6f'],
    },
  },
};

/**
 * Adapts a JSON Schema made by zod to generators of typed clients. Integers that may exceed 32 bits
 * are `int64`. Patterns of addresses are removed, because `format` covers them. Objects that keep
 * unknown members explicitly allow additional properties. Responses never forbid them, because the
 * API may add members.
 */
const plainSchema: ZodOpenApiOverride = ({ jsonSchema, zodSchema, io }) => {
  if (jsonSchema.type === 'integer') {
    if ((jsonSchema.maximum ?? Number.POSITIVE_INFINITY) > largestInt32)
      jsonSchema.format = 'int64';
    // Removes the bounds that zod adds to an integer without bounds.
    if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) {
      delete jsonSchema.minimum;
      delete jsonSchema.maximum;
    }
  }
  // Removes a default of `null`, because `null` and an absent member mean the same. Generated types
  // would require a member with a default.
  if (jsonSchema.default === null) delete jsonSchema.default;
  if (jsonSchema.format === 'ipv4' || jsonSchema.format === 'ipv6') delete jsonSchema.pattern;
  const { additionalProperties: additional } = jsonSchema;
  const isLoose = typeof additional === 'object' && Object.keys(additional).length === 0;
  if (isLoose) jsonSchema.additionalProperties = true;
  else if (additional === false && io === 'output') delete jsonSchema.additionalProperties;
  const id = z.globalRegistry.get(zodSchema)?.id ?? '';
  if (Object.hasOwn(unvalidatedMembers, id))
    jsonSchema.properties = { ...jsonSchema.properties, ...unvalidatedMembers[id] };
};

/** Returns the paths of the operation table, in its order. */
function operationPaths(): ZodOpenApiPathsObject {
  const paths: ZodOpenApiPathsObject = {};
  for (const [id, operation] of Object.entries<Operation>(operations)) {
    const path = operation.path.replace(/:(\w+)/g, '{$1}');
    paths[path] = {
      ...paths[path],
      [operation.method.toLowerCase()]: describeOperation(id, operation),
    };
  }
  return paths;
}

/**
 * Returns the API as an OpenAPI 3.1 document, made from the operation table and the schemas that
 * validate requests.
 *
 * @param version of the service, for `info.version`
 * @param serverUrl base URL of the paths. Default: `/`, the host that serves the document
 * @example openApiDocument('1.0.0').paths['/devices/register']
 */
export function openApiDocument(version: string, serverUrl = '/'): object {
  return createDocument(
    {
      openapi: '3.1.1',
      info: {
        title: 'signage-kit',
        version,
        description: apiDescription,
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: serverUrl }],
      tags,
      paths: { ...operationPaths(), ...systemPaths },
      components,
    },
    { override: plainSchema },
  );
}
