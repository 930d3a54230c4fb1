import { posix } from 'node:path';
import type { CallAnswer } from '../../client/call.ts';
import { pause } from '../../client/pause.ts';
import { largest } from '../../domain/numbers/extremes.ts';
import { escapeControl } from '../terminal/escape.ts';
import type { Demo } from './browser-offer.ts';

type StoredEvent = CallAnswer<'listEvents'>['items'][number];

/** A screen that shows its TV's events. */
export interface DemoScreen {
  screenId: string;
  /** Venue and screen: `Aurora Café / Entrance`. */
  place: string;
}

const waitSeconds = 20;
const retryDelayMs = 2000;

/** Finds the file names of creatives in the playlists of screens. Reads a playlist when it must. */
class CreativeNames {
  readonly #names = new Map<string, string>();
  readonly #demo: Demo;

  constructor(demo: Demo) {
    this.#demo = demo;
  }

  /** Returns a file name, such as `spring.mp4`, or the id of a creative that is not known. */
  async nameOf(screenId: string, creativeId: string): Promise<string> {
    if (!this.#names.has(creativeId)) await this.#read(screenId, creativeId);
    return this.#names.get(creativeId) ?? creativeId;
  }

  async #read(screenId: string, creativeId: string): Promise<void> {
    this.#names.set(creativeId, creativeId);
    const { management, interrupted: signal } = this.#demo;
    const playlist = await management.call('readPlaylist', { params: { id: screenId }, signal });
    for (const { creativeId: id, creativeUrl } of playlist.items)
      this.#names.set(id, posix.basename(new URL(creativeUrl).pathname));
  }
}

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
  const names = new CreativeNames(demo);
  async function print({ event, screenId, receivedAt }: StoredEvent): Promise<void> {
    const screen = screens.find((one) => one.screenId === screenId) ?? {
      screenId,
      place: screenId,
    };
    const shown =
      event.type === 'impression'
        ? `  ${await names.nameOf(screenId, String(event.creativeId))}, ${event.duration} s`
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
