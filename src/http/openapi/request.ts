import type {
  oas31,
  ZodObjectInput,
  ZodOpenApiOperationObject,
  ZodOpenApiRequestBodyObject,
} from 'zod-openapi';
import { takesPrecondition } from '../../wire/operation.ts';
import type { Operation } from '../../wire/operations/operations.ts';
import { schemas } from '../../wire/schemas.ts';
import { media } from './content.ts';

/** Request headers, as components of the document. */
export const requestHeaders = {
  TenantId: {
    name: 'X-Tenant-Id',
    in: 'header',
    description:
      'The tenant to act in. Required for platform tokens once there are several tenants. Optional for other tokens.',
    schema: { type: 'string', format: 'uuid' },
  },
  IfNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    description: 'The `ETag` of the last response. Returns 304 while nothing has changed.',
    schema: { type: 'string' },
  },
  IfMatch: {
    name: 'If-Match',
    in: 'header',
    description:
      'The `ETag` of the record as it was read. Returns 412 if the record has changed since. `*` matches any record.',
    schema: { type: 'string' },
  },
  IfNoneMatchAny: {
    name: 'If-None-Match',
    in: 'header',
    description: '`*` creates the record, but never replaces it. Returns 412 if the record exists.',
    schema: { type: 'string' },
  },
  RegistrationKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'Random, such as a UUID, and secret. The same code with the same key returns the same response, until the code ends or the apiKey is first used.',
    schema: { type: 'string', pattern: '^[!-~]{16,255}$' },
  },
  RotationKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'Random, such as a UUID, and secret. The same Idempotency-Key returns the same new device key, until the new key is first used.',
    schema: { type: 'string', pattern: '^[!-~]{16,255}$' },
  },
  CreationKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'Random, such as a UUID, and secret. The same request with the same key creates one record, and returns the same response again for 24 hours.',
    schema: { type: 'string', pattern: '^[!-~]{16,255}$' },
  },
  BatchKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'The same batch with the same key is stored once, however often it is sent. The last 128 keys of a device are remembered.',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  },
  DeviceTime: {
    name: 'X-Device-Time',
    in: 'header',
    description: "The TV's clock when it sends the batch, in Unix epoch milliseconds.",
    schema: { type: 'integer', minimum: 0 },
  },
} as const satisfies Record<string, oas31.ParameterObject>;

function headersOf(operation: Operation): (keyof typeof requestHeaders)[] {
  const { access, conditional, headers, body, method } = operation;
  const names: (keyof typeof requestHeaders)[] = [];
  if (access !== 'public' && access !== 'device') names.push('TenantId');
  if (conditional) names.push('IfNoneMatch');
  if (conditional || takesPrecondition(operation)) names.push('IfMatch');
  if (takesPrecondition(operation) && method === 'PUT') names.push('IfNoneMatchAny');
  if (headers?.includes('Idempotency-Key')) names.push(keyHeaderOf(access, body !== undefined));
  if (operation.body === 'eventBatch') names.push('DeviceTime');
  return names;
}

function keyHeaderOf(access: Operation['access'], hasBody: boolean): keyof typeof requestHeaders {
  if (access === 'public') return 'RegistrationKey';
  if (access === 'device') return hasBody ? 'BatchKey' : 'RotationKey';
  return 'CreationKey';
}

/** Path parameters that are not only ids. */
const shownTexts: Record<string, Pick<oas31.ParameterObject, 'description' | 'schema'>> = {
  code: {
    description: 'The pairing code, or the code of a login request',
    schema: { type: 'string', pattern: '^[A-Z0-9]{8}$' },
  },
  name: { description: 'The name of the campaign, or its id', schema: { type: 'string' } },
  claim: {
    description: 'The claim that the TV shows',
    schema: { type: 'string', pattern: '^[A-Z0-9]{6}$' },
  },
};

const mediaIdSchema = { type: 'string', pattern: '^[0-9a-f]{64}$' } as const;

function pathParameter(name: string, { access, record, path }: Operation): oas31.ParameterObject {
  const inPath = { name, in: 'path', required: true } as const;
  const shown = shownTexts[name];
  if (shown) return { ...inPath, ...shown };
  if (path.startsWith('/v1/media'))
    return { ...inPath, description: 'The SHA-256 of the file', schema: mediaIdSchema };
  const named = access === 'device' ? 'screen, or of the device' : (record ?? 'tenant');
  const schema = { type: 'string', format: 'uuid' } as const;
  return { ...inPath, description: `The id of the ${named}`, schema };
}

/** Returns the path, header and query parameters of an operation. */
export function parameters(
  operation: Operation,
): Pick<ZodOpenApiOperationObject, 'parameters' | 'requestParams'> {
  const inPath = [...operation.path.matchAll(/:(\w+)/g)].map(([, name]) =>
    pathParameter(name ?? '', operation),
  );
  const inHeaders = headersOf(operation).map((name) => ({
    $ref: `#/components/parameters/${name}`,
  }));
  const all = [...inPath, ...inHeaders];
  return {
    ...(all.length > 0 ? { parameters: all } : {}),
    ...(operation.query
      ? { requestParams: { query: schemas[operation.query] as ZodObjectInput } }
      : {}),
  };
}

/** A PATCH also takes `application/merge-patch+json`. */
export function requestBody({
  method,
  body,
  bodyOptional,
  upload,
}: Operation): ZodOpenApiRequestBodyObject | undefined {
  if (upload)
    return {
      description: 'The bytes of the file, or of a part of it. `Content-Length` is required.',
      required: true,
      content: { '*/*': { schema: { type: 'string', format: 'binary' } } },
    };
  if (!body) return undefined;
  return {
    required: !bodyOptional,
    content: {
      'application/json': media(body),
      ...(method === 'PATCH' ? { 'application/merge-patch+json': media(body) } : {}),
    },
  };
}
