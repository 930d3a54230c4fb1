import { credentialOf, type RecordedTv, textMember } from '../record/recorded-tvs.ts';
import type { RecordedExchange } from '../record/recording.ts';

/** One TV of a recording, with the requests to send again. */
export interface ReplayPlan extends RecordedTv {
  /** Name of the pairing code that bound the TV. `undefined`: the recording does not show it. */
  codeName: string | undefined;
  /**
   * For a TV that was paired before the recording began: the name of its key, and the id in its
   * paths. The replay registers this TV first.
   */
  paired: { keyName: string; id: string } | undefined;
  /** Number of recorded requests that are not sent again. */
  leftOut: number;
}

function codeNameOf(exchanges: readonly RecordedExchange[]): string | undefined {
  const bound = exchanges.find(
    ({ operation, status }) => operation === 'registerDevice' && status === 201,
  );
  return textMember(bound?.request.json, 'pairingCode');
}

function pairedBefore(exchanges: readonly RecordedExchange[]): ReplayPlan['paired'] {
  for (const exchange of exchanges) {
    const keyName = credentialOf(exchange);
    const id = /^\/devices\/([^/?]+)\//.exec(exchange.path)?.[1];
    const isAccepted = exchange.status !== null && exchange.status < 400;
    if (keyName?.startsWith('dak_#') && id !== undefined && isAccepted) return { keyName, id };
  }
  return undefined;
}

const idempotencyKeyOf = ({ request }: RecordedExchange) => request.headers['idempotency-key'];

/**
 * Whether to send a request again. Omits requests that did not reach the service, or that it
 * dropped without an answer. Omits batches that a failing service never accepted, because it would
 * store them now.
 */
function isSent(exchange: RecordedExchange, acceptedKeys: ReadonlySet<string>): boolean {
  const { outcome, status, operation } = exchange;
  if (outcome === 'request_cut' || outcome === 'unreachable') return false;
  if (outcome === 'service_left' && status === null) return false;
  const hasFailed = operation === 'postEvents' && status !== null && status >= 500;
  return !hasFailed || acceptedKeys.has(idempotencyKeyOf(exchange) ?? '');
}

/** Plans the replay of one TV. */
export function planReplay(tv: RecordedTv): ReplayPlan {
  const { exchanges } = tv;
  const accepted = exchanges.filter(({ status }) => status === 202).map(idempotencyKeyOf);
  const acceptedKeys = new Set(accepted.filter((key) => key !== undefined));
  const sent = exchanges.filter((one) => isSent(one, acceptedKeys));
  const codeName = codeNameOf(sent);
  return {
    ...tv,
    exchanges: sent,
    codeName,
    paired: codeName === undefined ? pairedBefore(sent) : undefined,
    leftOut: exchanges.length - sent.length,
  };
}

/** Whether the TV needs a pairing code. */
export const needsCode = ({ codeName, paired }: ReplayPlan): boolean =>
  codeName !== undefined || paired !== undefined;

/**
 * Whether the service refused the key of a request, and not only the id in its path. The replay
 * sends an unknown key, because it cannot revoke the TV at the same moment.
 */
export const isKeyRefused = (exchange: RecordedExchange): boolean =>
  exchange.status === 401 && textMember(exchange.answer.json, 'code') !== 'device_key_mismatch';
