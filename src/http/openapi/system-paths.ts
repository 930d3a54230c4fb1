import type {
  oas31,
  ZodOpenApiOperationObject,
  ZodOpenApiPathsObject,
  ZodOpenApiResponsesObject,
} from 'zod-openapi';
import { headers, problem } from './answers.ts';

interface SystemPath {
  path: string;
  id: string;
  summary: string;
  mediaType?: string;
  schema: oas31.SchemaObject;
  /**
   * An optional query parameter without a value. With it, the response is one such object per line.
   */
  linesWith?: { parameter: string; schema: oas31.SchemaObject };
  errors?: ZodOpenApiResponsesObject;
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
    schema: {
      type: 'object',
      properties: { status: { type: 'string', const: 'ready' } },
      required: ['status'],
    },
    linesWith: { parameter: 'verbose', schema: component },
    errors: { '503': problem('unavailable') },
  },
  {
    path: '/metrics',
    id: 'getMetrics',
    summary: 'Metrics for Prometheus, from loopback or with the metrics token',
    mediaType: 'text/plain',
    schema: text,
    errors: { '401': problem('credential_missing', 'credential_invalid') },
    security: [{}, { metricsToken: [] }],
  },
  { path: '/openapi.json', id: 'getOpenApi', summary: 'This document', schema: { type: 'object' } },
  {
    path: '/docs',
    id: 'getDocs',
    summary: 'This document as a page',
    mediaType: 'text/html',
    schema: text,
  },
];

const lines = 'application/x-ndjson';

function describe(path: SystemPath): ZodOpenApiOperationObject {
  const {
    id,
    summary,
    mediaType = 'application/json',
    schema,
    linesWith,
    errors,
    security = [],
  } = path;
  const content = {
    [mediaType]: { schema },
    ...(linesWith && { [lines]: { schema: linesWith.schema } }),
  };
  const done = { description: 'Done', headers: headers(), content };
  const parameter = linesWith && {
    in: 'query' as const,
    name: linesWith.parameter,
    schema: text,
    description: 'Returns one line per component',
  };
  return {
    operationId: id,
    summary,
    tags: ['service'],
    security,
    ...(parameter && { parameters: [parameter] }),
    responses: { '200': done, ...errors },
  };
}

/**
 * The paths outside both APIs. They are not in the operation table, because no client calls them.
 */
export const systemPaths: ZodOpenApiPathsObject = Object.fromEntries(
  paths.map((one) => [one.path, { get: describe(one) }]),
);
