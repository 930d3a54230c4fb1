import { isIP, isIPv4, isIPv6 } from 'node:net';
import { decodedAscii } from '../api/connect.ts';

/**
 * The kinds of names. `private` names a value that stands in place of a secret but has another
 * form, such as a pairing code in lower case.
 */
export type SecretKind = KeyKind | 'claim' | 'code' | 'idempotency' | 'mac' | 'ip' | 'private';
/** Prefixes of device keys, management tokens and the secrets of claims. */
type KeyKind = 'dak' | 'mak' | 'clm';

const macForm = /^(?:[0-9a-f]{2}(?::[0-9a-f]{2}){5}|[0-9a-f]{2}(?:-[0-9a-f]{2}){5})$/i;
const codeForm = /^[A-Z0-9]{8}$/;
const claimForm = /^[A-Z0-9]{6}$/;
const keyForm = /^([dm]ak|clm)_[0-9A-Za-z]+$/;
const visibleAscii = /^[\x21-\x7e]+$/;

const keys = /(?:[dm]ak|clm)_[0-9a-z]+/gi;
const macs =
  /(?<![0-9a-z])(?:[0-9a-f]{2}([:-])[0-9a-f]{2}(?:\1[0-9a-f]{2}){4}|[0-9a-f]{4}(?:\.[0-9a-f]{4}){2})(?![0-9a-z])/gi;
/**
 * Matches 12 hex digits that include a letter and a decimal digit. Skips digits next to a dash,
 * which may belong to a UUID.
 */
const bareMacs = /(?<![\w-])(?=\d*[a-f])(?=[a-f]*\d)[0-9a-f]{12}(?![\w-])/gi;
const ipv4s = /(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?!\.?\d)/g;
const colonRuns = /[0-9a-f:]+/gi;
/**
 * Matches pairing codes (docs/protocol.md §4), with or without a hyphen. Also matches UUIDs, only
 * to skip them.
 */
