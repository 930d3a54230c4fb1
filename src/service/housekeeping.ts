import { dayMs, hourMs, minuteMs } from '../domain/clock.ts';
import type { LogSink } from '../domain/log.ts';
import type { SystemDependencies } from './context.ts';

/** A finished code is remembered for this long, then purged (docs/protocol.md §4). */
const rememberedMs = 24 * hourMs;
const everyMs = minuteMs;
const atOnce = 500;

/** What the service does by itself, once a minute: purges codes that ended a day ago, drops events and audit entries past their retention. */
export function startHousekeeping(
  { store, clock }: SystemDependencies,
  retentionDays: number,
  log: LogSink,
): { stop(): Promise<void> } {
  let cancel = () => {};
  let stopped = false;
  let running = Promise.resolve();

  async function purgeCodes(): Promise<void> {
    for (let ids = await finished(); ids.length > 0; ids = await finished()) {
      await store.write(async (tx) => {
        for (const id of ids) await tx.delete('codes', id);
      });
    }
  }

  const finished = () => store.finishedCodes(clock.now() - rememberedMs, atOnce);

  async function round(): Promise<void> {
    try {
      await purgeCodes();
      await store.purgeBefore(clock.now() - retentionDays * dayMs);
    } catch (error) {
      log.warn({ err: error }, 'Housekeeping failed; it is tried again in a minute.');
    }
    if (!stopped) schedule();
  }

  function schedule(): void {
    cancel = clock.after(everyMs, () => {
      running = round();
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
