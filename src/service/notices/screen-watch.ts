import { minuteMs, secondMs } from '../../domain/clock.ts';
import { badConditions, isHidden, isNeverSeen } from '../../domain/conditions/condition.ts';
import { SignageError } from '../../domain/error.ts';
import type { Alarm, Watch } from '../../domain/notices/rows.ts';
import { onlineWindowMs } from '../../domain/records/online-window.ts';
import type { Screen } from '../../domain/records/rows.ts';
import type { Store } from '../../store/store.ts';
import type { ServiceDependencies } from '../context.ts';
import { reasonOf } from '../status/condition-view.ts';
import type { JudgedScreen } from '../status/judged-screens.ts';
import { readAlarms, storeDecisions, type WatchedScreen } from './alarm-notices.ts';
import { AlarmRules } from './alarm-rules.ts';
import type { NoticeFigures } from './notice-figures.ts';
import { putScreenNotice } from './outbox.ts';

/** Time after its last look for which an instance stays the one that watches. */
const leaseMs = 22 * secondMs;
/** Age at which a look in progress renews the lease. */
const renewMs = 5 * secondMs;
/** After a longer pause between two looks, the service may not have heard TVs meanwhile. */
const maxPauseMs = minuteMs;
/** Number of ends that one transaction tells. */
const endsPerWrite = 1000;
const watchId = 'watch';

type WatchDependencies = Pick<ServiceDependencies, 'clock' | 'newId'> & { store: Store };

interface EndedPlaylist {
  screen: Screen;
  version: number;
}

const isHeld = ({ holder, lookedAt }: Watch, nowMs: number) =>
  holder !== '' && Math.abs(nowMs - lookedAt) < leaseMs;

/** Returns what the rules have to know about a screen. `undefined`: no TV is paired. */
function watched({ screen, device, judged }: JudgedScreen): WatchedScreen | undefined {
  const { activity, config, judgement } = judged;
  if (!device || !activity) return undefined;
  const { condition, since } = judgement;
  const { id: deviceId, createdAt } = device;
  const isBad = badConditions.includes(condition);
  return {
    screenId: screen.id,
    venueId: screen.venueId,
    deviceId,
    condition,
    isBad,
    hasSaidSo: activity.stoppedAt != null || isHidden(activity),
    hasCalled: !isNeverSeen({ createdAt, activity }),
    lastSeenAt: activity.lastSeenAt ?? createdAt,
    windowMs: onlineWindowMs(config),
    goneMs: (Math.max(config.syncIntervalMinutes, config.heartbeatIntervalMinutes) + 1) * minuteMs,
    since,
    reason: isBad ? (reasonOf(judged)?.text ?? null) : null,
  };
}

/**
 * Watches the conditions of all screens, and puts notices into the outbox. One instance watches:
 * it holds a lease, a row that it renews with each look. The row also says since when TVs could be
 * heard, so it is right after a restart, an outage of the store, and on another instance.
 */
export class ScreenWatch {
  readonly #deps: WatchDependencies;
  readonly #judgeAll: () => AsyncIterable<JudgedScreen>;
  readonly #figures: NoticeFigures;
  /** Names this instance in the lease. */
  readonly #holder: string;
  readonly #rules = new AlarmRules<WatchedScreen>();
  /** The stored alarms. `undefined`: unknown. */
  #alarms: Map<string, Alarm> | undefined;
  #hasJudged = false;

  constructor(
    deps: WatchDependencies,
    judgeAll: () => AsyncIterable<JudgedScreen>,
    figures: NoticeFigures,
  ) {
    this.#deps = deps;
    this.#judgeAll = judgeAll;
    this.#figures = figures;
    this.#holder = deps.newId();
  }

  /**
   * Renews the lease, and judges all screens every second time. Does nothing while another
   * instance watches. Returns whether this one does.
   */
  async look(): Promise<boolean> {
    const watch = await this.#takeLease();
    const isTurn = watch !== undefined && !this.#hasJudged;
    if (isTurn) await this.#lookAtScreens(watch);
    this.#hasJudged = isTurn;
    if (!watch) this.#figures.stopWatching();
    return watch !== undefined;
  }

