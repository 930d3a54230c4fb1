import { isBetween, iso, secondMs } from '../domain/clock.ts';
import type { AuditDetails } from '../domain/records/audit.ts';
import type { Screen } from '../domain/records/rows.ts';
import {
  type Identified,
  type IdentifyInput,
  maxSignalSeconds,
  type ReloadAnnounced,
  type Signals,
  type SignalTargets,
} from '../domain/records/signals.ts';
import type { Reader, Tx } from '../store/store.ts';
import { recordChange, type ServiceDependencies, type TenantPrincipal } from './context.ts';
import { isVisibleTo } from './lookup.ts';

type Level = 'screen' | 'venue';
type SignalKind = 'identify' | 'reload';
type Signal<K extends SignalKind> = NonNullable<Signals[K]>;

const maxMs = maxSignalSeconds * secondMs;
const tables = { screen: 'screens', venue: 'venues' } as const;
const signalsId = (level: Level, ownerId: string) => `${level}/${ownerId}`;

const isLive = (signal: Signal<SignalKind> | null, nowMs: number): boolean =>
  signal !== null && isBetween(nowMs, signal.at, signal.at + maxMs);

/** Whether nothing of a row concerns TVs any more. */
export const isOver = ({ identify, reload }: Signals, nowMs: number): boolean =>
  !isLive(identify, nowMs) && !isLive(reload, nowMs);

/** The latest signals for a TV. `undefined`: none in the last 10 minutes. */
export interface LatestSignals {
  identify: Signal<'identify'> | undefined;
  reload: Signal<'reload'> | undefined;
}

export async function readSignals(
  reader: Pick<Reader, 'get'>,
  { id, venueId }: Pick<Screen, 'id' | 'venueId'>,
  nowMs: number,
): Promise<LatestSignals> {
  const rows = await Promise.all([
    reader.get('signals', signalsId('venue', venueId)),
    reader.get('signals', signalsId('screen', id)),
  ]);
  function latest<K extends SignalKind>(kind: K): Signal<K> | undefined {
    let found: Signal<K> | undefined;
    for (const row of rows) {
      const signal: Signal<K> | null = row?.[kind] ?? null;
      if (signal && isLive(signal, nowMs) && signal.at >= (found?.at ?? 0)) found = signal;
    }
    return found;
  }
  return { identify: latest('identify'), reload: latest('reload') };
}

/** Returns the signal to identify all TVs of a venue. `undefined`: they need not. */
export async function readVenueIdentify(
  reader: Pick<Reader, 'get'>,
  venueId: string,
  nowMs: number,
): Promise<Signal<'identify'> | undefined> {
  const identify = (await reader.get('signals', signalsId('venue', venueId)))?.identify;
  return identify && isLive(identify, nowMs) && identify.until > nowMs ? identify : undefined;
}

/**
 * Returns the cursor of an answer for TVs (docs/protocol.md §2.9): a hash of the content, and tags
 * of the live signals. A TV that has seen them keeps its cursor, also when they have ended.
 *
 * @param after the cursor that the TV has
 */
export function cursorWith(
  content: string,
  { identify, reload }: LatestSignals,
  after: string | undefined,
): string {
  if (after === content && !identify && !reload) return content;
  const tags = [identify, reload].flatMap((signal) => (signal ? [signal.id.slice(-12)] : []));
  const [known, ...seen] = after?.split('.') ?? [];
  const hasSeenAll = known === content && tags.every((tag) => seen.includes(tag));
  return after !== undefined && hasSeenAll ? after : [content, ...tags].join('.');
}

export async function deleteSignals(tx: Tx, level: Level, ownerId: string): Promise<void> {
  await tx.delete('signals', signalsId(level, ownerId));
}

interface Announcement {
  signal: Pick<Signals, 'identify'> | Pick<Signals, 'reload'>;
  action: 'identify.set' | 'reload.set';
  details: AuditDetails;
}

/** Asks TVs to identify themselves and to reload (docs/protocol.md §2.9). */
export function makeSignals(deps: ServiceDependencies) {
  /** Returns the ids without a record that the caller may see. */
  async function announce(
    tx: Tx,
    principal: TenantPrincipal,
    { screenIds, venueIds = [] }: SignalTargets,
    { signal, action, details }: Announcement,
  ): Promise<string[]> {
    const kind = screenIds ? 'screen' : 'venue';
    const ids = [...new Set(screenIds ?? venueIds)];
    const [owners, rows] = await Promise.all([
      Promise.all(ids.map((id) => tx.get(tables[kind], id))),
      Promise.all(ids.map((id) => tx.get('signals', signalsId(kind, id)))),
    ]);
    const notFound: string[] = [];
    for (const [place, id] of ids.entries()) {
      const owner = owners[place];
      if (!owner || !isVisibleTo(principal, kind, owner)) {
        notFound.push(id);
        continue;
      }
      const { tenantId } = owner;
      const none = { id: signalsId(kind, id), tenantId, identify: null, reload: null };
      await tx.put('signals', { ...none, ...rows[place], ...signal });
      await recordChange(deps, tx, principal, {
        action,
        subject: { kind, id },
        tenantId,
        venueIds: ['venueId' in owner ? owner.venueId : id],
        details,
      });
    }
    return notFound;
  }

  return {
    /** Makes TVs draw who they are for `seconds`. 0 ends it. */
    identify: (principal: TenantPrincipal, body: IdentifyInput): Promise<Identified> =>
      deps.write(principal, async (tx) => {
        const untilSeconds = Math.floor(tx.now / secondMs) + body.seconds;
        const until = untilSeconds * secondMs;
        const isOn = body.seconds > 0;
        const notFound = await announce(tx, principal, body, {
          signal: { identify: { id: deps.newId(), at: tx.now, until } },
          action: 'identify.set',
          details: { until: isOn ? iso(until) : null },
        });
        return { since: iso(tx.now), identifyUntil: isOn ? untilSeconds : null, notFound };
      }),

    /** Makes players that run now load themselves anew. */
    reload: (principal: TenantPrincipal, body: SignalTargets): Promise<ReloadAnnounced> =>
      deps.write(principal, async (tx) => {
        const reloadId = deps.newId();
        const notFound = await announce(tx, principal, body, {
          signal: { reload: { id: reloadId, at: tx.now } },
          action: 'reload.set',
          details: { reloadId },
        });
        return { since: iso(tx.now), reloadId, notFound };
      }),
  };
}
