import { errorKinds, type ServiceErrorCode } from '../wire/errors.ts';
import { type Operation, possibleErrors } from '../wire/operation.ts';
import { runtimeOperations } from '../wire/operations/runtime.ts';

export type TvOperation = keyof typeof runtimeOperations;

/** The requests of a TV, as rules name them. */
export const tvCalls = [
  'register',
  'claim',
  'playlist',
  'config',
  'changes',
  'events',
  'rotate',
  'media',
] as const;
export type TvCall = (typeof tvCalls)[number];

export const callOf: Readonly<Record<TvOperation, TvCall>> = {
  registerDevice: 'register',
  createClaim: 'claim',
  getClaimStatus: 'claim',
  getPlaylist: 'playlist',
  getDeviceConfig: 'config',
  getDeviceChanges: 'changes',
  postEvents: 'events',
  rotateDeviceKey: 'rotate',
};

const all = Object.entries<Operation>(runtimeOperations) as [TvOperation, Operation][];
const patterns = all.map(([operation, { method, path }]) => ({
  operation,
  method,
  path: new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}$`),
}));

/** Returns the operation of a TV's request. `HEAD` counts as `GET`. */
export function tvOperationAt(method: string, pathname: string): TvOperation | undefined {
  const asked = method === 'HEAD' ? 'GET' : method;
  return patterns.find((one) => one.method === asked && one.path.test(pathname))?.operation;
}

/** Preferred codes of statuses that several codes of an operation share. */
const preferred: readonly string[] = ['device_key_invalid', 'invalid_request'];

/** Returns the code that the protocol defines for a status of an operation. */
export function defaultCode(operation: TvOperation, status: number): ServiceErrorCode | undefined {
  const described: Operation = runtimeOperations[operation];
  const codes = possibleErrors(described).filter((code) => errorKinds[code].status === status);
  return (
    codes.find((code) => preferred.includes(code)) ??
    codes.find((code) => described.errors?.includes(code)) ??
    codes[0]
  );
}
