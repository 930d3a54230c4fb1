import { iso, secondMs } from '../../domain/clock.ts';
import type { NoticeQuery, NoticeView } from '../../domain/notices/notice.ts';
import type { Notice } from '../../domain/notices/rows.ts';
import type { Page } from '../../domain/paging.ts';
import { checkAuthority } from '../auth/authority.ts';
import type { Principal, ServiceDependencies, TenantPrincipal } from '../context.ts';
import { type ConcurrencySlot, longPoll } from '../long-poll.ts';
import { isInScope } from '../lookup.ts';
import { afterId } from '../paging.ts';
import { type NoticeLog, noticeId } from './notice-log.ts';

export function noticeView(row: Notice): NoticeView {
  const { at, type, venueId, screenId, deviceId, data } = row;
  return { id: noticeId(row), at: iso(at), type, venueId, screenId, deviceId, data };
}

/** Whether a caller may see a notice. Platform tokens also see those that belong to no tenant. */
export function maySeeNotice(
  { tenantId, role, venueIds }: Pick<Principal, 'tenantId' | 'role' | 'venueIds'>,
  notice: Notice,
): boolean {
  const isOfTenant = notice.tenantId === null ? role === 'platform' : notice.tenantId === tenantId;
  return isOfTenant && isInScope({ venueIds }, notice.venueId === null ? [] : [notice.venueId]);
}

/** Lists notices (docs/protocol.md §5.16). */
export function makeNotices(deps: ServiceDependencies, log: NoticeLog) {
  const { store, clock } = deps;

  /**
   * Lists notices. With `waitSeconds`, long-polls until a notice matches. Skips pages without a
   * match.
   */
  async function list(
    principal: TenantPrincipal,
    query: NoticeQuery,
    signal: AbortSignal,
    slot?: ConcurrencySlot,
  ): Promise<Page<NoticeView>> {
    const {
      cursor,
      after: start = afterId(cursor).after,
      waitSeconds = 0,
      type,
      ...filters
    } = query;
    const forMs = waitSeconds * secondMs;
    const endMs = clock.now() + forMs;
    const matches = (notice: Notice) =>
      (type === undefined || notice.type === type) && maySeeNotice(principal, notice);
    let after = start;
    const look = async () => {
      // In descending order, new notices come first, so the list starts over.
      if (filters.order === 'desc') after = start;
      for (;;) {
        const { items, next, read } = await log.page({ ...filters, after, matches });
        const isDone = items.length > 0 || next === null || signal.aborted || clock.now() >= endMs;
        // The next look reads only what came since.
        if (items.length === 0) after = next ?? read ?? after;
        if (isDone)
          return {
            value: { items: items.map(noticeView), nextCursor: next },
            settled: items.length > 0 || next !== null,
          };
      }
    };
    if (waitSeconds === 0) return (await look()).value;
    const check = () => checkAuthority(store.read, principal, clock.now());
    return longPoll(deps, { topics: ['notices/log'], forMs, signal, slot, check }, look);
  }

  return { list };
}
