import { asObject } from './problem.ts';

/** The members of an OpenAPI document that declare parameters. They may be missing or malformed. */
interface Document {
  paths?: Record<string, Record<string, { parameters?: unknown } | undefined> | undefined>;
  components?: { parameters?: Record<string, { name?: unknown } | undefined> };
}

const reference = /^#\/components\/parameters\/(\w+)$/;

/** Returns the name of a parameter, or of the component that it refers to. */
function nameOf(document: Document, parameter: unknown): unknown {
  const { $ref, name } = (parameter ?? {}) as { $ref?: unknown; name?: unknown };
  const component = reference.exec(String($ref))?.[1];
  return component === undefined ? name : document.components?.parameters?.[component]?.name;
}

/**
 * Returns whether an OpenAPI document declares the header `Idempotency-Key` for an operation.
 * Earlier versions of the service ignore the header for some operations.
 *
 * @param text the document as JSON
 */
export function declaresIdempotencyKey(
  text: string,
  { method, path }: { method: string; path: string },
): boolean {
  const document = (asObject(text) ?? {}) as Document;
  const parameters = document.paths?.[path]?.[method.toLowerCase()]?.parameters;
  return (
    Array.isArray(parameters) &&
    parameters.some((parameter) => nameOf(document, parameter) === 'Idempotency-Key')
  );
}
