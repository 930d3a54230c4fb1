import type { CallAnswer } from '../../../client/call.ts';
import type { ManagementClient } from '../../../client/management-client.ts';
import { pause } from '../../../client/pause.ts';
import type { LogSink } from '../../../domain/log.ts';
import { largest } from '../../../domain/numbers/extremes.ts';
import type { Environment } from '../../terminal/environment.ts';
import { escapeControl } from '../../terminal/escape.ts';

type StoredEvent = CallAnswer<'listEvents'>['items'][number];

/** A demo beside a service. `interrupted` ends it. */
export interface Demo extends Environment {
  url: string;
  /** A client for the tenant that has the screens of the demo. */
  management: ManagementClient;
  log: LogSink;
}

/** A screen that shows its TV's events. */
export interface DemoScreen {
  screenId: string;
  /** Venue and screen: `Aurora Café / Entrance`. */
  place: string;
}

const waitSeconds = 20;
const retryDelayMs = 2000;

/** Formats what happened at a screen: `14:05:09  Aurora Café / Entrance  paired`. */
export function demoLine(
  timeMs: number,
  { place }: DemoScreen,
  screens: readonly DemoScreen[],
  text: string,
): string {
  const width = largest(screens.map((one) => one.place.length));
  const time = new Date(timeMs).toTimeString().slice(0, 8);
  return `${time}  ${escapeControl(place.padEnd(width))}  ${escapeControl(text)}\n`;
}

/** Prints a line for each new event until the demo is interrupted. Retries after errors. */
export async function printEvents(demo: Demo, screens: readonly DemoScreen[]): Promise<void> {
  const { management, io, clock, log, interrupted: signal } = demo;
  const names = new Map<string, string>();
  async function nameOf(screenId: string, creativeId: string): Promise<string> {
    if (!names.has(creativeId)) {
      const playlist = await management.call('readPlaylist', { params: { id: screenId }, signal });
      for (const { creativeId: id, name } of playlist.items) names.set(id, name ?? id);
    }
    return names.get(creativeId) ?? creativeId;
  }
  async function print({ event, screenId, receivedAt }: StoredEvent): Promise<void> {
    const screen = screens.find((one) => one.screenId === screenId) ?? {
      screenId,
      place: screenId,
    };
    const shown =
      event.type === 'impression'
        ? `  ${await nameOf(screenId, String(event.creativeId))}, ${event.duration} s`
        : '';
    io.stdout.write(demoLine(Date.parse(receivedAt), screen, screens, `${event.type}${shown}`));
  }
  const newest = await management.call('listEvents', { query: { limit: 1 }, signal });
  let after = newest.items[0]?.id;
  while (!signal.aborted) {
    try {
      const since = after === undefined ? {} : { after };
      const query = { order: 'asc' as const, waitSeconds, ...since };
      const { items } = await management.call('listEvents', { query, signal });
      for (const item of items) {
        await print(item);
        after = item.id;
      }
    } catch (err) {
      if (signal.aborted) return;
      log.warn({ err }, 'Reading new events failed; retrying.');
      await pause(clock, retryDelayMs, signal);
    }
  }
}
