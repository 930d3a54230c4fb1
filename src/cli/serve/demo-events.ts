import { posix } from 'node:path';
import type { CallAnswer } from '../../client/call.ts';
import type { ManagementClient } from '../../client/management-client.ts';
import { pause } from '../../client/pause.ts';
import type { Clock } from '../../domain/clock.ts';
import type { LogSink } from '../../domain/log.ts';
import { escapeControl } from '../terminal/escape.ts';
import type { Io } from '../terminal/io.ts';
import type { DemoTv } from './demo-tvs.ts';

type StoredEvent = CallAnswer<'listEvents'>['items'][number];

const waitSeconds = 20;
const retryDelayMs = 2000;

/** Returns `spring.mp4` for a creative on the TV's playlist, else its id. */
function creativeName(tv: DemoTv | undefined, creativeId: unknown): string {
  const item = tv?.player.state.playlist?.items.find((one) => one.creativeId === creativeId);
  return item ? posix.basename(new URL(item.creativeUrl).pathname) : String(creativeId);
}

/** Formats `14:05:09  Aurora Café / Entrance       impression  spring.mp4, 10 s`. */
function eventLine({ event, screenId, receivedAt }: StoredEvent, tvs: readonly DemoTv[]): string {
  const tv = tvs.find((one) => one.screenId === screenId);
  const width = Math.max(...tvs.map((one) => one.place.length));
  const time = new Date(receivedAt).toTimeString().slice(0, 8);
  const shown =
    event.type === 'impression'
      ? `  ${creativeName(tv, event.creativeId)}, ${event.duration} s`
      : '';
  const place = escapeControl((tv?.place ?? screenId).padEnd(width));
  return `${time}  ${place}  ${escapeControl(String(event.type))}${escapeControl(shown)}\n`;
}

interface PrintOptions {
  io: Io;
  clock: Clock;
  log: LogSink;
  signal: AbortSignal;
}

/** Prints a line for each new event until the signal aborts. Retries after errors. */
export async function printDemoEvents(
  { management }: { management: ManagementClient },
  { io, clock, log, signal }: PrintOptions,
  tvs: readonly DemoTv[],
): Promise<void> {
  const newest = await management.call('listEvents', { query: { limit: 1 }, signal });
  let after = newest.items[0]?.id;
  while (!signal.aborted) {
    try {
      const query = {
        order: 'asc' as const,
        waitSeconds,
        ...(after === undefined ? {} : { after }),
      };
      const { items } = await management.call('listEvents', { query, signal });
      for (const item of items) io.stdout.write(eventLine(item, tvs));
      after = items.at(-1)?.id ?? after;
    } catch (err) {
      if (signal.aborted) return;
      log.warn({ err }, 'Reading new events failed; retrying.');
      await pause(clock, retryDelayMs, signal);
    }
  }
}
