import { interrupted, pause } from '../../client/pause.ts';
import { answeredError, asObject, header, type Reply } from '../../client/problem.ts';
import type { Transport } from '../../client/transport.ts';
import { type Clock, minuteMs, type Random } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';
import { textMember } from '../record/recorded-tvs.ts';
import type { RecordedExchange } from '../record/recording.ts';
import { RealValues, unknownKey } from './real-values.ts';
import { isKeyRefused, type ReplayPlan } from './replay-plan.ts';

export interface ReplayContext {
  service: string;
  transport: Transport;
  clock: Clock;
  random: Random;
  speed: number;
  /** Start of the replay, in Unix epoch milliseconds. */
  startedMs: number;
  /** Time of the first recorded request, in Unix epoch milliseconds. */
  recordedMs: number;
  signal: AbortSignal;
  /** Called for each answer. */
  onAnswer(exchange: RecordedExchange, recorded: string, now: string): void;
}

/** Longer than the longest hold of an answer (docs/protocol.md §2.9). */
const requestTimeoutMs = minuteMs;
/**
 * Headers that are sent again, with real values. Omits headers of the connection and of proxies.
 */
const sentHeaders = ['accept', 'content-encoding', 'content-type', 'user-agent'];
/** A longer body gets the same answer: it exceeds all limits of docs/protocol.md §1.7. */
const maxFillerBytes = 2 * 1024 * 1024;

export const noAnswer = 'none';
const ids = ['deviceId', 'screenId', 'tenantId'];
const wait = /([?&]waitSeconds=)(\d+)/;

/** Returns status and error code of an answer, such as `404 playlist_not_found`. */
function answerText(status: number, json: unknown, isKeyRefused: boolean): string {
  const code = status >= 400 && !isKeyRefused ? textMember(json, 'code') : undefined;
  return code === undefined ? String(status) : `${status} ${code}`;
}

/** Sends the requests of one recorded TV again. */
export class ReplayedTv {
  readonly #plan: ReplayPlan;
  readonly #context: ReplayContext;
  readonly #code: string | undefined;
  readonly #real: RealValues;

  /** `code` is the pairing code of a TV that needs one. */
  constructor(plan: ReplayPlan, code: string | undefined, context: ReplayContext) {
    this.#plan = plan;
    this.#context = context;
    this.#real = new RealValues(context.random);
    this.#code = code;
    this.#real.set(plan.codeName, code);
  }

  /**
   * Sends all requests, one after the other. Long polls run concurrently with the others. Throws
   * `interrupted` if the signal aborts. Throws the error of the service if the TV cannot be
   * registered.
   */
  async run(): Promise<void> {
    const { paired, exchanges } = this.#plan;
    if (paired) await this.#register(paired);
    let held = Promise.resolve();
    for (const exchange of exchanges) {
      await this.#untilDue(exchange);
      if (!wait.test(exchange.path)) {
        await this.#send(exchange);
        continue;
      }
      held = held.then(() => this.#send(exchange));
      // `await held` below throws the error. Prevents an unhandled rejection until then.
      held.catch(() => {});
    }
    await held;
  }

  async #untilDue({ at }: RecordedExchange): Promise<void> {
    const { clock, speed, startedMs, recordedMs, signal } = this.#context;
    const dueMs = startedMs + (Date.parse(at) - recordedMs) / speed;
    if (dueMs > clock.now()) await pause(clock, dueMs - clock.now(), signal);
    if (signal.aborted) throw interrupted(signal);
  }

