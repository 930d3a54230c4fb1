import type { CapturedExchange } from './captured-exchange.ts';

/** Returns a member of a body if it is a text. */
export function textMember(json: unknown, name: string): string | undefined {
  if (typeof json !== 'object' || json === null || !Object.hasOwn(json, name)) return undefined;
  const value = json[name as keyof typeof json] as unknown;
  return typeof value === 'string' ? value : undefined;
}

/** An exchange whose bodies were parsed as far as they are JSON. */
export interface ParsedExchange extends CapturedExchange {
  operationId: string | undefined;
  requestJson: unknown;
  answerJson: unknown;
}

/** Returns the secret that identifies the TV of a request. */
function secretOf({ operationId, request, requestJson, answerJson }: ParsedExchange) {
  if (operationId === 'registerDevice') return textMember(requestJson, 'pairingCode');
  if (operationId === 'createClaim') return textMember(answerJson, 'token');
  return request.headers.authorization;
}

/** Returns the secret that an answer gave to the TV: a key, or the code of an offer. */
function issuedSecret({ operationId, status, answerJson }: ParsedExchange): string | undefined {
  if (operationId === 'getClaimStatus' && status === 200)
    return textMember(answerJson, 'pairingCode');
  const isKey = operationId === 'registerDevice' || operationId === 'rotateDeviceKey';
  const key = isKey && status === 201 ? textMember(answerJson, 'apiKey') : undefined;
  return key === undefined ? undefined : `Bearer ${key}`;
}

/**
 * Numbers the TVs in the order of their first requests. A claim, a pairing code or a key identifies
 * a TV; rotated keys belong to the same TV. Keeps the secrets in memory.
 */
export class TvNumbers {
  readonly #bySecret = new Map<string, number>();
  #count = 0;

  /** Returns the number of the TV of an exchange. `null` for requests to the management API. */
  of(exchange: ParsedExchange): number | null {
    if (/^\/v1(?:[/?]|$)/.test(exchange.path)) return null;
    const secret = secretOf(exchange) ?? '';
    const known = this.#bySecret.get(secret);
    const number = known ?? ++this.#count;
    this.#bySecret.set(secret, number);
    const issued = issuedSecret(exchange);
    if (issued !== undefined) this.#bySecret.set(issued, number);
    return number;
  }
}
