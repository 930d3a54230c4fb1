import { isDeepStrictEqual } from 'node:util';
import { hasBegun, iso } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';
import { checkPrecondition, type Precondition, revision } from '../../domain/etags/etag.ts';
import type { Page } from '../../domain/paging.ts';
import type { AuditVerb } from '../../domain/records/audit.ts';
import { codeStatusAt } from '../../domain/records/pairing-code.ts';
import type { PairingCode, Screen } from '../../domain/records/rows.ts';
import {
  type ScreenCreation,
  type ScreenPatch,
  type ScreenQuery,
  type ScreenView,
  screenSettings,
} from '../../domain/records/screen.ts';
import type { Reader } from '../../store/store.ts';
import {
  type Principal,
  recordChange,
  type ServiceDependencies,
  type TenantPrincipal,
} from '../context.ts';
import { type IdempotentRequest, lookUpCreated, prepareCreation } from '../creations.ts';
import { changeOf, lookUp, whereVenue, withNameConflict } from '../lookup.ts';
import { pageFilters, toPage } from '../paging.ts';
import { deleteLayers } from '../schedules/layers.ts';
import { deleteSignals } from '../signals.ts';
import { labelFilter, patchLabels } from './labels.ts';
import { requireTimezone } from './opening-hours.ts';
import { cancelPendingCodes, deleteTickets } from './pending.ts';
import { settingsView, withSettings } from './place-settings.ts';

/** `newestCode` is the newest code of the screen that has not been purged. */
export function screenView(
  row: Screen,
  newestCode: PairingCode | undefined,
  nowMs: number,
): ScreenView {
  const { id, tenantId, venueId, name, labels, state, deviceId } = row;
  const provisioningCode = newestCode
    ? {
        status: codeStatusAt(newestCode, nowMs),
        createdAt: iso(newestCode.createdAt),
        expiresAt: iso(newestCode.expiresAt),
      }
    : null;
  const times = { createdAt: iso(row.createdAt), updatedAt: iso(row.updatedAt) };
  const place = { id, tenantId, venueId, name, ...settingsView(screenSettings, row), labels };
  return { ...place, state, deviceId, provisioningCode, ...times };
}

export async function newestCodes(
  reader: Reader,
  screenIds: string[],
  nowMs: number,
): Promise<Map<string, PairingCode>> {
  const newest = new Map<string, PairingCode>();
  for (const code of await reader.select('codes', 'screenId', screenIds)) {
    if (!hasBegun(nowMs, code.createdAt)) continue;
    if (code.createdAt >= (newest.get(code.screenId)?.createdAt ?? 0))
      newest.set(code.screenId, code);
  }
  return newest;
}

/** Returns the view of a screen, with the state of its newest code. */
export async function viewScreen(reader: Reader, row: Screen, nowMs: number): Promise<ScreenView> {
  return screenView(row, (await newestCodes(reader, [row.id], nowMs)).get(row.id), nowMs);
}

