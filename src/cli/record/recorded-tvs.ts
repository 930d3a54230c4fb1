import type { RecordedExchange } from './recording.ts';

/** One TV of a recording. A TV that is paired again with a new code counts as another TV. */
export interface RecordedTv {
  /** Number from 1, in order of the first requests. */
  number: number;
  /** Id of its screen, if the recording shows its registration. */
  screenId: string | undefined;
  /** Exchanges in order of their requests. */
  exchanges: RecordedExchange[];
}

/** Returns a member of a recorded body if it is a string. */
export function textMember(json: unknown, name: string): string | undefined {
  if (typeof json !== 'object' || json === null || !Object.hasOwn(json, name)) return undefined;
  const value = json[name as keyof typeof json] as unknown;
  return typeof value === 'string' ? value : undefined;
}

/** Returns the credential of a request, as the recording names it. */
export const credentialOf = ({ request }: RecordedExchange): string | undefined =>
  request.headers.authorization?.replace(/^Bearer /, '');

/** Returns the name that identifies the TV of a request. */
function nameOf(exchange: RecordedExchange): string | undefined {
  const { operation, request, answer } = exchange;
  if (operation === 'registerDevice') return textMember(request.json, 'pairingCode');
  return operation === 'createClaim' ? textMember(answer.json, 'token') : credentialOf(exchange);
}

/**
 * Returns the names of the secrets that an answer gave to the TV: a key, or the code of an offer.
 */
function issuedNames({ operation, status, answer }: RecordedExchange): string[] {
  const isKey =
    status === 201 && (operation === 'registerDevice' || operation === 'rotateDeviceKey');
  const isOffer = status === 200 && operation === 'getClaimStatus';
  const name = isKey || isOffer ? textMember(answer.json, isKey ? 'apiKey' : 'pairingCode') : '';
  return name ? [name] : [];
}

export const isManagement = ({ path }: RecordedExchange): boolean => /^\/v1(?:[/?]|$)/.test(path);

/**
 * Groups the exchanges by TV. A claim, a pairing code or a key identifies the TV. Rotated keys
 * belong to the same TV. Omits management requests.
 */
export function recordedTvs(exchanges: readonly RecordedExchange[]): RecordedTv[] {
  const tvs: RecordedTv[] = [];
  const byName = new Map<string, RecordedTv>();
  const tvOf = (name: string) => {
    const existing = byName.get(name);
    if (existing) return existing;
    const tv: RecordedTv = { number: tvs.length + 1, screenId: undefined, exchanges: [] };
    tvs.push(tv);
    byName.set(name, tv);
    return tv;
  };
  for (const exchange of exchanges) {
    if (isManagement(exchange)) continue;
    const tv = tvOf(nameOf(exchange) ?? 'no credential');
    tv.exchanges.push(exchange);
    for (const name of issuedNames(exchange)) byName.set(name, tv);
    if (exchange.operation === 'registerDevice')
      tv.screenId ??= textMember(exchange.answer.json, 'screenId');
  }
  return tvs;
}
