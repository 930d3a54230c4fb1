import type { ZodOpenApiComponentsObject } from 'zod-openapi';
import { type ErrorCode, errorKinds } from '../../wire/errors.ts';
import { schemas } from '../../wire/schemas.ts';
import { responseHeaders } from './answers.ts';
import { requestHeaders } from './request.ts';

/** Returns an example problem document of a code. */
function problemExample(code: ErrorCode) {
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

/** Errors of paths and methods that the document does not have. */
const outside: readonly ErrorCode[] = ['not_found', 'method_not_allowed'];

const codes = (Object.keys(errorKinds) as ErrorCode[]).filter((code) => !outside.includes(code));

/**
 * List schemas are created by one function and have no id. The document names them after the table
 * of schemas.
 */
const lists = Object.entries(schemas)
  .filter(([name]) => name.endsWith('List'))
  .map(([name, schema]) => [name.charAt(0).toUpperCase() + name.slice(1), schema]);

/** Components shared by the operations. */
export const components: ZodOpenApiComponentsObject = {
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
