import type { ZodOpenApiOperationObject } from 'zod-openapi';
import type { Operation } from '../../wire/operations.ts';
import { answers } from './answers.ts';
import { parameters, requestBody } from './request.ts';
import { tagOf } from './tags.ts';

function security({ access }: Operation): Record<string, string[]>[] {
  if (access === 'public') return [];
  return [access === 'device' ? { deviceKey: [] } : { managementToken: [] }];
}

function description({ access }: Operation): string {
  if (access === 'public') return 'Needs no credential: the pairing code authorises it.';
  if (access === 'device') return 'Needs the device key from the registration.';
  return `Needs a token with the role \`${access}\` or a higher one.`;
}

/** Returns one entry of the operation table as an OpenAPI operation. */
export function describeOperation(id: string, operation: Operation): ZodOpenApiOperationObject {
  const body = requestBody(operation);
  return {
    operationId: id,
    summary: operation.summary,
    description: description(operation),
    tags: [tagOf(operation)],
    security: security(operation),
    ...parameters(operation),
    ...(body ? { requestBody: body } : {}),
    responses: answers(id, operation),
  };
}
