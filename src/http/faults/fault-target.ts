import { errorKinds, type ServiceErrorCode } from '../../wire/errors.ts';
import { possibleErrors } from '../../wire/operation.ts';
import { runtimeOperations } from '../../wire/operations/runtime.ts';
import { type Operation, type OperationId, operations } from '../../wire/operations.ts';

/** The requests that a rule matches. */
export interface FaultTarget {
  /** HTTP method. GET includes HEAD. `undefined` matches every method. */
  method: string | undefined;
  /** Segments of the path. `*` matches any segment. `undefined` matches every path. */
  segments: readonly string[] | undefined;
}

/** Returns whether a segment is `*` or a parameter such as `:id`. */
const isAny = (segment: string) => segment === '*' || segment.startsWith(':');
/** Compares two segments without regard to case, because UUIDs may be in upper case. */
const same = (a: string, b: string) => isAny(a) || isAny(b) || a.toLowerCase() === b.toLowerCase();
const matches = (a: readonly string[], b: readonly string[]) =>
  a.length === b.length && a.every((segment, at) => same(segment, b[at] ?? ''));

/** Splits a path into its segments. */
export const segmentsOf = (path: string): string[] => path.slice(1).split('/');
const methodOf = (method: string) => (method === 'HEAD' ? 'GET' : method);

/** Returns whether the target matches a method and path. */
export function isTarget(
  { method, segments }: FaultTarget,
  requestMethod: string,
  path: readonly string[],
): boolean {
  return (
    (method === undefined || method === methodOf(requestMethod)) &&
    (segments === undefined || matches(segments, path))
  );
}

const all: readonly Operation[] = Object.values(operations);
const tvOperations = Object.entries<Operation>(runtimeOperations).filter(([, { path }]) =>
  path.startsWith('/devices/:id/'),
) as [OperationId, Operation][];
const codesOf = (operation: Operation, status: number) =>
  possibleErrors(operation).filter((code) => errorKinds[code].status === status);

/** First segments of API paths. All other paths may be anything, such as `/media/menu.png`. */
const apiPaths = ['v1', 'devices'];

/**
 * Returns whether a rule names an operation. A rule may write `*` for a literal segment, or a
 * literal for a parameter, but not both. So the segments `devices`, `*`, `playlst` do not name
 * `/devices/claims/:claim`.
 */
function namesOperation(target: FaultTarget, { method, path }: Operation): boolean {
  const template = segmentsOf(path);
  const hasLiteral = template.some((one, at) => isAny(one) && !isAny(target.segments?.[at] ?? '*'));
  const hasStar = template.some((one, at) => !isAny(one) && isAny(target.segments?.[at] ?? one));
  return isTarget(target, method, template) && !(hasLiteral && hasStar);
}

/**
 * Returns whether a rule for an API path matches no operation, for example because of a typing
 * error.
 */
export function isUnknownTarget(target: FaultTarget): boolean {
  const isOfApi = apiPaths.includes(target.segments?.[0] ?? '');
  return isOfApi && !all.some((operation) => namesOperation(target, operation));
}

/** Returns the codes with this status that are documented for the operations a rule matches. */
export function documentedCodes(target: FaultTarget, status: number): ServiceErrorCode[] {
  const matching = all.filter((operation) => namesOperation(target, operation));
  return [...new Set(matching.flatMap((operation) => codesOf(operation, status)))];
}

/**
 * Returns the TV operation at a path, with the id in the path. Returns `undefined` for other paths.
 */
export function tvOperationAt(
  requestMethod: string,
  path: readonly string[],
): { operation: OperationId; namedId: string } | undefined {
  const found = tvOperations.find(([, { method, path: template }]) =>
    isTarget({ method, segments: segmentsOf(template) }, requestMethod, path),
  );
  return found && { operation: found[0], namedId: path[1] as string };
}

/** Preferred codes for statuses that several codes share. */
const preferred: readonly string[] = [
  'device_key_invalid',
  'credential_invalid',
  'invalid_request',
];

/**
 * Returns the documented error code of a status for a path. Returns `undefined` if no code is
 * documented. The response then looks like the response of a proxy.
 */
export function defaultCode(
  requestMethod: string,
  path: readonly string[],
  status: number,
): ServiceErrorCode | undefined {
  const literal = (operation: Operation) =>
    segmentsOf(operation.path).filter((segment) => !isAny(segment)).length;
  const candidates = all.filter(
    (one) => one.method === methodOf(requestMethod) && matches(segmentsOf(one.path), path),
  );
  const [operation] = candidates.toSorted((a, b) => literal(b) - literal(a));
  if (!operation) return undefined;
  const codes = codesOf(operation, status);
  const own: readonly string[] = [
    ...preferred,
    ...(operation.errors ?? []),
    `${operation.record}_not_found`,
  ];
  return (
    codes.find((code) => preferred.includes(code)) ??
    codes.find((code) => own.includes(code)) ??
    codes[0]
  );
}
