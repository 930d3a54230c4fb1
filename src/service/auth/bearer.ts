/**
 * Returns the token of an `Authorization: Bearer …` header (RFC 6750 §2.1), or `undefined`. The
 * scheme is case-insensitive.
 */
export function bearerToken(authorization: string): string | undefined {
  return /^bearer +([^\s]+) *$/i.exec(authorization)?.[1];
}
