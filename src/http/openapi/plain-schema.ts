import type { ZodOpenApiOverride } from 'zod-openapi';

const largestInt32 = 2 ** 31 - 1;

/**
 * Takes out of a schema what the library says for its own sake: the bounds of JavaScript's whole numbers (typed clients need `int64` instead);
 * the patterns of addresses, which `format` says already; and that members may be added, or, of answers, that none ever will be.
 */
export const plainSchema: ZodOpenApiOverride = ({ jsonSchema, io }) => {
  if (jsonSchema.type === 'integer') {
    if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
    if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    if ((jsonSchema.maximum ?? Number.POSITIVE_INFINITY) > largestInt32)
      jsonSchema.format = 'int64';
  }
  if (jsonSchema.format === 'ipv4' || jsonSchema.format === 'ipv6') delete jsonSchema.pattern;
  const { additionalProperties: others } = jsonSchema;
  const saysNothing = typeof others === 'object' && Object.keys(others).length === 0;
  if (saysNothing || (others === false && io === 'output')) delete jsonSchema.additionalProperties;
};
