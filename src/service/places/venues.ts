import { isDeepStrictEqual } from 'node:util';
import { iso } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';
import { checkPrecondition, type Precondition, revision } from '../../domain/etags/etag.ts';
import type { Page } from '../../domain/paging.ts';
import type { AuditVerb } from '../../domain/records/audit.ts';
import type { Screen, Venue } from '../../domain/records/rows.ts';
import {
  type VenueCreation,
  type VenuePatch,
  type VenueQuery,
  type VenueView,
  venueSettings,
} from '../../domain/records/venue.ts';
import { needsTimezone } from '../../domain/schedule/entry-times.ts';
import type { Tx } from '../../store/store.ts';
import {
  type Principal,
  recordChange,
  type ServiceDependencies,
  type TenantPrincipal,
} from '../context.ts';
import { type IdempotentRequest, lookUpCreated, prepareCreation } from '../creations.ts';
import { changeOf, lookUp, requireTenant, withNameConflict } from '../lookup.ts';
import { pageFilters, toPage } from '../paging.ts';
import { deleteLayers } from '../schedules/layers.ts';
import { deleteSignals } from '../signals.ts';
import { patchLabels } from './labels.ts';
import { hasLocalTimes, requireTimezone } from './opening-hours.ts';
import { deleteTickets } from './pending.ts';
import { settingsView, withSettings } from './place-settings.ts';

/** Throws `timezone_in_use` if a schedule has local times. */
function venueView(row: Venue): VenueView {
  const { id, tenantId, name, labels } = row;
  const times = { createdAt: iso(row.createdAt), updatedAt: iso(row.updatedAt) };
  return { id, tenantId, name, ...settingsView(venueSettings, row), labels, ...times };
}

async function requireNoSchedules(tx: Tx, venue: Venue, screens: readonly Screen[]): Promise<void> {
  const ids = [`venue/${venue.id}`, ...screens.map(({ id }) => `screen/${id}`)];
  const layers = await Promise.all(ids.map((id) => tx.get('layers', id)));
  const holder = layers.find((one) => one?.schedule?.entries.some(needsTimezone));
  if (!holder) return;
  const name = [venue, ...screens].find(({ id }) => id === holder.ownerId)?.name;
  throw new SignageError(
    'timezone_in_use',
    `The schedule of ${JSON.stringify(name)} needs the time zone: remove it first.`,
  );
}

/** Throws `timezone_in_use` if the venue or one of its screens has hours or local times. */
async function requireNoHours(tx: Tx, venue: Venue): Promise<void> {
  const screens = await tx.select('screens', 'venueId', [venue.id]);
  await requireNoSchedules(tx, venue, screens);
  const holder = [venue, ...screens].find(hasLocalTimes);
  if (!holder) return;
  throw new SignageError(
    'timezone_in_use',
    `The hours of ${JSON.stringify(holder.name)} need the time zone: remove them first.`,
  );
}

/** Venues (docs/protocol.md §5.3). */
export function makeVenues(deps: ServiceDependencies) {
  const { store } = deps;
  const change = (verb: AuditVerb<'venue'>, row: Venue) =>
    changeOf('venue', verb, row, { name: row.name });

  async function list(
    { tenantId, venueIds }: TenantPrincipal,
    query: VenueQuery,
    signal?: AbortSignal,
  ): Promise<Page<VenueView>> {
    const where = { tenantId, ...(venueIds && { id: venueIds }) };
    return toPage(
      await store.list('venues', {
        where,
        ...pageFilters(query, signal),
      }),
      venueView,
    );
  }

  async function get(principal: Principal, id: string): Promise<VenueView> {
    return venueView(await lookUp(store.read, principal, 'venue', id));
  }

  async function create(
    principal: TenantPrincipal,
    given: VenueCreation,
    request?: IdempotentRequest,
  ): Promise<VenueView> {
    const begin = await prepareCreation(deps, principal, request);
    const { name, labels, ...settings } = given;
    return withNameConflict(deps, principal, 'venue', name, async (tx) => {
      const creation = await begin(tx);
      if (creation.earlierId !== undefined)
        return venueView(await lookUpCreated(tx, principal, 'venue', creation.earlierId));
      await requireTenant(tx, principal);
      const { tenantId } = principal;
      const plain: Venue = {
        id: deps.newId(),
        tenantId,
        name,
        address: null,
        timezone: null,
        hours: null,
        labels: labels ?? {},
        createdAt: tx.stamp,
        updatedAt: tx.stamp,
      };
      const row = withSettings(plain, settings);
      requireTimezone(row, row);
      await tx.put('venues', row);
      await creation.remember(row.id);
      await recordChange(deps, tx, principal, change('create', row));
      return venueView(row);
    });
  }

  async function update(
    principal: Principal,
    id: string,
    patch: VenuePatch,
    precondition: Precondition = {},
  ): Promise<VenueView> {
    return withNameConflict(deps, principal, 'venue', patch.name ?? '', async (tx) => {
      const before = await lookUp(tx, principal, 'venue', id);
      checkPrecondition(precondition, revision.venue(before));
      const { labels, ...settings } = patch;
      const plain = { ...before, labels: patchLabels(before.labels, labels) };
      const after = withSettings(plain, settings);
      if (isDeepStrictEqual(after, before)) return venueView(before);
      if (before.timezone !== null && after.timezone === null) await requireNoHours(tx, after);
      requireTimezone(after, after);
      const row = { ...after, updatedAt: tx.stamp };
      await tx.put('venues', row);
      await recordChange(deps, tx, principal, change('update', row));
      return venueView(row);
    });
  }

  /** Throws `venue_not_empty`. */
  async function remove(
    principal: Principal,
    id: string,
    precondition: Precondition = {},
  ): Promise<void> {
    await deps.write(principal, async (tx) => {
      const row = await lookUp(tx, principal, 'venue', id);
      checkPrecondition(precondition, revision.venue(row));
      if ((await tx.count('screens', 'venueId', row.id)) > 0) {
        throw new SignageError(
          'venue_not_empty',
          `The venue ${JSON.stringify(row.name)} has screens: delete them first.`,
        );
      }
      await deleteTickets(tx, 'venueId', row.id);
      await tx.delete('configs', `venue/${row.id}`);
      await deleteLayers(tx, 'venue', row.id);
      await deleteSignals(tx, 'venue', row.id);
      await tx.delete('venues', row.id);
      await recordChange(deps, tx, principal, change('delete', row));
    });
  }

  return { list, get, create, update, remove };
}
