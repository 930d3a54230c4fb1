import { SignageError } from '../../domain/error.ts';
import type { EventInput, Item } from '../../simulator/player/batch.ts';
import type {
  DropReason,
  PlayerAnswer,
  PlayerObserver,
  PlayerPhase,
  UnpairedReason,
} from '../../simulator/player/observer.ts';
import type { PlayerEnd } from '../../simulator/player/options.ts';

/** The kinds of log entries. Their members are the JSON of `-o ndjson`. */
type What =
  | { what: 'phase'; phase: PlayerPhase }
  | { what: 'bound'; deviceId: string; screenId: string; tenantId: string }
  | { what: 'rotated' }
  | { what: 'fallBack'; code: string }
  | { what: 'unpaired'; why: UnpairedReason; code: string | undefined }
  | { what: 'show'; item: Item | null }
  | { what: 'event'; event: EventInput }
  | { what: 'sending'; events: number; idempotencyKey: string }
  | { what: 'acknowledged'; events: number; received: number; idempotencyKey: string }
  | { what: 'dropped'; events: readonly EventInput[]; why: DropReason }
  | ({ what: 'answer' } & Omit<PlayerAnswer, 'atMs'>)
  | { what: 'failure'; code: string; message: string; error: unknown }
  | { what: 'end'; reason: PlayerEnd['reason'] };

/** A log entry with its time, by the clock of the TV. */
export type TvLogEntry = What & { atMs: number };

/** Makes a player observer that turns each callback into a log entry. */
export function observe(
  now: () => number,
  log: (entry: TvLogEntry) => void,
): Required<PlayerObserver> {
  const add = (what: What) => log({ ...what, atMs: now() });
  return {
    onEvent: (event) => add({ what: 'event', event }),
    onSending: ({ events, idempotencyKey }) =>
      add({ what: 'sending', events: events.length, idempotencyKey }),
    onAcknowledged: ({ events, idempotencyKey }, received) =>
      add({ what: 'acknowledged', events: events.length, received, idempotencyKey }),
    onDropped: (events, why) => add({ what: 'dropped', events, why }),
    onAnswer: ({ atMs: _, ...answer }) => add({ what: 'answer', ...answer }),
    onPhase: (phase) => add({ what: 'phase', phase }),
    onShow: (item) => add({ what: 'show', item: item ?? null }),
    onBound: (binding) => add({ what: 'bound', ...binding }),
    onRotated: () => add({ what: 'rotated' }),
    onFallBack: ({ code }) => add({ what: 'fallBack', code }),
    onUnpaired: (why, error) => add({ what: 'unpaired', why, code: error?.code }),
    onFailure: (error) => {
      const code = error instanceof SignageError ? error.code : 'unexpected';
      add({
        what: 'failure',
        code,
        message: error instanceof Error ? error.message : String(error),
        error,
      });
    },
  };
}
