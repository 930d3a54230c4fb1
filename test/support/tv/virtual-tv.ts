import type { EventInput, PlaylistItem } from '../../../src/client/entities.ts';
import type { Requester } from '../../../src/client/requester.ts';
import { RuntimeClient } from '../../../src/client/runtime-client.ts';
import { makeUndiciRequester } from '../../../src/client/undici-requester.ts';
import { systemClock, systemRandom } from '../../../src/domain/clock.ts';
import type { SignageError } from '../../../src/domain/error.ts';
import { Player } from '../../../src/player/assembly/player.ts';
import type { Batch } from '../../../src/player/batch.ts';
import type {
  DropReason,
  PlayerAnswer,
  PlayerPhase,
  UnpairedReason,
} from '../../../src/player/observer.ts';
import type { PlayerOptions } from '../../../src/player/options.ts';
import { ramMemory } from '../../../src/player/state.ts';
import { makeVirtualClock, type VirtualClock } from '../../../src/simulator/tv/virtual-clock.ts';

/** All notifications of a player, in order. Times are those of the TV. */
interface Told {
  events: EventInput[];
  sent: Batch[];
  acknowledged: { batch: Batch; received: number }[];
  dropped: { events: readonly EventInput[]; why: DropReason }[];
  answers: (PlayerAnswer & { sinceStartMs: number })[];
  phases: PlayerPhase[];
  shown: (PlaylistItem | undefined)[];
  failures: SignageError[];
  unpaired: UnpairedReason[];
  bound: object[];
}

interface VirtualTvOptions extends Partial<PlayerOptions> {
  url: string;
  /** Wraps the requester. */
  wire?: (send: Requester) => Requester;
  speed?: number;
  startMs?: number;
  clock?: VirtualClock;
}

/**
 * Returns a player on a virtual clock, which jumps to the next timer and stops during requests. Run
 * it with `player.run(undefined, forMs)`.
 */
export function virtualTv({
  url,
  wire = (send) => send,
  speed = Number.POSITIVE_INFINITY,
  startMs = systemClock.now(),
  clock = makeVirtualClock({ speed, startMs, wall: systemClock }),
  ...options
}: VirtualTvOptions) {
  const told: Told = {
    events: [],
    sent: [],
    acknowledged: [],
    dropped: [],
    answers: [],
    phases: [],
    shown: [],
    failures: [],
    unpaired: [],
    bound: [],
  };
  const memory = options.memory ?? ramMemory();
  const makeRequester = async (certificates: readonly string[] | undefined) =>
    wire(makeUndiciRequester(certificates));
  const player = new Player({
    client: new RuntimeClient({ url, makeRequester }),
    deviceInfo: { model: 'TV' },
    clock,
    speed,
    random: averageRandom,
    ...options,
    memory,
    observer: {
      onEvent: (event) => told.events.push(event),
      onSending: (batch) => told.sent.push(batch),
      onAcknowledged: (batch, received) => told.acknowledged.push({ batch, received }),
      onDropped: (events, why) => told.dropped.push({ events, why }),
      onAnswer: (answer) => told.answers.push({ ...answer, sinceStartMs: clock.now() - startMs }),
      onPhase: (phase) => told.phases.push(phase),
      onShow: (item) => told.shown.push(item),
      onFailure: (error) => told.failures.push(error as SignageError),
      onUnpaired: (why) => told.unpaired.push(why),
      onBound: (binding) => told.bound.push(binding),
      ...options.observer,
    },
  });
  /** Runs `work` at a time of the TV. The clock stops meanwhile. */
  const at = (sinceStartMs: number, work: () => Promise<unknown> | unknown) =>
    void clock.after(
      startMs + sinceStartMs - clock.now(),
      () => void clock.hold(async () => work()),
    );
  const minutes = (ms: number) => String(Math.round(ms / 6000) / 10);
  /** Returns the answers of an operation as `<minute> <status>`: `0 200`, `5.1 304`. */
  const pace = (operation: PlayerAnswer['operation']) =>
    told.answers
      .filter((answer) => answer.operation === operation)
      .map(({ sinceStartMs, status, code }) => `${minutes(sinceStartMs)} ${status ?? code}`);
  return { player, told, clock, memory, at, pace };
}

/** Returns the average for waits, and random bytes for keys. */
const averageRandom = (length: number) =>
  length === 2 ? Uint8Array.of(0x80, 0) : systemRandom(length);

/** A video item of so many seconds. */
export const video = (number: number, duration: number, more: object = {}) => ({
  creativeId: `00000000-0000-4000-8000-00000000000${number}`,
  creativeUrl: `https://media.example.com/${number}.mp4`,
  creativeType: 'video' as const,
  duration,
  campaignId: '00000000-0000-4000-8000-0000000000ca',
  ...more,
});
