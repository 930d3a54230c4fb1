import { SignageError } from '../domain/error.ts';
import type { EventInput } from './batch.ts';

/** An event's content, however its members are ordered. */
function content(event: object): string {
  return JSON.stringify(Object.entries(event).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** What one TV sent, and what the service said of it; in the end, whether the service kept its word. */
export class Ledger {
  /** How many of each content were promised, and how many may be there or not, because their answer was lost. */
  readonly #acknowledged = new Map<string, number>();
  readonly #unsettled = new Map<string, number>();

  acknowledged(events: readonly EventInput[]): void {
    for (const event of events) count(this.#acknowledged, content(event), 1);
  }

  unsettled(events: readonly EventInput[]): void {
    for (const event of events) count(this.#unsettled, content(event), 1);
  }

  /** Compares with what the service shows for this TV; answers what is wrong: `events_lost`, `events_unexpected`. */
  differences(stored: Iterable<object>): SignageError[] {
    const left = new Map(this.#acknowledged);
    const open = new Map(this.#unsettled);
    let unexpected = 0;
    for (const event of stored) {
      const key = content(event);
      const account = [left, open].find((one) => (one.get(key) ?? 0) > 0);
      if (account) count(account, key, -1);
      else unexpected++;
    }
    const lost = [...left.values()].reduce((sum, number) => sum + number, 0);
    const found: SignageError[] = [];
    if (lost > 0) found.push(new SignageError('events_lost', `${lost} events that the service acknowledged are not in GET /v1/events.`));
    if (unexpected > 0)
      found.push(
        new SignageError(
          'events_unexpected',
          `GET /v1/events shows ${unexpected} events that the TV did not send, or more often than it did.`,
        ),
      );
    return found;
  }
}

function count(account: Map<string, number>, key: string, by: number): void {
  account.set(key, (account.get(key) ?? 0) + by);
}
