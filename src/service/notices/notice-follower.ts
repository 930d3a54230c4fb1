import type { Clock } from '../../domain/clock.ts';
import { coalesced } from '../../domain/concurrency.ts';
import type { NoticeView } from '../../domain/notices/notice.ts';
import type { NoticeLog } from './notice-log.ts';
import { noticeView } from './notices.ts';

const pageSize = 100;

/** A notice, with the tenant that it belongs to. `null`: the service as a whole. */
export interface ServiceNotice extends NoticeView {
  tenantId: string | null;
}

/**
 * Calls `listener` with each notice from now on, of all tenants and instances, in the order of the
 * log. Returns a function that stops it.
 */
export function followNotices(
  { noticeLog, clock }: { noticeLog: NoticeLog; clock: Clock },
  listener: (notice: ServiceNotice) => void,
  onError: (error: unknown) => void,
): () => void {
  const from = clock.now();
  let after: string | undefined;
  let isStopped = false;

  async function read(): Promise<void> {
    for (let next: string | null = ''; next !== null && !isStopped; ) {
      const page = await noticeLog.page({ order: 'asc', from, after, limit: pageSize });
      for (const row of page.items) {
        if (isStopped) return;
        const notice = { tenantId: row.tenantId, ...noticeView(row) };
        after = notice.id;
        try {
          listener(notice);
        } catch (error) {
          onError(error);
        }
      }
      next = page.next;
      after = next ?? after;
    }
  }

  const reading = coalesced(read);
  const wake = () =>
    void reading.run().catch((error) => {
      if (!isStopped) onError(error);
    });
  const stopWatching = noticeLog.watch(wake);
  wake();
  return () => {
    isStopped = true;
    stopWatching();
  };
}
