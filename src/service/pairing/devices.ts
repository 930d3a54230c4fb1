import { iso, isoOrNull } from '../../domain/clock.ts';
import type { Page } from '../../domain/paging.ts';
import type { DeviceActivity } from '../../domain/records/activity.ts';
import { type DeviceConfig, isOnline } from '../../domain/records/config.ts';
import type { DeviceQuery, DeviceView } from '../../domain/records/device.ts';
import type { StoredReport } from '../../domain/records/player-report.ts';
import type { Device, Screen } from '../../domain/records/rows.ts';
import type { ScreenView } from '../../domain/records/screen.ts';
import type { Store, Tx } from '../../store/store.ts';
import { revokeKeys } from '../auth/device-keys.ts';
import {
  type Principal,
  recordChange,
  type ServiceDependencies,
  type TenantPrincipal,
} from '../context.ts';
import { changeOf, lookUp, whereVenue } from '../lookup.ts';
import { putScreenNotice } from '../notices/outbox.ts';
import { pageFilters, toPage } from '../paging.ts';
import { readEffectiveConfig } from '../places/configs.ts';
import { viewScreen } from '../places/screens.ts';

function reportView(report: StoredReport | undefined): DeviceView['report'] {
  if (!report) return null;
  const { checkedAt, at, ...findings } = report;
  return {
    ...findings,
    ...(checkedAt !== undefined && { checkedAt: iso(checkedAt) }),
    at: iso(at),
  };
}

/** Returns the view of a device. `config` is that of its screen. */
export function deviceView(
  row: Device,
  activity: DeviceActivity,
  config: DeviceConfig,
  nowMs: number,
): DeviceView {
  return {
    id: row.id,
    screenId: row.screenId,
    state: row.state,
    deviceInfo: row.deviceInfo,
    createdAt: iso(row.createdAt),
    lastSeenAt: isoOrNull(activity.lastSeenAt),
    lastAddress: activity.lastAddress ?? null,
    lastPlaylistAt: isoOrNull(activity.lastPlaylistAt),
    lastPlaylistVersion: activity.lastPlaylistVersion ?? null,
    lastPlaylistStatus: activity.lastPlaylistStatus ?? null,
    lastConfigAt: isoOrNull(activity.lastConfigAt),
    lastEventAt: isoOrNull(activity.lastEventAt),
    lastRefusedAt: isoOrNull(activity.lastRefusedAt),
    lastSeq: activity.lastSeq ?? null,
    missingEvents: activity.missingEvents ?? 0,
    conflictingEvents: activity.conflictingEvents ?? 0,
    report: reportView(activity.report),
    online: isOnline(row.state, activity.lastSeenAt, config, nowMs),
    suspendedAt: isoOrNull(row.suspendedAt),
    suspendReason: row.suspendReason,
    simulated: row.simulated,
  };
}

async function viewDevice(
  store: Pick<Store, 'read' | 'marks'>,
  row: Device,
  nowMs: number,
): Promise<DeviceView> {
  const activity = await store.marks('device', row.id);
  const { config } = await readEffectiveConfig(store.read, row);
  return deviceView(row, activity, config, nowMs);
}

/** Devices: lists, returns and revokes them (docs/protocol.md §5.3). */
export function makeDevices(deps: ServiceDependencies) {
  const { store, clock } = deps;

  async function list(
    principal: TenantPrincipal,
    { screenId, venueId, state, online, selector, ...page }: DeviceQuery,
    signal?: AbortSignal,
  ): Promise<Page<DeviceView>> {
    const filters = Object.entries({ screenId, state }).filter(([, value]) => value !== undefined);
    const where = {
      tenantId: principal.tenantId,
      ...whereVenue(principal, venueId),
      ...Object.fromEntries(filters),
    };
    const onlineFilter = online === undefined ? {} : { online: { is: online, now: clock.now() } };
    return toPage(
      await store.list('devices', {
        where,
        ...onlineFilter,
        ...(selector ? { selector } : {}),
        ...pageFilters(page, signal),
      }),
      (row) => viewDevice(store, row, clock.now()),
    );
  }

  async function get(principal: Principal, id: string): Promise<DeviceView> {
    const row = await lookUp(store.read, principal, 'device', id);
    return viewDevice(store, row, clock.now());
  }

  /** The screen exists, because deleting a screen deletes its devices. */
  async function screenOf(tx: Tx, { screenId }: Device): Promise<Screen> {
    return (await tx.get('screens', screenId)) as Screen;
  }

  /** Makes one atomic change: suspends the device, revokes its keys and frees the screen. */
  async function suspend(tx: Tx, row: Device, reason: string | null): Promise<Device> {
    const device: Device = {
      ...row,
      state: 'suspended',
      suspendedAt: tx.now,
      suspendReason: reason,
    };
    await tx.put('devices', device);
    await revokeKeys(tx, await tx.select('deviceKeys', 'deviceId', [row.id]));
    const screen = await screenOf(tx, row);
    await tx.put('screens', {
      ...screen,
      state: 'provisioning',
      deviceId: null,
      updatedAt: tx.stamp,
    });
    return device;
  }

  /** Suspends a device. Has no effect on a suspended one. */
  async function revoke(
    principal: Principal,
    id: string,
    reason: string | null,
  ): Promise<{ device: DeviceView; screen: ScreenView }> {
    const { device, screen } = await deps.write(principal, async (tx) => {
      const before = await lookUp(tx, principal, 'device', id);
      const device = before.state === 'suspended' ? before : await suspend(tx, before, reason);
      if (device !== before) {
        const details = { screenId: device.screenId, reason };
        await recordChange(deps, tx, principal, changeOf('device', 'revoke', device, details));
        const notice = { deviceId: device.id, reason };
        await putScreenNotice(deps, tx, 'device.revoked', await screenOf(tx, device), notice);
      }
      return { device, screen: await viewScreen(tx, await screenOf(tx, device), tx.now) };
    });
    return { device: await viewDevice(store, device, clock.now()), screen };
  }

  return { list, get, revoke };
}
