import type { ServerResponse } from 'node:http';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { Clock, Random } from '../../domain/clock.ts';
import { randomFraction } from '../../faults/rule-text.ts';
import type { Bindings } from '../request/request-context.ts';
import { type FaultEffect, type FaultRule, readFaultRule } from './fault-rule.ts';
import { isTarget, segmentsOf } from './fault-target.ts';

/** The faults that apply to one request. */
interface InjectedFaults {
  /** Texts of the applicable rules, except `cut` rules. */
  rules: readonly string[];
  delayMs: number;
  /** Breaks the connection if there is no response after `afterMs`. */
  cut: { rule: string; afterMs: number } | undefined;
  effect: Exclude<FaultEffect, TimedEffect> | undefined;
}

type TimedEffect = Extract<FaultEffect, { fromMs: number }>;

/** The fault rules of a service. */
export interface Faults {
  /** The texts of all rules. */
  rules: readonly string[];
  /**
   * Returns the faults for a request, or `undefined`. Call the function once per request, because
   * each call counts towards `every` and `first`.
   */
  faultsFor(method: string, path: string): InjectedFaults | undefined;
}

const drawMs = ({ fromMs, toMs }: TimedEffect, random: Random) =>
  fromMs + Math.floor(randomFraction(random) * (toMs - fromMs + 1));

function delayOf({ effect }: FaultRule, random: Random): number {
  return effect.kind === 'delay' ? drawMs(effect, random) : 0;
}

function cutOf(rule: FaultRule | undefined, random: Random): InjectedFaults['cut'] {
  return rule?.effect.kind === 'cut'
    ? { rule: rule.text, afterMs: drawMs(rule.effect, random) }
    : undefined;
}

/**
 * Reads the rules. If several rules apply to a request, their delays add up. Of all other effects,
 * only the first applies. Throws `invalid_option` for a malformed rule.
 */
export function makeFaults(texts: readonly string[], random: Random): Faults {
  const rules = texts.map((text) => readFaultRule(text, random));
  return {
    rules: texts,
    faultsFor(method, path) {
      const segments = segmentsOf(path);
      const applying = rules.filter(
        ({ target, applies }) => isTarget(target, method, segments) && applies(),
      );
      const delays = applying.filter(({ effect }) => effect.kind === 'delay');
      const decisive = applying.find(({ effect }) => effect.kind !== 'delay');
      const effective = applying.filter((rule) => rule === decisive || delays.includes(rule));
      if (effective.length === 0) return undefined;
      const delayMs = delays.reduce((sum, rule) => sum + delayOf(rule, random), 0);
      const cut = cutOf(decisive, random);
      const shown = effective.filter((rule) => !cut || rule !== decisive);
      return {
        rules: shown.map(({ text }) => text),
        delayMs,
        cut,
        effect: cut ? undefined : (decisive?.effect as InjectedFaults['effect']),
      };
    },
  };
}

/**
 * Returns the error that replaces a broken connection in a mounted `fetch`, which has no connection
 * to break. The global `fetch` throws the same kind of error.
 */
const hungUp = () => new TypeError('fetch failed: a fault rule broke the connection');

/** Closes the connection without a response. */
function hangUp(outgoing: ServerResponse | undefined): Response {
  if (!outgoing) throw hungUp();
  // `end` is also needed, because a response counts as in progress until it has ended.
  outgoing.destroy().end();
  return new Response(null, RESPONSE_ALREADY_SENT);
}

function brokenStream(bytes: Uint8Array): ReadableStream<Uint8Array> {
  let sent = false;
  return new ReadableStream({
    pull(controller) {
      if (sent) controller.error(hungUp());
      else controller.enqueue(bytes);
      sent = true;
    },
  });
}

/**
 * Sends the head of the response and half of its body, then closes the connection. Without a body,
 * closes the connection at once.
 */
