import { BatchSums } from './batch-counts.ts';
import { type CountedEvent, maxBatch, typeForm } from './event.ts';
import { guidAt, guidLength, word } from './id-cache.ts';

/** A number of more digits may not be a safe integer. */
const mostDigits = 15;

const codesOf = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0));
const [quote, comma, dot, zero, nine] = codesOf('",.09') as unknown as [
  number,
  number,
  number,
  number,
  number,
];
const [openList, closeList, openObject, closeObject] = codesOf('[]{}') as unknown as [
  number,
  number,
  number,
  number,
];
const impression = 'impression';

/** A text of 8 to 16 ASCII characters, compared as two words, which may overlap. */
function piece(text: string) {
  const codes = codesOf(text);
  const view = new DataView(codes.buffer);
  return {
    head: view.getFloat64(0, true),
    tail: view.getFloat64(codes.length - word, true),
    length: codes.length,
  };
}
type Piece = ReturnType<typeof piece>;
const typeOfImpressions = piece(`${impression}"`);

/** What may stand in an event, each once: a bit for each, to tell which did. */
const member = (bit: number, text: string) => ({ bit, text: piece(text) });
const type = member(1, '"type":"');
const timestamp = member(2, '"timestamp":');
const playlistId = member(4, '"playlistId":"');
const creativeId = member(8, '"creativeId":"');
const campaignId = member(16, '"campaignId":"');
const duration = member(32, '"duration":');
const inAll = type.bit | timestamp.bit;
const inImpressions = inAll | playlistId.bit | creativeId.bit | campaignId.bit;

/** The member that a name may be which begins with these letters. */
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
  /** The event that is being read. */
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
    const needed = event.type === impression ? inImpressions : inAll;
    return (seen & needed) === needed && this.#takes(closeObject);
  }

  /** Reads the value of a member; `false` for one that is not plain, or wrong. */
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

  #takesAll({ head, tail, length }: Piece): boolean {
    const [view, at, end] = [this.#view, this.#at, this.#at + length];
    if (
      end > this.#bytes.length ||
      view.getFloat64(at, true) !== head ||
      view.getFloat64(end - word, true) !== tail
    )
      return false;
    this.#at = end;
    return true;
  }

  /** An empty text for what is none. */
  #type(): string {
    if (this.#takesAll(typeOfImpressions)) return impression;
    const end = this.#bytes.indexOf(quote, this.#at);
    if (end < 0) return '';
    const text = this.#bytes.toString('latin1', this.#at, end);
    this.#at = end + 1;
    return typeForm.test(text) ? text : '';
  }

  /** Not negative, and without an exponent; `NaN` for all else. */
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
    const [bytes, start] = [this.#bytes, this.#at];
    let [end, value] = [start, 0];
    for (
      let code = bytes[end] as number;
      code >= zero && code <= nine;
      code = bytes[++end] as number
    )
      value = value * 10 + (code - zero);
    this.#at = end;
    return end === start || end - start > mostDigits ? Number.NaN : value;
  }

  #id(): string | null {
    const id = guidAt(this.#bytes, this.#view, this.#at);
    this.#at += guidLength;
    return this.#takes(quote) ? id : null;
  }
}

/**
 * What is looked at in a batch of events that programs write as nearly all do: JSON without white space, escapes and members of their own, each once. `undefined`
 * for all else, right or wrong, for whoever parses and checks it (`eventBatch`, which takes all that this takes). To make values of it all, to check
 * those, and to look for members that came twice takes nearly three times as long as the rest of a batch's way.
 */
export function plainBatch(bytes: Uint8Array): BatchSums | undefined {
  return new BatchReader(
    Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length),
  ).batch();
}
