import type { IncomingHttpHeaders } from 'node:http';
import { type OperationId, operations } from '../../wire/operations.ts';
import type { CapturedBody } from './captured-body.ts';
import type { Outcome } from './recording.ts';

export interface CapturedMessage {
  headers: IncomingHttpHeaders;
  body: CapturedBody;
}

/** One request and its answer as they passed the recorder, including secrets. */
export interface CapturedExchange {
  /** Arrival of the request, in Unix epoch milliseconds. */
  startedMs: number;
  tookMs: number;
  method: string;
  /** Path and query as sent. */
  path: string;
  request: CapturedMessage;
  /** Status of the answer. `undefined`: the TV got no answer. */
  status: number | undefined;
  answer: CapturedMessage;
  outcome: Outcome;
}

const parameter = /:\w+/g;
const parameterCount = ({ path }: { path: string }) => path.match(parameter)?.length ?? 0;

/**
 * All operations, with regular expressions for their paths. Paths with fewer parameters come first.
 */
const routes = (Object.keys(operations) as OperationId[])
  .sort((one, other) => parameterCount(operations[one]) - parameterCount(operations[other]))
  .map((id) => {
    const { method, path } = operations[id];
    return { id, method, path, form: new RegExp(`^${path.replaceAll(parameter, '[^/]+')}$`) };
  });

/**
 * The operation of a request, and the methods that its path allows. For an unknown path,
 * `operationId` is `undefined` and `methods` is empty.
 */
export interface Route {
  operationId: OperationId | undefined;
  methods: readonly string[];
  /** The path of the operations, such as `/devices/:id/playlist`. */
  template: string | undefined;
}

/** Finds the operation of a request. `HEAD` counts as `GET` (docs/protocol.md §1.1). */
export function routeOf({ method, path }: Pick<CapturedExchange, 'method' | 'path'>): Route {
  const [withoutQuery = ''] = path.split('?');
  const found = routes.filter(({ form }) => form.test(withoutQuery));
  const wanted = method === 'HEAD' ? 'GET' : method;
  const own = found.find((route) => route.method === wanted);
  return {
    operationId: own?.id,
    methods: found.map((route) => route.method),
    template: (own ?? found[0])?.path,
  };
}
