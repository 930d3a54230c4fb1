import type { EventInput } from '../../client/entities.ts';
import type { PlayerState } from '../../player/state.ts';

/** The members of a `PlayerState` besides the queue. */
export type PlayerHead = Omit<PlayerState, 'queue'>;

/** What has changed since the last save that succeeded. */
export interface StateChange {
  /** Members of the head that have changed. A member that is `undefined` was removed. */
  readonly head: Partial<PlayerHead>;
  /** Position of the oldest event in the queue. All events before it have left the queue. */
  readonly queueStart: number;
  /** New events with their positions, ascending. */
  readonly added: readonly { readonly position: number; readonly event: EventInput }[];
}
