import { z } from 'zod';
import type { ZodOpenApiOverride } from 'zod-openapi';

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
 * Makes a schema of zod fit for typed clients. Integers that may exceed 32 bits are `int64`.
 * Patterns of addresses go, because `format` covers them. Objects that keep unknown members say so,
 * and responses may always gain members.
 */
export const plainSchema: ZodOpenApiOverride = ({ jsonSchema, zodSchema, io }) => {
  if (jsonSchema.type === 'integer') {
    if ((jsonSchema.maximum ?? Number.POSITIVE_INFINITY) > largestInt32)
      jsonSchema.format = 'int64';
    // zod adds both bounds to an integer that has none.
    if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) {
      delete jsonSchema.minimum;
      delete jsonSchema.maximum;
    }
  }
  if (jsonSchema.format === 'ipv4' || jsonSchema.format === 'ipv6') delete jsonSchema.pattern;
  const { additionalProperties: additional } = jsonSchema;
  const isLoose = typeof additional === 'object' && Object.keys(additional).length === 0;
  if (isLoose) jsonSchema.additionalProperties = true;
  else if (additional === false && io === 'output') delete jsonSchema.additionalProperties;
  const id = z.globalRegistry.get(zodSchema)?.id ?? '';
  if (Object.hasOwn(unvalidatedMembers, id))
    jsonSchema.properties = { ...jsonSchema.properties, ...unvalidatedMembers[id] };
};
