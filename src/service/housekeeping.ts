import { dayMs, hourMs, minuteMs } from '../domain/clock.ts';
import type { LogSink } from '../domain/log.ts';
import type { SystemDependencies } from './context.ts';

/** Finished codes are kept for this long (docs/protocol.md §4). */
const codeRetentionMs = 24 * hourMs;
const intervalMs = minuteMs;
const batchSize = 500;

/**
 * Starts the housekeeping, which runs once a minute. It purges codes that finished a day ago, and
 * events and audit entries past their retention.
 */
export function startHousekeeping(
  { store, clock }: SystemDependencies,
  retentionDays: number,
  log: LogSink,
): { stop(): Promise<void> } {
  let cancel = () => {};
  let stopped = false;
  let running = Promise.resolve();

  async function purgeCodes(): Promise<void> {
    for (let ids = await nextFinishedIds(); ids.length > 0; ids = await nextFinishedIds()) {
      await store.write(async (tx) => {
        for (const id of ids) await tx.delete('codes', id);
      });
    }
  }

  const nextFinishedIds = () => store.finishedCodes(clock.now() - codeRetentionMs, batchSize);

  async function runOnce(): Promise<void> {
    try {
      await purgeCodes();
      await store.purgeBefore(clock.now() - retentionDays * dayMs);
    } catch (error) {
      log.warn({ err: error }, 'Housekeeping failed; it runs again in a minute.');
    }
    if (!stopped) schedule();
  }

  function schedule(): void {
    cancel = clock.after(intervalMs, () => {
      running = runOnce();
    });
  }

  schedule();
  return {
    async stop() {
      stopped = true;
      cancel();
      await running;
    },
  };
}
