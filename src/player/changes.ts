import type { DatedChanges } from '../client/device-client.ts';
import type { DeviceChanges } from '../client/entities.ts';
import { dayMs, hourMs, secondMs } from '../domain/clock.ts';
import { SignageError } from '../domain/error.ts';
import { retryDelayMs, withJitter } from './backoff.ts';
import { callWithKey, type PlayerCall } from './call.ts';
import type { PlayerCore } from './core.ts';
import { hideIdentity, identify } from './identify.ts';

/** Wait of the first hold. Every service allows it, and most proxies (docs/protocol.md §2.9). */
const firstWaitSeconds = 50;
/**
 * Default of `maxWaitSeconds`. A NAT that drops connections silently delays a change by the whole
 * wait.
 */
const defaultMaxWaitSeconds = 120;
/**
 * Minimum wait after holds without an answer. The network may be down, and a fleet that asks more
 * often would load the service afterwards.
 */
const minSilentWaitSeconds = 25;
/** Minimum time between two requests with an unchanged cursor. */
const minIntervalMs = 5 * secondMs;
/** Minimum time between two requests with a changed cursor. */
const minChangedIntervalMs = secondMs;
/**
 * An unchanged answer within this share of the requested time was not held in full. The service
 * holds a request for at least 80 % of this time. `minIntervalMs` alone is no criterion, because
 * the requested time may be shorter.
 */
const earlyShare = 0.5;
/** Number of early ends in a row after which the TV pauses for one sync interval. */
const maxEarlyEnds = 3;
/** Wait of the next hold, as a share of the time after which a proxy cut a hold off. */
const shorterShare = 0.8;
/** Time after a cut before the TV tries longer holds again. The cut may have been an accident. */
const shorterForMs = hourMs;
/** Statuses of a service that does not know the endpoint. */
const unsupportedStatuses: readonly unknown[] = [404, 405, 501];
/** Statuses after which a hold counts as cut off by a proxy. */
const cutStatuses: readonly unknown[] = [undefined, 408, 502, 504];

/** How far the `Date` of an answer may be behind. */
const maxLagMs = 5 * secondMs;

const changesCall: PlayerCall<DatedChanges> = {
  operation: 'getDeviceChanges',
  statusOf: () => 200,
};

/**
 * Returns whether the TV must fetch its playlist, because the service would give it another
 * playlist.
 */
function isOtherPlaylist({ state }: PlayerCore, playlist: DeviceChanges['playlist']): boolean {
  return playlist ? playlist.etag !== state.playlist?.etag : state.playlist !== undefined;
}

/** Long-polls for changes. Makes a fetch due when an answer names new content. */
class ChangesWatch {
  readonly #core: PlayerCore;
  #cursor: string | undefined;
  #waitSeconds = firstWaitSeconds;
  #maxWaitSeconds: number;
  #shortenedAtMs = 0;
  #earlyEnds = 0;
  /** How far the clock of the TV is ahead of the service, by the last answer that came at once. */
  #aheadMs: number | undefined;
  /** `reloadId` of the last answer. `null`: it had none. `undefined`: there was no answer yet. */
  #reloadId: string | null | undefined;
  /** Errors in a row, not counting cut holds. */
  #failures = 0;

  constructor(core: PlayerCore) {
    this.#core = core;
    this.#maxWaitSeconds = core.options.maxWaitSeconds ?? defaultMaxWaitSeconds;
  }

  async run(): Promise<void> {
    const core = this.#core;
    const isLive = () => core.isLive;
    // Waits for the first fetches, because an answer is compared with the fetched content.
    while (core.isLive && !(core.answers.getDeviceConfig && core.answers.getPlaylist))
      await core.changesNotifier.wait();
    while (core.isLive) await core.changesNotifier.waitFor(core.clock, await this.#ask(), isLive);
    hideIdentity(core);
  }

  /** Sends one request for changes. Returns the delay until the next request. */
  async #ask(): Promise<number> {
    const { clock } = this.#core;
    const startedAtMs = clock.now();
    const tookMs = () => Math.max(0, clock.now() - startedAtMs);
    try {
      const changes = await this.#fetch();
      return this.#handle(changes, tookMs());
    } catch (error) {
      if (!(error instanceof SignageError)) this.#core.fail(error);
      return this.#delayAfter(error, tookMs());
    }
  }

