import type { NoticeData } from '../../domain/notices/notice.ts';
import type { NoticeType } from '../../domain/notices/notice-types.ts';
import type { Screen } from '../../domain/records/rows.ts';
import type { Tx } from '../../store/store.ts';
import type { ServiceDependencies } from '../context.ts';

/** A notice to give. */
interface NewNotice {
  type: NoticeType;
  /** `null`: only platform tokens may read it. */
  tenantId: string | null;
  venueId?: string | null;
  screenId?: string | null;
  deviceId?: string | null;
  data: NoticeData;
}

/**
 * Puts a notice into the outbox, in the transaction of the change that it tells of. The watcher
 * moves it to the log.
 */
export function putNotice(
  { newId }: Pick<ServiceDependencies, 'newId'>,
  tx: Tx,
  { venueId = null, screenId = null, deviceId = null, ...notice }: NewNotice,
): Promise<void> {
  return tx.put('outbox', { id: newId(), at: tx.stamp, venueId, screenId, deviceId, ...notice });
}

/** Like `putNotice`, about a screen. Adds its name and the name of its venue. */
export async function putScreenNotice(
  deps: Pick<ServiceDependencies, 'newId'>,
  tx: Tx,
  type: NoticeType,
  { id: screenId, tenantId, venueId, name }: Screen,
  { deviceId = null, ...data }: NoticeData & { deviceId?: string | null },
): Promise<void> {
  const venue = await tx.get('venues', venueId);
  const names = { venue: venue?.name ?? null, screen: name };
  const place = { tenantId, venueId, screenId, deviceId };
  await putNotice(deps, tx, { type, ...place, data: { ...names, ...data } });
}
