import type { oas31, ZodOpenApiOperationObject, ZodOpenApiPathsObject, ZodOpenApiResponsesObject } from 'zod-openapi';
import { headers, problem } from './answers.ts';

interface SystemPath {
  path: string;
  id: string;
  summary: string;
  mediaType?: string;
  schema: oas31.SchemaObject;
  errors?: ZodOpenApiResponsesObject;
  security?: ZodOpenApiOperationObject['security'];
}

const text: oas31.SchemaObject = { type: 'string' };

const paths: SystemPath[] = [
  {
    path: '/healthz',
    id: 'getHealth',
    summary: 'Whether the service is alive',
    schema: { type: 'object', properties: { status: { type: 'string', const: 'ok' }, version: text }, required: ['status', 'version'] },
  },
  {
    path: '/readyz',
    id: 'getReadiness',
    summary: 'Whether the service can work: its store answers',
    schema: { type: 'object', properties: { status: { type: 'string', const: 'ready' } }, required: ['status'] },
    errors: { '503': problem('unavailable') },
  },
  {
    path: '/metrics',
    id: 'getMetrics',
    summary: 'Metrics for Prometheus; to loopback, or with the metrics token',
    mediaType: 'text/plain',
    schema: text,
    errors: { '401': problem('credential_missing', 'credential_invalid') },
    security: [{}, { metricsToken: [] }],
  },
  { path: '/openapi.json', id: 'getOpenApi', summary: 'This document', schema: { type: 'object' } },
  { path: '/docs', id: 'getDocs', summary: 'This document as a page', mediaType: 'text/html', schema: text },
];

function describe({ id, summary, mediaType = 'application/json', schema, errors, security = [] }: SystemPath): ZodOpenApiOperationObject {
  const done = { description: 'Done', headers: headers(), content: { [mediaType]: { schema } } };
  return { operationId: id, summary, tags: ['service'], security, responses: { '200': done, ...errors } };
}

/** The paths outside both families, which are not in the operation table: no client calls them. */
export const systemPaths: ZodOpenApiPathsObject = Object.fromEntries(paths.map((one) => [one.path, { get: describe(one) }]));