async function breakOff(
  answer: Response,
  method: string,
  outgoing: ServerResponse | undefined,
): Promise<Response> {
  const bytes = new Uint8Array(await answer.arrayBuffer());
  if (bytes.length === 0 || method === 'HEAD') return hangUp(outgoing);
  const half = bytes.subarray(0, bytes.length >> 1);
  const headers = new Headers(answer.headers);
  headers.set('Content-Length', String(bytes.length));
  if (!outgoing) return new Response(brokenStream(half), { status: answer.status, headers });
  outgoing.writeHead(answer.status, Object.fromEntries(headers));
  outgoing.flushHeaders();
  outgoing.write(half, () => outgoing.destroy());
  return new Response(null, RESPONSE_ALREADY_SENT);
}

type FetchHandler = (request: Request, bindings?: Bindings) => Response | Promise<Response>;

interface FaultyOptions {
  faults: Faults;
  clock: Clock;
  /** Aborted when the service stops. The signal ends delays at once. */
  stopping: AbortSignal;
  /** Called for a request that is dropped without an answer. */
  onDrop(request: Request, rules: readonly string[]): void;
}

function delay(delayMs: number, { clock, stopping }: FaultyOptions): Promise<void> {
  return new Promise((done) => {
    if (delayMs === 0 || stopping.aborted) return done();
    const end = () => {
      cancel();
      stopping.removeEventListener('abort', end);
      done();
    };
    const cancel = clock.after(delayMs, end);
    stopping.addEventListener('abort', end);
  });
}

/**
 * Breaks the connection unless the response comes in time. To the request's handler, the client has
 * disconnected.
 */
async function cutAfter(
  { rule, afterMs }: { rule: string; afterMs: number },
  request: Request,
  { outgoing }: { outgoing?: ServerResponse },
  { clock, onDrop }: FaultyOptions,
  answer: (request: Request) => Promise<Response>,
): Promise<Response> {
  const disconnect = new AbortController();
  const heard = outgoing ? request : new Request(request, { signal: disconnect.signal });
  let cancel = () => {};
  const tooLate = new Promise<void>((resolve) => {
    cancel = clock.after(afterMs, resolve);
  });
  const inTime = await Promise.race([answer(heard), tooLate]).finally(() => cancel());
  if (inTime) return inTime;
  onDrop(request, [rule]);
  disconnect.abort();
  return hangUp(outgoing);
}

/**
 * Adds injected faults to the service. The app answers injected statuses, so that they look like
 * any other problem document. This function breaks connections, because it has access to them.
 * Delays come after the request was handled, so a client that times out cannot know whether its
 * request was handled.
 */
export function withFaults(answer: FetchHandler, options: FaultyOptions): FetchHandler {
  async function respond(
    request: Request,
    bindings: Bindings | undefined,
    { rules, delayMs, effect }: InjectedFaults,
  ): Promise<Response> {
    const statusEffect = effect?.kind === 'status' ? { statusEffect: effect } : {};
    const response = await answer(request, { ...bindings, faults: rules, ...statusEffect });
    for (const rule of rules) response.headers.append('X-Signage-Fault', rule);
    await delay(delayMs, options);
    if (effect?.kind === 'lose') return hangUp(bindings?.outgoing);
    return effect?.kind === 'truncate'
      ? breakOff(response, request.method, bindings?.outgoing)
      : response;
  }

  return async (request, bindings) => {
    const hit = options.faults.faultsFor(request.method, new URL(request.url).pathname);
    if (!hit) return answer(request, bindings);
    const { rules, delayMs, cut, effect } = hit;
    if (effect?.kind === 'drop') {
      options.onDrop(request, rules);
      await delay(delayMs, options);
      return hangUp(bindings?.outgoing);
    }
    if (!cut) return respond(request, bindings, hit);
    return cutAfter(cut, request, bindings ?? {}, options, (heard) =>
      respond(heard, bindings, hit),
    );
  };
}
