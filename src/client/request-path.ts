import { SignageError } from '../domain/error.ts';
import type { Operation } from '../wire/operations.ts';
import type { PlainInput } from './call.ts';

/** URLs drop these as path segments, whatever their spelling: the request would go somewhere else. */
const notSegments = ['', '.', '..'];

function segment(name: string, value: string | undefined): string {
  if (value === undefined || notSegments.includes(value)) {
    throw new SignageError(
      'invalid_request',
      `${name} must be given, and neither empty nor dots.`,
      {
        errors: [{ path: `path.${name}`, message: 'must be given' }],
      },
    );
  }
  return encodeURIComponent(value);
}

function queryText(query: Record<string, unknown>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value])
      if (one !== undefined && one !== null) search.append(name, String(one));
  }
  const text = search.toString();
  return text && `?${text}`;
}

/**
 * Path and query of a call.
 *
 * @example requestPath(operations.getScreen, { params: { id: '0190…' } }) // '/v1/screens/0190…'
 */
export function requestPath(
  operation: Pick<Operation, 'path'>,
  { params = {}, query = {} }: PlainInput,
): string {
  return (
    operation.path.replaceAll(/:(\w+)/g, (_, name: string) => segment(name, params[name])) +
    queryText(query)
  );
}