  /** Sends the request. Ends the hold when the TV stops or loses its key. */
  async #fetch(): Promise<DatedChanges> {
    const core = this.#core;
    const ending = new AbortController();
    const end = () => ending.abort();
    const after = this.#cursor;
    const waitSeconds = after === undefined ? undefined : this.#waitSeconds;
    const asked = callWithKey(core, changesCall, (client, id, signal) => {
      signal.addEventListener('abort', end, { once: true });
      return client.fetchChanges(id, { after, waitSeconds, signal: ending.signal });
    });
    await core.changesNotifier.waitForWork(asked, () => core.isLive);
    end();
    return asked;
  }

  #handle(changes: DatedChanges, tookMs: number): number {
    this.#failures = 0;
    const lagMs = this.#lagMs(changes, tookMs);
    const isOld = Math.abs(lagMs) > maxLagMs;
    // An old answer says nothing of now. What it names is fetched all the same, as it is now.
    if (isOld) this.#cursor = undefined;
    else this.#obey(changes, Math.max(0, lagMs));
    const { playlist, config } = changes;
    const cursor = isOld ? undefined : changes.cursor;
    if (!isOld && cursor === this.#cursor) {
      // Such an early answer means that an intermediary answers in place of the service, or ends
      // holds.
      const isEarly = tookMs < earlyShare * this.#waitSeconds * secondMs;
      if (isEarly && tookMs < minIntervalMs) return this.#delayAfterEarlyEnd(tookMs);
      this.#earlyEnds = 0;
      if (!isEarly) this.#lengthen();
      return minIntervalMs - tookMs;
    }
    this.#earlyEnds = 0;
    this.#cursor = cursor;
    if (isOtherPlaylist(this.#core, playlist)) this.#core.makeDue('getPlaylist');
    if (config.etag !== this.#core.state.configTag) this.#core.makeDue('getDeviceConfig');
    return minChangedIntervalMs - tookMs;
  }

  /**
   * Returns how far the `Date` of a held answer is behind. A lost connection may deliver an old
   * answer when it comes back. A clock that was set gives a difference, too.
   */
  #lagMs({ answeredAtMs }: DatedChanges, tookMs: number): number {
    if (answeredAtMs === undefined) return 0;
    const aheadMs = this.#core.clock.now() - answeredAtMs;
    if (tookMs <= maxLagMs) this.#aheadMs = aheadMs;
    return aheadMs - (this.#aheadMs ?? aheadMs);
  }

  /** Does what an answer says of now. */
  #obey(changes: DatedChanges, lagMs: number): void {
    const { clock, observer } = this.#core;
    identify(this.#core, changes, (changes.answeredAtMs ?? clock.now()) + lagMs);
    const { reloadId = null } = changes;
    const isNew = this.#reloadId !== undefined && reloadId !== this.#reloadId;
    // An answer without it comes after its end, and an older one does not come back.
    if (reloadId !== null || this.#reloadId === undefined) this.#reloadId = reloadId;
    if (isNew && reloadId !== null)
      clock.after(this.#spreadMs(), () => this.#core.isLive && observer.onReload?.(reloadId));
  }

  /** Doubles the wait after a hold that nothing has cut. */
  #lengthen(): void {
    if (Math.abs(this.#core.clock.now() - this.#shortenedAtMs) > shorterForMs)
      this.#waitSeconds = Math.min(2 * this.#waitSeconds, this.#maxWaitSeconds);
  }

  #delayAfter(error: unknown, tookMs: number): number {
    const status = error instanceof SignageError ? error.status : undefined;
    if (unsupportedStatuses.includes(status)) return withJitter(this.#core, dayMs);
    if (cutStatuses.includes(status)) return this.#delayAfterCut(tookMs);
    if (status === 400 && this.#waitSeconds > firstWaitSeconds) {
      this.#maxWaitSeconds = firstWaitSeconds;
      this.#waitSeconds = firstWaitSeconds;
      return minIntervalMs - tookMs;
    }
    this.#failures++;
    const delayMs = retryDelayMs(this.#core, error, this.#failures);
    return Math.max(minIntervalMs - tookMs, delayMs);
  }

  #delayAfterCut(tookMs: number): number {
    if (tookMs < minIntervalMs || this.#cursor === undefined)
      return this.#delayAfterEarlyEnd(tookMs);
    this.#earlyEnds = 0;
    const tookSeconds = tookMs / secondMs;
    // An answer that is late was lost. How long the connection worked is unknown.
    const seconds =
      tookSeconds > this.#waitSeconds
        ? Math.max(this.#waitSeconds / 2, minSilentWaitSeconds)
        : shorterShare * tookSeconds;
    this.#waitSeconds = Math.min(this.#waitSeconds, Math.floor(seconds));
    this.#shortenedAtMs = this.#core.clock.now();
    return this.#spreadMs();
  }

  #delayAfterEarlyEnd(tookMs: number): number {
    this.#earlyEnds++;
    if (this.#earlyEnds < maxEarlyEnds) return minIntervalMs - tookMs + this.#spreadMs();
    this.#earlyEnds = 0;
    return withJitter(this.#core, this.#core.intervalMs('syncIntervalMinutes'));
  }

  /** Spreads the requests of a fleet whose holds ended at the same moment. */
  #spreadMs(): number {
    return this.#core.randomFraction() * minIntervalMs;
  }
}

/**
 * Long polling: keeps a request for changes open while the TV lives, to learn of changes at once
 * (docs/protocol.md §2.9). The periodic fetches continue. So if a service or proxy prevents holds,
 * changes only arrive later. Does nothing if the speed is not 1, because a held request would stop
 * a virtual clock.
 */
export async function watchChanges(core: PlayerCore): Promise<void> {
  if ((core.options.speed ?? 1) === 1) await new ChangesWatch(core).run();
}