/** Screens (docs/protocol.md §5.3). */
export function makeScreens(deps: ServiceDependencies) {
  const { store, clock } = deps;
  const change = (verb: AuditVerb<'screen'>, row: Screen) =>
    changeOf('screen', verb, row, { name: row.name, venueId: row.venueId });

  async function list(
    principal: TenantPrincipal,
    query: ScreenQuery,
    signal?: AbortSignal,
  ): Promise<Page<ScreenView>> {
    const { labels, impossible } = labelFilter(query.label);
    if (impossible) return { items: [], nextCursor: null };
    const { venueId, state, selector } = query;
    const where = {
      tenantId: principal.tenantId,
      ...whereVenue(principal, venueId),
      ...(state === undefined ? {} : { state }),
    };
    const slice = await store.list('screens', {
      where,
      ...(labels ? { labels } : {}),
      ...(selector ? { selector } : {}),
      ...pageFilters(query, signal),
    });
    const nowMs = clock.now();
    const ids = slice.items.map(({ id }) => id);
    const codes = await newestCodes(store.read, ids, nowMs);
    return toPage(slice, (row) => screenView(row, codes.get(row.id), nowMs));
  }

  async function get(principal: Principal, id: string): Promise<ScreenView> {
    return viewScreen(store.read, await lookUp(store.read, principal, 'screen', id), clock.now());
  }

  /** Throws `venue_not_found`, `name_taken`. */
  async function create(
    principal: TenantPrincipal,
    { venueId, name, labels, ...settings }: ScreenCreation,
    request?: IdempotentRequest,
  ): Promise<ScreenView> {
    const begin = await prepareCreation(deps, principal, request);
    return withNameConflict(deps, principal, 'screen', name, async (tx) => {
      const creation = await begin(tx);
      if (creation.earlierId !== undefined)
        return viewScreen(
          tx,
          await lookUpCreated(tx, principal, 'screen', creation.earlierId),
          tx.now,
        );
      const venue = await lookUp(tx, principal, 'venue', venueId);
      const plain: Screen = {
        id: deps.newId(),
        tenantId: venue.tenantId,
        venueId: venue.id,
        createdAt: tx.stamp,
        updatedAt: tx.stamp,
        name,
        hours: null,
        labels: labels ?? {},
        state: 'provisioning',
        deviceId: null,
      };
      const row = withSettings(plain, settings);
      requireTimezone(venue, row);
      await tx.put('screens', row);
      await creation.remember(row.id);
      await recordChange(deps, tx, principal, change('create', row));
      return screenView(row, undefined, tx.now);
    });
  }

  async function update(
    principal: Principal,
    id: string,
    patch: ScreenPatch,
    precondition: Precondition = {},
  ): Promise<ScreenView> {
    return withNameConflict(deps, principal, 'screen', patch.name ?? '', async (tx) => {
      const before = await lookUp(tx, principal, 'screen', id);
      checkPrecondition(precondition, revision.screen(before));
      const { labels, ...settings } = patch;
      const plain = { ...before, labels: patchLabels(before.labels, labels) };
      const after = withSettings(plain, settings);
      if (isDeepStrictEqual(after, before)) return viewScreen(tx, before, tx.now);
      const venue = await tx.get('venues', before.venueId);
      requireTimezone(venue ?? { timezone: null }, after);
      const row = { ...after, updatedAt: tx.stamp };
      await tx.put('screens', row);
      await recordChange(deps, tx, principal, change('update', row));
      return viewScreen(tx, row, tx.now);
    });
  }

  /**
   * Deletes a screen with its devices, playlists and config. Events are kept. Device keys are kept
   * too, so that requests with them get `device_key_orphaned`. Throws `screen_active` unless
   * forced.
   */
  async function remove(
    principal: Principal,
    id: string,
    force: boolean,
    precondition: Precondition = {},
  ): Promise<void> {
    await deps.write(principal, async (tx) => {
      const row = await lookUp(tx, principal, 'screen', id);
      checkPrecondition(precondition, revision.screen(row));
      if (row.state === 'active' && !force) {
        throw new SignageError(
          'screen_active',
          `The screen ${JSON.stringify(row.name)} has a device: revoke it first, or delete with ?force=true.`,
        );
      }
      await cancelPendingCodes(tx, row.id);
      await deleteTickets(tx, 'screenId', row.id);
      for (const device of await tx.select('devices', 'screenId', [row.id]))
        await tx.delete('devices', device.id);
      for (const past of await tx.select('pastPlaylists', 'screenId', [row.id]))
        await tx.delete('pastPlaylists', past.id);
      await tx.delete('playlists', row.id);
      await tx.delete('screenContents', row.id);
      await deleteLayers(tx, 'screen', row.id);
      await deleteSignals(tx, 'screen', row.id);
      await tx.delete('configs', `screen/${row.id}`);
      await tx.delete('screens', row.id);
      await recordChange(deps, tx, principal, {
        ...change('delete', row),
        details: { name: row.name, venueId: row.venueId, deviceId: row.deviceId },
      });
    });
  }

  return { list, get, create, update, remove };
}
