/** A body in two parts. Many bodies share their second part. */
export class TwoPartBody {
  /** ASCII text. */
  readonly head: string;
  readonly rest: Buffer;

  constructor(head: string, rest: Buffer) {
    this.head = head;
    this.rest = rest;
  }

  get length(): number {
    return this.head.length + this.rest.length;
  }

  /** Returns a copy in one part. */
  joined(): Buffer {
    return Buffer.concat([Buffer.from(this.head, 'latin1'), this.rest]);
  }
}
