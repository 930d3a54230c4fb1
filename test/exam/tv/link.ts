import type { MakeRequester } from '../../../src/client/requester.ts';
import { makeUndiciRequester } from '../../../src/client/undici-requester.ts';
import type { PlayerClock } from '../../../src/player/options.ts';

/** The last segment of the path of a request. */
export type Operation = 'register' | 'config' | 'playlist' | 'events' | 'changes' | 'rotate';

export interface LinkRequest {
  operation: Operation;
  url: string;
  method: string;
  headers: Record<string, string>;
  body: string | null;
  signal: AbortSignal;
}

export interface LinkAnswer {
  /** 0: no complete answer. */
  status: number;
  headers: Record<string, string | string[] | undefined>;
  // biome-ignore lint/suspicious/noExplicitAny: a defect changes what the service answers.
  json: any;
}

type Send = (request: LinkRequest) => Promise<LinkAnswer>;

/** The TV that a link belongs to. */
export interface LinkedTv {
  clock: PlayerClock;
  /** Waits for `ms` of the TV's time. Rejects if the signal aborts or the power is cut. */
  pause(ms: number, signal?: AbortSignal): Promise<void>;
  /** Returns the next code that a person enters. `undefined`: the power was cut. */
  nextCode(): Promise<string | undefined>;
  /** How often the power was switched on. */
  starts: number;
  /** Whether the last request got an answer. */
  isOnline: boolean;
}

/** Stands between the player and the network. Made once for a TV, so it outlives power cuts. */
export type Link = (send: Send, tv: LinkedTv) => Send;

/** Returns an error as the service answers it. */
export const problem = (status: number, code: string, more: object = {}): LinkAnswer => ({
  status,
  headers: { 'content-type': 'application/problem+json' },
  json: { title: 'Defect', status, code, detail: 'The link of the TV answers this.', ...more },
});

/** Returns the answer of the service to a batch, whether it has got it or not. */
export const accepted = ({ body }: LinkRequest): LinkAnswer => ({
  status: 202,
  headers: {},
  json: { received: JSON.parse(body ?? '[]').length },
});

export const codeOf = ({ status, json }: LinkAnswer): string | undefined =>
  status >= 400 ? json?.code : undefined;

export const without = <T extends object>(members: T, name: string): T =>
  Object.fromEntries(Object.entries(members).filter(([one]) => one !== name)) as T;

/** Changes the requests of an operation. Default: of all operations. */
export const changesRequests =
  (change: (request: LinkRequest) => LinkRequest, operation?: Operation): Link =>
  (send) =>
  (request) =>
    send((operation ?? request.operation) === request.operation ? change(request) : request);

/** Changes one header. `undefined` omits the header. */
export const changesHeader = (
  name: string,
  change: (value: string, request: LinkRequest) => string | undefined,
  operation?: Operation,
): Link =>
  changesRequests((request) => {
    const { [name]: value, ...headers } = request.headers;
    const changed = value === undefined ? undefined : change(value, request);
    return {
      ...request,
      headers: changed === undefined ? headers : { ...headers, [name]: changed },
    };
  }, operation);

/** Changes each event that is sent. */
// biome-ignore lint/suspicious/noExplicitAny: a defect sends other values, too.
export const changesEvents = (change: (event: any) => object): Link =>
  changesRequests(
    (request) => ({
      ...request,
      body: JSON.stringify(JSON.parse(request.body ?? '[]').map(change)),
    }),
    'events',
  );

/** Changes the answers to an operation. Default: to all operations. */
export const changesAnswers =
  (
    change: (answer: LinkAnswer, request: LinkRequest) => LinkAnswer | Promise<LinkAnswer>,
    operation?: Operation,
  ): Link =>
  (send) =>
  async (request) => {
    const answer = await send(request);
    const isMeant = (operation ?? request.operation) === request.operation;
    return isMeant ? change(answer, request) : answer;
  };

/** Changes the body of each 200 or 201 to an operation. */
export const changesBodies = (
  // biome-ignore lint/suspicious/noExplicitAny: see `LinkAnswer`.
  change: (json: any) => object,
  operation: Operation,
): Link =>
  changesAnswers((answer) => {
    const isGood = answer.status === 200 || answer.status === 201;
    return isGood ? { ...answer, json: change(answer.json) } : answer;
  }, operation);

/** Sends a request again, without telling the player, while `delayMs` returns a delay. */
export const repeats =
  (delayMs: (answer: LinkAnswer, request: LinkRequest) => number | undefined): Link =>
  (send, tv) =>
  async (request) => {
    for (;;) {
      const answer = await send(request);
      const ms = delayMs(answer, request);
      if (ms === undefined) return answer;
      await tv.pause(ms, request.signal);
    }
  };

/** Puts links in a row. The first is next to the player. */
export const linked =
  (...links: Link[]): Link =>
  (send, tv) =>
    links.reduceRight((inner, link) => link(inner, tv), send);

const sendOnce = (tv: LinkedTv): Send => {
  const request = makeUndiciRequester(undefined);
  return async ({ operation: _, url, ...parts }) => {
    try {
      const { statusCode, headers, body } = await request(url, parts);
      const chunks: Uint8Array[] = [];
      for await (const chunk of body) chunks.push(chunk);
      const text = Buffer.concat(chunks).toString();
      const isJson = String(headers['content-type']).includes('json') && text !== '';
      tv.isOnline = true;
      return { status: statusCode, headers, json: isJson ? JSON.parse(text) : undefined };
    } catch {
      parts.signal.throwIfAborted();
      tv.isOnline = false;
      return { status: 0, headers: {}, json: undefined };
    }
  };
};

/** Returns the network of a TV, with a link in front of it. */
export function requesterOver(link: Link, tv: LinkedTv): MakeRequester {
  const send = link(sendOnce(tv), tv);
  return async () => async (url, parts) => {
    const operation = new URL(url).pathname.split('/').at(-1) as Operation;
    const { status, headers, json } = await send({
      operation,
      url,
      ...parts,
      body: parts.body as string | null,
    });
    if (status === 0) throw new Error('The connection broke.');
    const text = json === undefined ? '' : JSON.stringify(json);
    const body = (async function* () {
      yield Buffer.from(text);
    })();
    return { statusCode: status, headers: without(headers, 'content-length'), body };
  };
}
