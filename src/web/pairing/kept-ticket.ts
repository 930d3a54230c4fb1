import { ticketIn } from '../../player/pairing/ticket-link.ts';

const itemName = 'signage-player-ticket';
const fragmentStart = '#enrol=';

/**
 * The ticket of a link (docs/protocol.md §3.7). The page keeps it until the TV is bound, because
 * the network may be missing when the link is opened.
 */
export class KeptTicket {
  readonly #storage: Storage;
  #secret: string | undefined;

  constructor(storage: Storage) {
    this.#storage = storage;
    this.#secret = storage.getItem(itemName) ?? undefined;
    this.take();
  }

  /**
   * Takes the ticket of the URL, and removes it there and from the history. Returns whether the URL
   * had one that this TV may use. A bound TV keeps none, or it would use it after its revocation.
   */
  take(isBound = false): boolean {
    const { hash, pathname, search } = location;
    if (!hash.startsWith(fragmentStart)) return false;
    history.replaceState(null, '', pathname + search);
    const ticket = ticketIn(hash);
    if (ticket === undefined || isBound) return false;
    this.#secret = ticket;
    try {
      this.#storage.setItem(itemName, ticket);
    } catch {
      // A full storage only means that a reload before the binding loses the ticket.
    }
    return true;
  }

  get secret(): string | undefined {
    return this.#secret;
  }

  /** Forgets the ticket: it cannot be used any more, or this TV has a key. */
  forget(): void {
    this.#secret = undefined;
    this.#storage.removeItem(itemName);
  }
}
