import { SignageError } from '../domain/error.ts';
import type { Operation } from '../wire/operations/operations.ts';
import type { PlainInput } from './call.ts';

/**
 * URL parsers resolve `.` and `..`, even if escaped, so the request would have another path. An
 * empty segment names no record.
 */
const unusableSegments = ['', '.', '..'];

function segment(name: string, value: string | undefined): string {
  if (value === undefined || unusableSegments.includes(value)) {
    throw new SignageError(
      'invalid_request',
      `${name} is required, and must not be empty, "." or "..".`,
      {
        errors: [{ path: `path.${name}`, message: 'is required' }],
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
 * Returns the path and query of a call. Throws `invalid_request` if a path parameter is missing,
 * empty, `.` or `..`.
 *
 * @example requestPath(operations.getScreen, { params: { id: '01…' } }) // '/v1/screens/01…'
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
