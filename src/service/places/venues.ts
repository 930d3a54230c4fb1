import { isDeepStrictEqual } from 'node:util';
import { SignageError } from '../../domain/error.ts';
import { checkPrecondition, type Precondition, revision } from '../../domain/etag.ts';
import type { Page } from '../../domain/paging.ts';
import type { AuditVerb } from '../../domain/records/audit.ts';
import type { Venue } from '../../domain/records/rows.ts';
import type {
  VenueCreation,
  VenuePatch,
  VenueQuery,
  VenueView,
} from '../../domain/records/venue.ts';
import {
  type Caller,
  recordChange,
  type ServiceDependencies,
  type TenantCaller,
} from '../context.ts';
import { type IdempotentRequest, lookUpCreated, prepareCreation } from '../creations.ts';
import { patchLabels } from '../labels.ts';
import { changeOf, lookUp, requireTenant, withNameConflict } from '../lookup.ts';
import { pageFilters, toPage } from '../paging.ts';
import { venueView } from '../views.ts';

/** Venues (docs/protocol.md §5.3). */
export function makeVenues(deps: ServiceDependencies) {
  const { store } = deps;
  const change = (verb: AuditVerb<'venue'>, row: Venue) =>
    changeOf('venue', verb, row, { name: row.name });

  async function list(
    { tenantId, venueIds }: TenantCaller,
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

  async function get(caller: Caller, id: string): Promise<VenueView> {
    return venueView(await lookUp(store.read, caller, 'venue', id));
  }

  async function create(
    caller: TenantCaller,
    { name, address = null, timezone = null, labels }: VenueCreation,
    request?: IdempotentRequest,
  ): Promise<VenueView> {
    const begin = await prepareCreation(deps, caller, request);
    return withNameConflict(deps, caller, 'venue', name, async (tx) => {
      const creation = await begin(tx);
      if (creation.earlierId !== undefined)
        return venueView(await lookUpCreated(tx, caller, 'venue', creation.earlierId));
      await requireTenant(tx, caller);
      const { tenantId } = caller;
      const row = {
        id: deps.newId(),
        tenantId,
        name,
        address,
        timezone,
        labels: labels ?? {},
        createdAt: tx.stamp,
        updatedAt: tx.stamp,
      };
      await tx.put('venues', row);
      await creation.remember(row.id);
      await recordChange(deps, tx, caller, change('create', row));
      return venueView(row);
    });
  }

  async function update(
    caller: Caller,
    id: string,
    patch: VenuePatch,
    precondition: Precondition = {},
  ): Promise<VenueView> {
    return withNameConflict(deps, caller, 'venue', patch.name ?? '', async (tx) => {
      const before = await lookUp(tx, caller, 'venue', id);
      checkPrecondition(precondition, revision.venue(before));
      const { name = before.name, address = before.address, timezone = before.timezone } = patch;
      const after = {
        ...before,
        name,
        address,
        timezone,
        labels: patchLabels(before.labels, patch.labels),
      };
      if (isDeepStrictEqual(after, before)) return venueView(before);
      const row = { ...after, updatedAt: tx.stamp };
      await tx.put('venues', row);
      await recordChange(deps, tx, caller, change('update', row));
      return venueView(row);
    });
  }

  /** Throws `venue_not_empty`. */
  async function remove(
    caller: Caller,
    id: string,
    precondition: Precondition = {},
  ): Promise<void> {
    await deps.write(caller, async (tx) => {
      const row = await lookUp(tx, caller, 'venue', id);
      checkPrecondition(precondition, revision.venue(row));
      if ((await tx.count('screens', 'venueId', row.id)) > 0) {
        throw new SignageError(
          'venue_not_empty',
          `The venue ${JSON.stringify(row.name)} has screens: delete them first.`,
        );
      }
      await tx.delete('configs', `venue/${row.id}`);
      await tx.delete('venues', row.id);
      await recordChange(deps, tx, caller, change('delete', row));
    });
  }

  return { list, get, create, update, remove };
}
