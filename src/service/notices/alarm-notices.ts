import { iso, isoOrNull } from '../../domain/clock.ts';
import type { Alarm } from '../../domain/notices/rows.ts';
import { type Store, slicesOf, type Tx } from '../../store/store.ts';
import type { ServiceDependencies } from '../context.ts';
import type { AlarmDecision, SeenScreen } from './alarm-rules.ts';
import { putNotice, putScreenNotice } from './outbox.ts';

/** Number of decisions that one transaction stores. */
const decisionsPerWrite = 200;

export interface WatchedScreen extends SeenScreen {
  since: number | null;
  /** Why the condition is bad. */
  reason: string | null;
}

type Decision = AlarmDecision<WatchedScreen>;
type Deps = Pick<ServiceDependencies, 'newId'>;

/** Reads the stored alarms, by the ids of screens and venues. */
export async function readAlarms(store: Pick<Store, 'list'>): Promise<Map<string, Alarm>> {
  const found = new Map<string, Alarm>();
  for await (const alarms of slicesOf(store, 'alarms', { limit: decisionsPerWrite }))
    for (const alarm of alarms) found.set(alarm.id, alarm);
  return found;
}

/** Tells a bad condition, unless another instance has told it or the TV is gone. */
async function raise(deps: Deps, tx: Tx, seen: WatchedScreen, isDark: boolean) {
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
  await putScreenNotice(deps, tx, isDark ? 'screen.dark' : 'screen.failing', screen, {
    deviceId,
    condition,
    since: isoOrNull(since),
    reason,
  });
  return alarm;
}

async function recover(deps: Deps, tx: Tx, { screenId, deviceId, condition }: WatchedScreen) {
  const screen = await tx.get('screens', screenId);
  const known = await tx.get('alarms', screenId);
  if (!known) return undefined;
  await tx.delete('alarms', screenId);
  if (!screen) return undefined;
  const data = { deviceId, condition, since: isoOrNull(known.since) };
  await putScreenNotice(deps, tx, 'screen.recovered', screen, data);
  return undefined;
}

async function changeVenue(
  deps: Deps,
  tx: Tx,
  { type, venueId, gone, tvs }: Extract<Decision, { venueId: string }>,
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
  await putNotice(deps, tx, { type, tenantId, venueId, data });
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
  deps: Deps,
  tx: Tx,
  decision: Decision,
): Promise<readonly [id: string, alarm: Alarm | undefined]> {
  switch (decision.type) {
    case 'none':
      await tx.delete('alarms', decision.alarmId);
      return [decision.alarmId, undefined];
    case 'venue.dark':
    case 'venue.recovered':
      return [decision.venueId, await changeVenue(deps, tx, decision)];
    case 'screen.recovered':
      return [decision.seen.screenId, await recover(deps, tx, decision.seen)];
    default: {
      const isDark = decision.type === 'screen.dark';
      return [decision.seen.screenId, await raise(deps, tx, decision.seen, isDark)];
    }
  }
}

/** Stores decisions with their notices, and changes the known alarms accordingly. */
export async function storeDecisions(
  deps: Deps & { store: Pick<Store, 'write'> },
  decisions: readonly Decision[],
  known: Map<string, Alarm>,
): Promise<void> {
  for (let from = 0; from < decisions.length; from += decisionsPerWrite) {
    const some = decisions.slice(from, from + decisionsPerWrite);
    const changed = await deps.store.write(async (tx) => {
      const result: (readonly [string, Alarm | undefined])[] = [];
      for (const decision of some) result.push(await storeDecision(deps, tx, decision));
      return result;
    });
    for (const [id, alarm] of changed) {
      if (alarm) known.set(id, alarm);
      else known.delete(id);
    }
  }
}
