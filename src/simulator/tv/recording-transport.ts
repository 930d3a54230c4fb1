import { asObject } from '../../client/problem.ts';
import type { Requester, RequestParts } from '../../client/requester.ts';
import { readReply } from '../../client/transport.ts';
import type { TvCall } from '../../faults/tv-call.ts';
import type { RuntimeOperation } from '../../player/observer.ts';
import type { AttemptOutcome, DeviceLedger } from '../verify/device-ledger.ts';
import type { FleetLedger } from '../verify/ledger.ts';
import type { LatencyRecorder } from './latency.ts';

export interface RecordedAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  bytes: Buffer;
}

async function* singleChunk(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

/**
 * Converts a recorded response for the client. `body` replaces its body, for example by a truncated
 * one.
 */
export function replyOf(
  { status, headers, bytes }: RecordedAnswer,
  body: AsyncIterable<Buffer> = singleChunk(bytes),
): Awaited<ReturnType<Requester>> {
  return { statusCode: status, headers, body };
}

export interface RecordingTransportOptions {
  requester: Requester;
  traffic: LatencyRecorder;
  ledger: FleetLedger;
  /** Monotonic clock, in fractional milliseconds. */
  stopwatch: () => number;
}

/** The operations of TVs, by the names of their calls. */
export const operations: Readonly<Record<string, RuntimeOperation>> = {
  register: 'registerDevice',
  playlist: 'getPlaylist',
  config: 'getDeviceConfig',
  changes: 'getDeviceChanges',
  events: 'postEvents',
  rotate: 'rotateDeviceKey',
};

const devicePath =
  /\/devices\/(?:[^/?]+\/)?(?:keys\/)?(register|playlist|config|changes|events|rotate)(?:\?|$)/;

/** Returns the last word of the path of a TV's request; `undefined` for any other request. */
export const endpointOf = (url: string): TvCall | undefined =>
  devicePath.exec(url)?.[1] as TvCall | undefined;

/** Whether the service may hold the answer (docs/protocol.md §2.9). */
export const isHeld = (url: string) => endpointOf(url) === 'changes';

/**
 * Classifies a response to a batch. The outcome is unknown without a response, and after a 5xx,
 * because a proxy may have answered.
 */
function outcomeOf(status: number | undefined): AttemptOutcome {
  if (status === 202) return 'acknowledged';
  return status !== undefined && status < 500 ? 'refused' : 'unknown';
}

/**
 * Sends requests over the real network. Records in the ledger the responses of the service, before
 * a fault can lose or truncate them.
 */
export class RecordingTransport {
  readonly #options: RecordingTransportOptions;

  constructor(options: RecordingTransportOptions) {
    this.#options = options;
  }

  /** Sends one request and reads the whole response. Rejects with the error of the connection. */
  async send(url: string, parts: RequestParts): Promise<RecordedAnswer> {
    const { traffic, stopwatch, ledger } = this.#options;
    const operation = operations[endpointOf(url) ?? ''];
    const key = parts.headers.authorization?.slice('Bearer '.length) ?? '';
    const device = ledger.ofKey(key);
    const wasRevoked = device?.isRevoked === true;
    const batch = operation === 'postEvents' && device ? sentEvents(parts.body) : undefined;
    const settle = batch && device?.sending(parts.headers['idempotency-key'], batch);
    const startedAt = stopwatch();
    let answer: RecordedAnswer | undefined;
    try {
      const { statusCode, headers, body } = await this.#options.requester(url, parts);
      const bytes = Buffer.from(await readReply(body, url));
      answer = { status: statusCode, headers, bytes };
      if (operation === 'registerDevice' && answer.status === 201) this.#registered(parts, answer);
      if (operation === 'rotateDeviceKey' && device && answer.status === 201)
        this.#rotated(device, answer);
      if (device && answer.status < 400) device.keys.set(key, true);
      if (device && wasRevoked) this.#checkRefusal(device, key, answer);
      return answer;
    } finally {
      // A hold that the TV or a fault has ended does not count as a request without a response.
      const isEnded = isHeld(url) && parts.signal.aborted;
      if (operation && !isEnded) traffic.add(operation, answer?.status, stopwatch() - startedAt);
      settle?.(outcomeOf(answer?.status));
      if (device && batch && answer?.status === 202) this.#checkCount(device, batch.length, answer);
    }
  }

  #registered({ body }: RequestParts, { bytes }: RecordedAnswer): void {
    const { pairingCode } = asObject(String(body)) ?? {};
    const { deviceId, screenId, apiKey } = asObject(bytes.toString('utf8')) ?? {};
    const texts = [pairingCode, deviceId, screenId, apiKey];
    if (!texts.every((text) => typeof text === 'string')) return;
    this.#options.ledger.registered(pairingCode as string, {
      deviceId: deviceId as string,
      screenId: screenId as string,
      apiKey: apiKey as string,
    });
  }

  #rotated(device: DeviceLedger, { bytes }: RecordedAnswer): void {
    const { apiKey } = asObject(bytes.toString('utf8')) ?? {};
    if (typeof apiKey === 'string') this.#options.ledger.rotated(device, apiKey);
  }

  /**
   * Checks a response after a confirmed revocation. It must be a 401 with `device_key_revoked`.
   * Allowed exceptions: a 5xx, and `device_key_invalid` for a key that was replaced earlier.
   */
  #checkRefusal(device: DeviceLedger, key: string, { status, bytes }: RecordedAnswer): void {
    const { deviceId } = device;
    const { code } = asObject(bytes.toString('utf8')) ?? {};
    if (status >= 500 || (status === 401 && code === 'device_key_revoked')) return;
    if (status === 401 && code === 'device_key_invalid' && device.isReplaced(key)) return;
    const answered = typeof code === 'string' ? `${status} ${code}` : `${status}`;
    this.#options.ledger.findings.add(
      'revoked_key_accepted',
      `The service answered ${answered} to the revoked key of the device ${deviceId}.`,
    );
  }

  #checkCount({ deviceId }: DeviceLedger, sent: number, { bytes }: RecordedAnswer): void {
    const { received } = asObject(bytes.toString('utf8')) ?? {};
    if (received === sent) return;
    this.#options.ledger.findings.add(
      'received_differs',
      `The device ${deviceId} sent ${sent} events, but ${received} were acknowledged.`,
    );
  }
}

function sentEvents(body: RequestParts['body']): object[] {
  const events: unknown = JSON.parse(String(body ?? '[]'));
  return Array.isArray(events) ? events : [];
}
