import type { oas31, ZodOpenApiOperationObject, ZodOpenApiPathsObject } from 'zod-openapi';
import type { ServiceErrorCode } from '../../wire/errors.ts';
import { headers, problems } from './answers.ts';

interface SystemPath {
  path: string;
  id: string;
  summary: string;
  description: string;
  mediaType?: string;
  schema: oas31.SchemaObject;
  /**
   * `parameter`: an optional query parameter without a value, which makes the response one line per
   * component. `schema`: the schema of each line.
   */
  linesWith?: { parameter: string; schema: oas31.SchemaObject };
  /** Whether the path is a static file, with an `ETag` and compressed forms. */
  isFile?: boolean;
  errors?: readonly ServiceErrorCode[];
  security?: ZodOpenApiOperationObject['security'];
}

const text: oas31.SchemaObject = { type: 'string' };

const component: oas31.SchemaObject = {
  type: 'object',
  properties: { component: text, status: { type: 'string', enum: ['ok', 'failing', 'open'] } },
  required: ['component', 'status'],
};

const paths: SystemPath[] = [
  {
    path: '/healthz',
    id: 'getHealth',
    summary: 'Whether the service is alive',
    description: 'Answers 200 while the process is alive.',
    schema: {
      type: 'object',
      properties: { status: { type: 'string', const: 'ok' }, version: text },
      required: ['status', 'version'],
    },
  },
  {
    path: '/readyz',
    id: 'getReadiness',
    summary: 'Whether the service is ready: its store responds',
    description: 'Answers 200 while the store can take changes.',
    schema: {
      type: 'object',
      properties: { status: { type: 'string', const: 'ready' } },
      required: ['status'],
    },
    linesWith: { parameter: 'verbose', schema: component },
    errors: ['unavailable'],
  },
  {
    path: '/metrics',
    id: 'getMetrics',
    summary: 'Metrics for Prometheus, from loopback or with the metrics token',
    description: 'Returns metrics in the text format of Prometheus.',
    mediaType: 'text/plain',
    schema: text,
    errors: ['credential_missing', 'credential_invalid'],
    security: [{}, { metricsToken: [] }],
  },
  {
    path: '/openapi.json',
    id: 'getOpenApi',
    summary: 'This document',
    description: 'The document is generated from the schemas that validate requests.',
    schema: { type: 'object' },
    isFile: true,
  },
  {
    path: '/docs',
    id: 'getDocs',
    summary: 'This document as a page',
    description: 'The page needs no internet access.',
    mediaType: 'text/html',
    schema: text,
    isFile: true,
  },
];

const lines = 'application/x-ndjson';

function describe(path: SystemPath): ZodOpenApiOperationObject {
  const {
    id,
    summary,
    description,
    mediaType = 'application/json',
    schema,
    linesWith,
    isFile = false,
    errors = [],
    security = [],
  } = path;
  const content = {
    [mediaType]: { schema },
    ...(linesWith && { [lines]: { schema: linesWith.schema } }),
  };
  const own = isFile
    ? headers('ETag', 'Cache-Control', 'Vary', 'Content-Encoding')
    : headers('Cache-Control');
  const done = { description: 'Done', headers: own, content };
  const unchanged = { description: 'Not modified', headers: own };
  const parameter = linesWith && {
    in: 'query' as const,
    name: linesWith.parameter,
    schema: text,
    description: 'Returns one line per component',
  };
  return {
    operationId: id,
    summary,
    description,
    tags: ['service'],
    security,
    ...(parameter && { parameters: [parameter] }),
    responses: {
      '200': done,
      ...(isFile ? { '304': unchanged } : {}),
      ...problems(errors),
    },
  };
}

/**
 * The paths outside both APIs. They are not in the operation table, because the clients have no
 * methods for them.
 */
export const systemPaths: ZodOpenApiPathsObject = Object.fromEntries(
  paths.map((one) => [one.path, { get: describe(one) }]),
);
