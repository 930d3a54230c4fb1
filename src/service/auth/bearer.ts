/** The token of an `Authorization: Bearer …` header (RFC 6750 §2.1), the scheme in any case; `undefined` when it is none. */
export function bearer(authorization: string): string | undefined {
  return /^bearer +([^\s]+) *$/i.exec(authorization)?.[1];
}
