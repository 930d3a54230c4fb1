import { type ErrorCode, errorKinds } from '../../wire/errors.ts';
import { possibleErrors } from '../../wire/implied-errors.ts';
import { type Operation, operations } from '../../wire/operations.ts';

/** Which requests a rule is for. */
export interface FaultTarget {
  /** Every method unless one is named; GET stands for HEAD too. */
  method: string | undefined;
  /** The path by its segments, `*` for any one; every path when there are none to look at. */
  segments: readonly string[] | undefined;
}

/** `*`, and a parameter as the documentation writes it, `:id`. */
const isAny = (segment: string) => segment === '*' || segment.startsWith(':');
/** UUIDs are compared without regard to case, as everywhere. */
const same = (a: string, b: string) => isAny(a) || isAny(b) || a.toLowerCase() === b.toLowerCase();
const meets = (a: readonly string[], b: readonly string[]) =>
  a.length === b.length && a.every((segment, at) => same(segment, b[at] ?? ''));

/** A path by its segments. */
export const segmentsOf = (path: string): string[] => path.slice(1).split('/');
const methodOf = (method: string) => (method === 'HEAD' ? 'GET' : method);

/** Whether a request, or what an operation takes, is meant. */
export function isTarget(
  { method, segments }: FaultTarget,
  asked: string,
  path: readonly string[],
): boolean {
  return (
    (method === undefined || method === methodOf(asked)) &&
    (segments === undefined || meets(segments, path))
  );
}

const all: readonly Operation[] = Object.values(operations);
const codesOf = (operation: Operation, status: number) =>
  possibleErrors(operation).filter((code) => errorKinds[code].status === status);

/** The codes with this status that are documented for what a rule is for. */
export function documentedCodes(target: FaultTarget, status: number): ErrorCode[] {
  const meant = all.filter(({ method, path }) => isTarget(target, method, segmentsOf(path)));
  return [...new Set(meant.flatMap((operation) => codesOf(operation, status)))];
}

/** What a status means most often, where several codes have it. */
const usual: readonly string[] = ['device_key_invalid', 'credential_invalid', 'invalid_request'];

/** The code that an answer with this status has here: `undefined` where none is documented, as when a proxy answers. */
export function defaultCode(
  asked: string,
  path: readonly string[],
  status: number,
): ErrorCode | undefined {
  const literal = (operation: Operation) =>
    segmentsOf(operation.path).filter((segment) => !isAny(segment)).length;
  const here = all.filter(
    (one) => one.method === methodOf(asked) && meets(segmentsOf(one.path), path),
  );
  const [operation] = here.toSorted((a, b) => literal(b) - literal(a));
  if (!operation) return undefined;
  const codes = codesOf(operation, status);
  const own: readonly string[] = [
    ...usual,
    ...(operation.errors ?? []),
    `${operation.record}_not_found`,
  ];
  return (
    codes.find((code) => usual.includes(code)) ??
    codes.find((code) => own.includes(code)) ??
    codes[0]
  );
}
