import { iso, isoOrNull, minuteMs, secondMs } from '../../domain/clock.ts';
import { badConditions, isNeverSeen } from '../../domain/conditions/condition.ts';
import type { Alarm, Watch } from '../../domain/notices/rows.ts';
import { onlineWindowMs } from '../../domain/records/online-window.ts';
import type { Screen } from '../../domain/records/rows.ts';
import type { Store, Tx } from '../../store/store.ts';
import type { ServiceDependencies } from '../context.ts';
import { reasonOf } from '../status/condition-view.ts';
import type { JudgedScreen } from '../status/screen-status.ts';
import { type AlarmDecision, AlarmRules, type SeenScreen } from './alarm-rules.ts';
import type { NoticeFigures } from './notice-figures.ts';
import { putNotice, putScreenNotice } from './outbox.ts';

/** Time after its last look for which an instance stays the one that watches. */
const leaseMs = 22 * secondMs;
/** After a longer pause between two looks, the service may not have heard TVs meanwhile. */
const maxPauseMs = minuteMs;
/** Number of decisions that one transaction stores. */
const decisionsPerWrite = 200;
const endsPerWrite = 1000;
const watchId = 'watch';

interface WatchedScreen extends SeenScreen {
  screen: Screen;
  since: number | null;
  /** Why the condition is bad. */
  reason: string | null;
}

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
    isStopped: activity.stoppedAt != null,
    hasCalled: !isNeverSeen({ createdAt, activity }),
    lastSeenAt: activity.lastSeenAt ?? createdAt,
    windowMs: onlineWindowMs(config),
    goneMs: (Math.max(config.syncIntervalMinutes, config.heartbeatIntervalMinutes) + 1) * minuteMs,
    screen,
    since,
    reason: isBad ? (reasonOf(judged)?.text ?? null) : null,
  };
}

/**
 * Watches the conditions of all screens, and puts notices into the outbox. One instance watches:
 * it holds a lease, a row that it renews with each look. The row also says since when TVs could be
 * heard, so it is right after a restart, an outage of the store, and on another instance.
 */
