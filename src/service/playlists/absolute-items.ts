import { TwoPartBody } from '../../domain/json/two-part-body.ts';

/** Members of items that name a file of the service, as `JSON.stringify` writes them. */
const ownMedia = /"creativeUrl":"(?=\/media\/[0-9a-f]{64}\.)/g;

/** A TV may send any `Host`, so only a few addresses are remembered. */
const maxAddresses = 4;

/** Writes items of playlists with absolute URLs of the service's own files. */
export class AbsoluteItems {
  /** By the items that all screens share, and by address. */
  readonly #known = new WeakMap<Buffer, Map<string, Buffer>>();

  of({ head, rest }: TwoPartBody, baseUrl: string): TwoPartBody {
    const byAddress = this.#known.get(rest) ?? new Map<string, Buffer>();
    this.#known.set(rest, byAddress);
    const known = byAddress.get(baseUrl);
    if (known) return new TwoPartBody(head, known);
    const items = Buffer.from(rest.toString().replaceAll(ownMedia, `"creativeUrl":"${baseUrl}`));
    if (byAddress.size >= maxAddresses) byAddress.clear();
    byAddress.set(baseUrl, items);
    return new TwoPartBody(head, items);
  }
}
