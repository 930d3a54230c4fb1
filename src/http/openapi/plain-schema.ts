import type { ZodOpenApiOverride } from 'zod-openapi';

const largestInt32 = 2 ** 31 - 1;

/**
 * Removes noise of the library from a schema. The bounds of safe integers go, because typed clients
 * need `int64` instead. Patterns of addresses go, because `format` covers them.
 * `additionalProperties` goes if it allows everything, or forbids it in responses.
 */
export const plainSchema: ZodOpenApiOverride = ({ jsonSchema, io }) => {
  if (jsonSchema.type === 'integer') {
    if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
    if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    if ((jsonSchema.maximum ?? Number.POSITIVE_INFINITY) > largestInt32)
      jsonSchema.format = 'int64';
  }
  if (jsonSchema.format === 'ipv4' || jsonSchema.format === 'ipv6') delete jsonSchema.pattern;
  const { additionalProperties: additional } = jsonSchema;
  const allowsAnything = typeof additional === 'object' && Object.keys(additional).length === 0;
  if (allowsAnything || (additional === false && io === 'output'))
    delete jsonSchema.additionalProperties;
};