export function makeScreenWatch(
  { store, clock, newId }: Pick<ServiceDependencies, 'clock' | 'newId'> & { store: Store },
  judgeAll: () => AsyncIterable<readonly JudgedScreen[]>,
  figures: NoticeFigures,
) {
  const holder = newId();
  const rules = new AlarmRules<WatchedScreen>();
  /** The stored alarms. `undefined`: unknown. */
  let alarms: Map<string, Alarm> | undefined;
  let hasJudged = false;

  /** Takes or renews the lease. Returns `undefined` if another instance holds it. */
  async function takeLease(): Promise<Watch | undefined> {
    const known = await store.read.get('watches', watchId);
    if (known && known.holder !== holder && isHeld(known, clock.now())) return undefined;
    return store.write(async (tx) => {
      const before = await tx.get('watches', watchId);
      if (before && before.holder !== holder && isHeld(before, tx.now)) return undefined;
      if (before?.holder !== holder) alarms = undefined;
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

  async function readAlarms(): Promise<Map<string, Alarm>> {
    const found = new Map<string, Alarm>();
    for (let after: string | null | undefined; after !== null; ) {
      const { items, next } = await store.list('alarms', {
        limit: decisionsPerWrite,
        ...(after !== undefined && { after }),
      });
      for (const alarm of items) found.set(alarm.id, alarm);
      after = next;
    }
    return found;
  }

  /** Tells a bad condition, unless another instance has told it or the TV is gone. */
  async function raise(tx: Tx, seen: WatchedScreen, isDark: boolean) {
    const { screenId, deviceId, condition, since, reason } = seen;
    const [screen, known] = await Promise.all([
      tx.get('screens', screenId),
      tx.get('alarms', screenId),
    ]);
    const isKnown = known?.deviceId === deviceId && known.isDark === isDark;
    if (isKnown || screen?.deviceId !== deviceId) return known;
    const { tenantId, venueId } = screen;
    const place = { id: screenId, tenantId, venueId, screenId, deviceId };
    const alarm: Alarm = { ...place, isDark, since: known?.since ?? since };
    await tx.put('alarms', alarm);
    await putScreenNotice({ newId }, tx, isDark ? 'screen.dark' : 'screen.failing', screen, {
      deviceId,
      condition,
      since: isoOrNull(since),
      reason,
    });
    return alarm;
  }

  async function recover(tx: Tx, { screenId, deviceId, condition }: WatchedScreen) {
    const screen = await tx.get('screens', screenId);
    const known = await tx.get('alarms', screenId);
    if (!known) return undefined;
    await tx.delete('alarms', screenId);
    if (!screen) return undefined;
    const data = { deviceId, condition, since: isoOrNull(known.since) };
    await putScreenNotice({ newId }, tx, 'screen.recovered', screen, data);
    return undefined;
  }

  async function changeVenue(
    tx: Tx,
    { type, venueId, gone, tvs }: Extract<AlarmDecision, { venueId: string }>,
  ): Promise<Alarm | undefined> {
    const venue = await tx.get('venues', venueId);
    const known = await tx.get('alarms', venueId);
    const isDark = type === 'venue.dark';
    if (isDark === (known !== undefined)) return known;
    if (!venue) {
      await tx.delete('alarms', venueId);
      return undefined;
    }
    const { tenantId, name } = venue;
    const since = known?.since ?? tx.now;
    const data = { venue: name, since: iso(since), gone, tvs };
    await putNotice({ newId }, tx, { type, tenantId, venueId, data });
    if (!isDark) {
      await tx.delete('alarms', venueId);
      return undefined;
    }
    const whole = { screenId: null, deviceId: null };
    const alarm: Alarm = { id: venueId, tenantId, venueId, ...whole, isDark, since };
    await tx.put('alarms', alarm);
    return alarm;
  }

  /** Stores a decision. Returns the alarm of the screen or venue from now on. */
  async function storeDecision(
    tx: Tx,
    decision: AlarmDecision<WatchedScreen>,
  ): Promise<readonly [id: string, alarm: Alarm | undefined]> {
    switch (decision.type) {
      case 'none':
        await tx.delete('alarms', decision.alarmId);
        return [decision.alarmId, undefined];
      case 'venue.dark':
      case 'venue.recovered':
        return [decision.venueId, await changeVenue(tx, decision)];
      case 'screen.recovered':
        return [decision.seen.screenId, await recover(tx, decision.seen)];
      default: {
        const isDark = decision.type === 'screen.dark';
        return [decision.seen.screenId, await raise(tx, decision.seen, isDark)];
      }
    }
  }

  async function apply(
    decisions: readonly AlarmDecision<WatchedScreen>[],
    known: Map<string, Alarm>,
  ) {
    for (let from = 0; from < decisions.length; from += decisionsPerWrite) {
      const some = decisions.slice(from, from + decisionsPerWrite);
      const changed = await store.write(async (tx) => {
        const result: (readonly [string, Alarm | undefined])[] = [];
        for (const decision of some) result.push(await storeDecision(tx, decision));
        return result;
      });
      for (const [id, alarm] of changed) {
        if (alarm) known.set(id, alarm);
        else known.delete(id);
      }
    }
  }

  /** Tells the ends of playlists whose time is over. */
  async function tellEnds(ended: readonly EndedPlaylist[], untilMs: number): Promise<void> {
    for (let from = 0; from < ended.length; from += endsPerWrite)
      await store.write(async (tx) => {
        const watch = await tx.get('watches', watchId);
        for (const { screen, version } of ended.slice(from, from + endsPerWrite)) {
          const row = await tx.get('playlists', screen.id);
          const isSame = row?.version === version && row.state === 'active';
          const isUntold = watch !== undefined && Number(row?.validUntil) > watch.endsToldUntil;
          // The end of an on-demand playlist is no end: the source renews it.
          if (!isSame || !isUntold || row.origin !== 'published') continue;
          const data = { version, reason: 'expired' };
          await putScreenNotice({ newId }, tx, 'playlist.ended', screen, data);
        }
        if (watch && from + endsPerWrite >= ended.length)
          await tx.put('watches', { ...watch, endsToldUntil: untilMs });
      });
  }

  /** Yields what the rules see, and adds the playlists that have ended since the last look. */
  async function* seenScreens(
    { lookedAt, endsToldUntil }: Watch,
    ended: EndedPlaylist[],
  ): AsyncGenerator<WatchedScreen> {
    for await (const slice of judgeAll())
      for (const one of slice) {
        const { screen, playlist } = one;
        const endMs = playlist?.state === 'active' ? (playlist.validUntil ?? 0) : 0;
        if (playlist && endMs > endsToldUntil && endMs <= lookedAt)
          ended.push({ screen, version: playlist.version });
        const seen = watched(one);
        if (seen) yield seen;
      }
  }

  async function lookAtScreens(watch: Watch): Promise<void> {
    const { lookedAt, hearingSince } = watch;
    const known = alarms ?? (await readAlarms());
    // An interrupted change may have been stored.
    alarms = undefined;
    const ended: EndedPlaylist[] = [];
    const times = { nowMs: clock.now(), hearingSince };
    const decisions = await rules.decide(seenScreens(watch, ended), known, times);
    await tellEnds(ended, lookedAt);
    await apply(decisions, known);
    alarms = known;
    const all = [...known.values()];
    const screen = all.filter(({ screenId }) => screenId !== null).length;
    figures.openAlarms = { screen, venue: all.length - screen };
  }

  return {
    /**
     * Renews the lease, and judges all screens every second time. Does nothing while another
     * instance watches. Returns whether this one does.
     */
    async look(): Promise<boolean> {
      const watch = await takeLease();
      const isTurn = watch !== undefined && !hasJudged;
      if (isTurn) await lookAtScreens(watch);
      hasJudged = isTurn;
      if (!watch) figures.stopWatching();
      return watch !== undefined;
    },
    /** Lets another instance watch at once. */
    async release(): Promise<void> {
      await store.write(async (tx) => {
        const watch = await tx.get('watches', watchId);
        if (watch?.holder === holder) await tx.put('watches', { ...watch, holder: '' });
      });
    },
  };
}

export type ScreenWatch = ReturnType<typeof makeScreenWatch>;