  /** Lets another instance watch at once. */
  async release(): Promise<void> {
    await this.#deps.store.write(async (tx) => {
      const watch = await tx.get('watches', watchId);
      if (watch?.holder === this.#holder) await tx.put('watches', { ...watch, holder: '' });
    });
  }

  /**
   * Takes or renews the lease. Returns `undefined` if another instance holds it. A look at many
   * screens may take longer than the lease, so it renews the lease, too.
   */
  async #takeLease(): Promise<Watch | undefined> {
    const { store, clock } = this.#deps;
    const holder = this.#holder;
    const known = await store.read.get('watches', watchId);
    if (known && known.holder !== holder && isHeld(known, clock.now())) return undefined;
    return store.write(async (tx) => {
      const before = await tx.get('watches', watchId);
      if (before && before.holder !== holder && isHeld(before, tx.now)) return undefined;
      if (before?.holder !== holder) this.#alarms = undefined;
      const isPause = !before || Math.abs(tx.now - before.lookedAt) > maxPauseMs;
      const watch: Watch = {
        id: watchId,
        holder,
        lookedAt: tx.now,
        hearingSince: isPause ? tx.now : before.hearingSince,
        endsToldUntil: Math.min(before?.endsToldUntil ?? tx.now, tx.now),
      };
      await tx.put('watches', watch);
      return watch;
    });
  }

  async #lookAtScreens(watch: Watch): Promise<void> {
    const { store, clock } = this.#deps;
    const known = this.#alarms ?? (await readAlarms(store));
    // An interrupted change may have been stored.
    this.#alarms = undefined;
    const ended: EndedPlaylist[] = [];
    const times = { nowMs: clock.now(), hearingSince: watch.hearingSince };
    const decisions = await this.#rules.decide(this.#seenScreens(watch, ended), known, times);
    await this.#tellEnds(ended, watch.lookedAt);
    await storeDecisions(this.#deps, decisions, known);
    this.#alarms = known;
    const all = [...known.values()];
    const screen = all.filter(({ screenId }) => screenId !== null).length;
    this.#figures.openAlarms = { screen, venue: all.length - screen };
  }

  /** Yields what the rules see, and adds the playlists that have ended since the last look. */
  async *#seenScreens(
    { lookedAt, endsToldUntil }: Watch,
    ended: EndedPlaylist[],
  ): AsyncGenerator<WatchedScreen> {
    let renewedMs = lookedAt;
    for await (const one of this.#judgeAll()) {
      const nowMs = this.#deps.clock.now();
      if (Math.abs(nowMs - renewedMs) > renewMs) {
        if (!(await this.#takeLease()))
          throw new SignageError('unavailable', 'Another instance watches the screens now.');
        renewedMs = nowMs;
      }
      const { screen, playlist } = one;
      const endMs = playlist?.state === 'active' ? (playlist.validUntil ?? 0) : 0;
      if (playlist && endMs > endsToldUntil && endMs <= lookedAt)
        ended.push({ screen, version: playlist.version });
      const seen = watched(one);
      if (seen) yield seen;
    }
  }

  /** Tells the ends of playlists whose time is over. */
  async #tellEnds(ended: readonly EndedPlaylist[], untilMs: number): Promise<void> {
    const deps = this.#deps;
    for (let from = 0; from < ended.length; from += endsPerWrite)
      await deps.store.write(async (tx) => {
        const watch = await tx.get('watches', watchId);
        for (const { screen, version } of ended.slice(from, from + endsPerWrite)) {
          const row = await tx.get('playlists', screen.id);
          const isSame = row?.version === version && row.state === 'active';
          const isUntold = watch !== undefined && Number(row?.validUntil) > watch.endsToldUntil;
          // The end of an on-demand playlist is no end: the source renews it.
          if (!isSame || !isUntold || row.origin !== 'published') continue;
          const data = { version, reason: 'expired' };
          await putScreenNotice(deps, tx, 'playlist.ended', screen, data);
        }
        if (watch && from + endsPerWrite >= ended.length)
          await tx.put('watches', { ...watch, endsToldUntil: untilMs });
      });
  }
}
