import { createDocument, type ZodOpenApiPathsObject } from 'zod-openapi';
import { type Operation, operations } from '../../wire/operations.ts';
import { components } from './components.ts';
import { describeOperation } from './operation.ts';
import { plainSchema } from './plain-schema.ts';
import { systemPaths } from './system-paths.ts';
import { tags } from './tags.ts';

const description = `Pairs TVs with screens, gives them playlists and configs, and collects what they played.

- **TVs** register with a pairing code, once, and then send their device key (\`dak_…\`). **People and programs** send a management token (\`mak_…\`).
- Every error is a problem document (RFC 9457) whose \`code\` is stable: programs should read nothing else.
- Every response has \`X-Request-Id\`: the one you sent, if it has 1 to 128 characters of \`A-Z a-z 0-9 . _ -\`, else one of the service.
- Record times are ISO 8601 in UTC; \`validUntil\` and the \`timestamp\` of an event are Unix epoch seconds.`;

/** Returns the paths of the operation table, in its order. */
function operationPaths(): ZodOpenApiPathsObject {
  const paths: ZodOpenApiPathsObject = {};
  for (const [id, operation] of Object.entries<Operation>(operations)) {
    const path = operation.path.replace(/:(\w+)/g, '{$1}');
    paths[path] = {
      ...paths[path],
      [operation.method.toLowerCase()]: describeOperation(id, operation),
    };
  }
  return paths;
}

/**
 * Returns the API as an OpenAPI 3.1 document, made from the operation table and the schemas that
 * validate requests.
 *
 * @param version of the service, for `info.version`
 * @example openApiDocument('1.0.0').paths['/devices/register']
 */
export function openApiDocument(version: string): object {
  return createDocument(
    {
      openapi: '3.1.1',
      info: {
        title: 'signage-kit',
        version,
        description,
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: '/' }],
      tags,
      paths: { ...operationPaths(), ...systemPaths },
      components,
    },
    { override: plainSchema },
  );
}