const uuidsAndCodes =
  /[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}|(?<![\w#])[A-HJKMNP-Z2-9]{4}-?[A-HJKMNP-Z2-9]{4}(?!\w)/g;
const uuidLength = 36;

const windowLength = 8;
/**
 * Minimum length of a secret that `inText` searches for. Default: `windowLength`. Shorter
 * idempotency keys belong to batches, and are no secrets.
 */
const minLengths: Readonly<Partial<Record<SecretKind, number>>> = { idempotency: 16 };

/**
 * Maximum number of lengths of secrets with the same first characters. Beyond it, `inText` replaces
 * as much as the longest of them may take, so that its time stays bounded.
 */
const maxLengths = 16;

const isSeparator = (code: number) =>
  !((code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122));

/** Letters and digits of a text in lower case, and the index of each in the text. */
function alphanumerics(text: string): { plain: string; indexes: number[] } {
  const indexes: number[] = [];
  for (let at = 0; at < text.length; at++) if (!isSeparator(text.charCodeAt(at))) indexes.push(at);
  return {
    plain: indexes
      .map((at) => text[at])
      .join('')
      .toLowerCase(),
    indexes,
  };
}

/** Decodes percent-encoding and escapes of JSON, also if they are nested. */
function decoded(text: string): string {
  let current = text;
  for (let round = 0; round < 4; round++) {
    const next = decodedAscii(current).replaceAll(/\\u00([0-7][0-9a-f])/gi, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
    if (next === current) break;
    current = next;
  }
  return current;
}

/**
 * Known secrets with the same first characters: their names, and their lengths in descending order.
 */
interface KnownSecrets {
  names: Map<string, string>;
  lengths: number[];
}

const noSecrets: KnownSecrets = { names: new Map(), lengths: [] };

/**
 * Replaces secrets by names that are stable within one recording: `dak_#1`, `code_#2`. Equal
 * secrets have equal names everywhere.
 */
export class SecretNames {
  readonly #names = new Map<string, string>();
  readonly #counts = new Map<SecretKind, number>();
  /** Secrets to search for, by their first letters and digits. */
  readonly #known = new Map<string, KnownSecrets>();

  /**
   * Returns the name of a secret. From now on, `inText` finds the secret everywhere, unless it is
   * too short (`minLengths`).
   */
  of(kind: SecretKind, secret: string): string {
    const { plain } = alphanumerics(secret);
    const id = `${kind} ${kind === 'ip' || plain === '' ? secret.toLowerCase() : plain}`;
    const existing = this.#names.get(id);
    if (existing !== undefined) return existing;
    const count = (this.#counts.get(kind) ?? 0) + 1;
    const name = `${kind}_#${count}`;
    this.#counts.set(kind, count);
    this.#names.set(id, name);
    if (kind === 'ip' || plain.length < (minLengths[kind] ?? windowLength)) return name;
    this.#searchFor(plain, name);
    if (['dak', 'mak', 'clm'].includes(kind)) this.#searchFor(plain.slice(kind.length), name);
    return name;
  }

  /**
   * Returns the name of a claim. `inText` does not search for claims, because a claim is as short
   * as a word.
   */
  ofClaim(secret: string): string {
    return this.of(claimForm.test(secret) ? 'claim' : 'private', secret);
  }

  /** Returns the name of a device key or a token, or of any other credential. */
  ofCredential(secret: string): string {
    return this.of((keyForm.exec(secret)?.[1] as KeyKind | undefined) ?? 'private', secret);
  }

  /** Returns the name of a value that may be a secret. */
  ofUnknown(value: string): string {
    const redacted = this.inText(value);
    return /^\w+_#\d+$/.test(redacted) ? redacted : this.of('private', value);
  }

  ofCode(secret: string): string {
    return this.of(codeForm.test(secret) ? 'code' : 'private', secret);
  }

  ofMac(secret: string): string {
    return this.of(macForm.test(secret) ? 'mac' : 'private', secret);
  }

  ofIp(secret: string): string {
    return this.of(isIP(secret) === 0 ? 'private' : 'ip', secret);
  }

  /**
   * Returns the name of an `Idempotency-Key`. `minLength` is the length of the shortest valid key.
   */
  ofIdempotencyKey(secret: string, minLength: number): string {
    const isValid = secret.length >= minLength && secret.length <= 255 && visibleAscii.test(secret);
    return this.of(isValid ? 'idempotency' : 'private', secret);
  }

  /**
   * Replaces known secrets of at least 8 letters and digits, and everything that looks like a key,
   * a code or an address. Does not find claims. Returns the text unchanged if it contains no
   * secret, otherwise the decoded text with the secrets replaced.
   */
  inText(text: string): string {
    const plain = decoded(text);
    const replaced = this.#withoutForms(this.#withoutKnown(plain));
    return replaced === plain ? text : replaced;
  }

  #searchFor(plain: string, name: string): void {
    // Dummies such as 00:00:00:00:00:00 are no secrets, and their digits also occur in ids.
    if (plain.length < windowLength || /^(.)\1*$/.test(plain)) return;
    const start = plain.slice(0, windowLength);
    const alike: KnownSecrets = this.#known.get(start) ?? { names: new Map(), lengths: [] };
    this.#known.set(start, alike);
    // The name of the valid secret replaces the name of a malformed spelling.
    if (alike.names.get(plain)?.startsWith('private') !== false) alike.names.set(plain, name);
    if (alike.lengths.includes(plain.length)) return;
    alike.lengths.push(plain.length);
    alike.lengths.sort((one, other) => other - one);
  }

  /** Returns the longest known secret at an index. `plain` contains only letters and digits. */
  #knownAt(plain: string, at: number): { name: string; length: number } | undefined {
    const start = plain.slice(at, at + windowLength);
    const { names, lengths } = this.#known.get(start) ?? noSecrets;
    const [longest = 0] = lengths;
    if (lengths.length > maxLengths)
      return {
        name: this.of('private', start),
        length: Math.min(longest, plain.length - at),
      };
    for (const length of lengths) {
      const name = names.get(plain.slice(at, at + length));
      if (name !== undefined) return { name, length };
    }
    return undefined;
  }

  /** Replaces known secrets in any case, also if they are split by other characters. */
  #withoutKnown(text: string): string {
    if (this.#known.size === 0 || text.length < windowLength) return text;
    const { plain, indexes } = alphanumerics(text);
    const parts: string[] = [];
    let keptFrom = 0;
    for (let at = 0; at + windowLength <= plain.length; at++) {
      const found = this.#knownAt(plain, at);
      if (!found) continue;
      const lastAt = at + found.length - 1;
      parts.push(text.slice(keptFrom, indexes[at]), found.name);
      keptFrom = (indexes[lastAt] ?? text.length) + 1;
      at = lastAt;
    }
    return parts.length === 0 ? text : parts.join('') + text.slice(keptFrom);
  }

  #withoutForms(text: string): string {
    return text
      .replaceAll(keys, (key) => this.of(key.slice(0, 3).toLowerCase() as KeyKind, key))
      .replaceAll(macs, (mac) => this.of('mac', mac))
      .replaceAll(bareMacs, (mac) => this.of('mac', mac))
      .replaceAll(ipv4s, (ip) => (isIPv4(ip) ? this.of('ip', ip) : ip))
      .replaceAll(colonRuns, (ip, at: number, whole: string) =>
        isIPv6(ip) && !/\w/.test(whole[at - 1] ?? '') && !/\w/.test(whole[at + ip.length] ?? '')
          ? this.of('ip', ip)
          : ip,
      )
      .replaceAll(uuidsAndCodes, (found) =>
        found.length === uuidLength ? found : this.of('code', found),
      );
  }
}
