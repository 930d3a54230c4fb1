import type { Random } from '../../domain/clock.ts';
import { makeCode } from '../../domain/records/pairing-code.ts';

const names = /\b(dak|mak|clm|claim|code|idempotency|mac|ip)_#(\d+)/g;
const uuids = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi;
const entityTags = /(?:W\/)?"[^"]*"/g;

/** Has the form of a device key, but a wrong checksum (docs/protocol.md §3.3). */
export const unknownKey = `dak_${'0'.repeat(49)}`;
const hexDigits = (value: number) => (value % 256).toString(16).padStart(2, '0').toUpperCase();

/** The values that one replayed TV sends in place of recorded names, ids, ETags and cursors. */
export class RealValues {
  readonly #values = new Map<string, string>();
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  /** From now on, replaces `recorded` by `real`. Ignores values that are not strings. */
  set(recorded: unknown, real: unknown): void {
    if (typeof recorded === 'string' && typeof real === 'string') this.#values.set(recorded, real);
  }

  /** Returns the current value of a cursor, or the recorded one. */
  cursor(recorded: string): string {
    return this.#values.get(recorded) ?? recorded;
  }

  entityTags(header: string): string {
    return header.replaceAll(entityTags, (tag) => this.#values.get(tag) ?? tag);
  }

  /** Replaces names and ids in a text. Names of kind `private` stay, because they are invalid. */
  text(text: string): string {
    return text
      .replaceAll(names, (name, kind: string, count: string) => {
        const real = this.#values.get(name) ?? this.#madeUp(kind, Number(count));
        this.#values.set(name, real);
        return real;
      })
      .replaceAll(uuids, (id) => this.#values.get(id.toLowerCase()) ?? id);
  }

  json(value: unknown): unknown {
    if (typeof value === 'string') return this.text(value);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map((one) => this.json(one));
    return Object.fromEntries(
      Object.entries(value).map(([name, one]) => [this.text(name), this.json(one)]),
    );
  }

  /**
   * Returns a value that has the form of this kind. Keys have a wrong checksum. IP addresses are
   * reserved for documentation (RFC 5737).
   */
  #madeUp(kind: string, count: number): string {
    switch (kind) {
      case 'code':
        return makeCode(this.#random);
      case 'claim':
        return 'ZZZZZZ';
      case 'idempotency':
        return crypto.randomUUID();
      case 'mac':
        return `02:00:5E:10:${hexDigits(count >> 8)}:${hexDigits(count)}`;
      case 'ip':
        return `192.0.2.${1 + (count % 254)}`;
      default:
        return unknownKey;
    }
  }
}
