import { BatchSums } from './batch-counts.ts';
import { type CountedEvent, maxBatch, typeForm } from './event.ts';
import { guidAt, guidLength, word } from './id-cache.ts';

/** More digits may exceed the safe integers. */
const maxDigits = 15;

const codesOf = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0));
const quote = 0x22;
const comma = 0x2c;
const dot = 0x2e;
const zero = 0x30;
const nine = 0x39;
const openList = 0x5b;
const closeList = 0x5d;
const openObject = 0x7b;
const closeObject = 0x7d;
const impression = 'impression';

/** A text of 8 to 16 ASCII characters, compared as two words that may overlap. */
function wordPair(text: string) {
  const codes = codesOf(text);
  const view = new DataView(codes.buffer);
  return {
    head: view.getFloat64(0, true),
    tail: view.getFloat64(codes.length - word, true),
    length: codes.length,
  };
}
type WordPair = ReturnType<typeof wordPair>;
const typeOfImpressions = wordPair(`${impression}"`);

/** The members of a plain event. Each has a bit, to detect duplicates and missing members. */
const member = (bit: number, text: string) => ({ bit, text: wordPair(text) });
const type = member(1, '"type":"');
const timestamp = member(2, '"timestamp":');
const playlistId = member(4, '"playlistId":"');
const creativeId = member(8, '"creativeId":"');
const campaignId = member(16, '"campaignId":"');
const duration = member(32, '"duration":');
const requiredMembers = type.bit | timestamp.bit;
const requiredImpressionMembers =
  requiredMembers | playlistId.bit | creativeId.bit | campaignId.bit;

/** Returns the only member whose name can begin with these letters. */
function memberAt(first: number | undefined, second: number | undefined) {
  switch (first) {
    case 0x74: // t
      return second === 0x79 ? type : timestamp;
    case 0x63: // c
      return second === 0x72 ? creativeId : campaignId;
    case 0x70: // p
      return playlistId;
    default:
      return duration;
  }
}

type PlainEvent = Required<CountedEvent>;

class BatchReader {
  readonly #bytes: Buffer;
  readonly #view: DataView;
  /** The event being parsed, reused for all events. */
  readonly #event: PlainEvent = {
    type: '',
    timestamp: 0,
    campaignId: null,
    creativeId: null,
    duration: null,
  };
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  batch(): BatchSums | undefined {
    if (!this.#takes(openList)) return undefined;
    const sums = new BatchSums();
    do {
      if (!this.#readEvent() || sums.length === maxBatch) return undefined;
      sums.add(this.#event);
    } while (this.#takes(comma));
    return this.#takes(closeList) && this.#at === this.#bytes.length ? sums : undefined;
  }

  #readEvent(): boolean {
    if (!this.#takes(openObject)) return false;
    const event = this.#event;
    event.campaignId = null;
    event.creativeId = null;
    event.duration = null;
    let seen = 0;
    do {
      const { bit, text } = memberAt(this.#bytes[this.#at + 1], this.#bytes[this.#at + 2]);
      if ((seen & bit) !== 0 || !this.#takesAll(text) || !this.#value(bit, event)) return false;
      seen |= bit;
    } while (this.#takes(comma));
    const required = event.type === impression ? requiredImpressionMembers : requiredMembers;
    return (seen & required) === required && this.#takes(closeObject);
  }

  /** Reads the value of a member. Returns `false` if it is not plain, or invalid. */
  #value(bit: number, event: PlainEvent): boolean {
    switch (bit) {
      case type.bit:
        event.type = this.#type();
        return event.type !== '';
      case timestamp.bit:
        event.timestamp = this.#number();
        return Number.isSafeInteger(event.timestamp);
      case duration.bit:
        event.duration = this.#number();
        return !Number.isNaN(event.duration);
      case campaignId.bit:
        event.campaignId = this.#id();
        return event.campaignId !== null;
      case creativeId.bit:
        event.creativeId = this.#id();
        return event.creativeId !== null;
      default:
        return this.#id() !== null;
    }
  }

  #takes(code: number): boolean {
    if (this.#bytes[this.#at] !== code) return false;
    this.#at++;
    return true;
  }

  #takesAll({ head, tail, length }: WordPair): boolean {
    const view = this.#view;
    const at = this.#at;
    const end = at + length;
    if (
      end > this.#bytes.length ||
      view.getFloat64(at, true) !== head ||
      view.getFloat64(end - word, true) !== tail
    )
      return false;
    this.#at = end;
    return true;
  }

  /** Reads an event type. Returns an empty string if it is invalid. */
  #type(): string {
    if (this.#takesAll(typeOfImpressions)) return impression;
    const end = this.#bytes.indexOf(quote, this.#at);
    if (end < 0) return '';
    const text = this.#bytes.toString('latin1', this.#at, end);
    this.#at = end + 1;
    return typeForm.test(text) ? text : '';
  }

  /** Reads a non-negative number without an exponent. Returns `NaN` for anything else. */
  #number(): number {
    const start = this.#at;
    const value = this.#digits();
    if (Number.isNaN(value) || (this.#at - start > 1 && this.#bytes[start] === zero))
      return Number.NaN;
    if (!this.#takes(dot)) return value;
    return Number.isNaN(this.#digits())
      ? Number.NaN
      : Number(this.#bytes.toString('latin1', start, this.#at));
  }

  #digits(): number {
    const bytes = this.#bytes;
    const start = this.#at;
    let end = start;
    let value = 0;
    for (
      let code = bytes[end] as number;
      code >= zero && code <= nine;
      code = bytes[++end] as number
    )
      value = value * 10 + (code - zero);
    this.#at = end;
    return end === start || end - start > maxDigits ? Number.NaN : value;
  }

  #id(): string | null {
    const id = guidAt(this.#bytes, this.#view, this.#at);
    this.#at += guidLength;
    return this.#takes(quote) ? id : null;
  }
}

/**
 * Parses and sums a batch of events in the form that nearly all programs write: JSON without white
 * space, escapes, unknown members or duplicates. Returns `undefined` for anything else, valid or
 * not. The caller then parses and validates it with `eventBatch`, which accepts everything that
 * this accepts. Parsing to objects, validating and checking for duplicates takes nearly three times
 * as long as the rest of handling a batch.
 */
export function plainBatch(bytes: Uint8Array): BatchSums | undefined {
  return new BatchReader(
    Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length),
  ).batch();
}