  /** Registers a TV whose registration was not recorded. */
  async #register({ keyName, id }: NonNullable<ReplayPlan['paired']>): Promise<void> {
    const { transport, service, clock, signal } = this.#context;
    const body = JSON.stringify({ pairingCode: this.#code, deviceInfo: {} });
    const headers = {
      'content-type': 'application/json',
      'idempotency-key': crypto.randomUUID(),
    };
    const request = { method: 'POST', path: '/devices/register', headers, body };
    const reply = await transport({ ...request, timeoutMs: requestTimeoutMs, signal });
    if (reply.status !== 201) throw answeredError(reply, service, clock.now());
    const { apiKey, screenId } = asObject(reply.text) ?? {};
    this.#real.set(keyName, apiKey);
    this.#real.set(id.toLowerCase(), screenId);
  }

  async #send(exchange: RecordedExchange): Promise<void> {
    const { transport, service, clock, signal, onAnswer } = this.#context;
    const { method, status, answer, operation } = exchange;
    const isRefused = isKeyRefused(exchange);
    const recorded = status === null ? noAnswer : answerText(status, answer.json, isRefused);
    const isBinding = operation === 'registerDevice' && status === 201;
    const request = { method, path: this.#path(exchange), ...this.#message(exchange) };
    let reply: Reply;
    try {
      reply = await transport({ ...request, timeoutMs: requestTimeoutMs, signal });
    } catch (error) {
      const isLost = error instanceof SignageError && error.code === 'unreachable';
      if (!isLost || isBinding) throw error;
      onAnswer(exchange, recorded, noAnswer);
      return;
    }
    if (isBinding && reply.status !== 201) throw answeredError(reply, service, clock.now());
    const json = asObject(reply.text);
    this.#learn(exchange, reply, json);
    onAnswer(exchange, recorded, answerText(reply.status, json, isRefused));
  }

  #path({ path }: RecordedExchange): string {
    const { speed } = this.#context;
    const cursor = /([?&]after=)([^&]*)/;
    return this.#real
      .text(path)
      .replace(cursor, (_, name: string, value: string) => name + this.#real.cursor(value))
      .replace(
        wait,
        (_, name: string, seconds: string) =>
          name + Math.min(Number(seconds), Math.max(1, Math.round(Number(seconds) / speed))),
      )
      .replaceAll('#', '%23');
  }

  #message(exchange: RecordedExchange): { headers: Record<string, string>; body?: string } {
    const { headers: recorded, json, bytes } = exchange.request;
    const headers: Record<string, string> = {};
    for (const name of sentHeaders)
      if (recorded[name] !== undefined) headers[name] = this.#real.text(recorded[name]);
    for (const name of ['if-match', 'if-none-match'])
      if (recorded[name] !== undefined) headers[name] = this.#real.entityTags(recorded[name]);
    const { authorization, 'idempotency-key': key, 'x-device-time': deviceTime } = recorded;
    if (deviceTime !== undefined)
      headers['x-device-time'] = this.#deviceTime(deviceTime, exchange.at);
    if (key !== undefined) headers['idempotency-key'] = this.#real.text(key);
    if (authorization !== undefined) headers.authorization = this.#authorization(exchange);
    if (json !== undefined) return { headers, body: JSON.stringify(this.#real.json(json)) };
    if (bytes === undefined) return { headers };
    return { headers, body: 'x'.repeat(Math.min(bytes, maxFillerBytes)) };
  }

  /** Returns the present time of a clock that is as wrong as that of the recorded TV. */
  #deviceTime(recorded: string, at: string): string {
    if (!/^\d{1,15}$/.test(recorded)) return recorded;
    const offsetMs = Date.parse(at) - Number(recorded);
    return String(Math.max(0, this.#context.clock.now() - offsetMs));
  }

  #authorization(exchange: RecordedExchange): string {
    const recorded = exchange.request.headers.authorization ?? '';
    return isKeyRefused(exchange)
      ? recorded.replace(/dak_#\d+/, unknownKey)
      : this.#real.text(recorded);
  }

  /** Stores the current ids, keys, ETags and cursors of an answer. */
  #learn({ answer }: RecordedExchange, reply: Reply, json: Record<string, unknown> = {}): void {
    const member = (name: string) => textMember(answer.json, name);
    this.#real.set(answer.headers.etag, header(reply, 'etag'));
    this.#real.set(member('cursor'), json.cursor);
    if (reply.status !== 201) return;
    for (const secret of ['apiKey', 'token', 'claim']) this.#real.set(member(secret), json[secret]);
    for (const id of ids) this.#real.set(member(id)?.toLowerCase(), json[id]);
  }
}
