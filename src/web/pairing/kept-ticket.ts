import { ticketIn } from '../../player/pairing/ticket-link.ts';

const itemName = 'signage-player-ticket';
const fragmentStart = '#enrol=';

/**
 * The ticket of a link (docs/protocol.md §3.7). The page keeps it until the TV is bound, because
 * the network may be missing when the link is opened.
 */
export class KeptTicket {
  readonly #storage: Storage;

  constructor(storage: Storage) {
    this.#storage = storage;
    this.take();
  }

  /**
   * Takes the ticket of the URL, and removes it there and from the history. Returns whether the URL
   * had one.
   */
  take(): boolean {
    const { hash, pathname, search } = location;
    if (!hash.startsWith(fragmentStart)) return false;
    history.replaceState(null, '', pathname + search);
    const ticket = ticketIn(hash);
    if (ticket !== undefined) this.#storage.setItem(itemName, ticket);
    return ticket !== undefined;
  }

  get secret(): string | undefined {
    return this.#storage.getItem(itemName) ?? undefined;
  }

  /** Forgets the ticket: it cannot be used any more, or this TV has a key. */
  forget(): void {
    this.#storage.removeItem(itemName);
  }
}
