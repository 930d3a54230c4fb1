import type { ZodOpenApiOperationObject } from 'zod-openapi';
import type { Operation } from '../../wire/operations.ts';
import { answers } from './answers.ts';
import { parameters, requestBody } from './request.ts';
import { tagOf } from './tags.ts';

function security({ access }: Operation): Record<string, string[]>[] {
  if (access === 'public') return [];
  return [access === 'device' ? { deviceKey: [] } : { managementToken: [] }];
}

function description({ access }: Operation): string | undefined {
  return access === 'public' || access === 'device'
    ? undefined
    : `Takes a token with the role \`${access}\` or a higher one.`;
}

/** One entry of the operation table as OpenAPI says it. */
export function describeOperation(id: string, operation: Operation): ZodOpenApiOperationObject {
  const about = description(operation);
  const body = requestBody(operation);
  return {
    operationId: id,
    summary: operation.summary,
    ...(about ? { description: about } : {}),
    tags: [tagOf(operation)],
    security: security(operation),
    ...parameters(operation),
    ...(body ? { requestBody: body } : {}),
    responses: answers(id, operation),
  };
}
