import { constants, open } from 'node:fs/promises';
import { z } from 'zod';
import type { EventInput } from '../../client/entities.ts';
import type { PlayerState, StateChange } from '../../player/state.ts';
import { syncFile } from '../api/private-file.ts';

/** One line of the log: a change of the state. In `head`, `null` stands for a removed member. */
interface LogLine {
  head: Record<string, unknown>;
  queueStart: number;
  added: [position: number, event: EventInput][];
}

const lineSchema = z.object({
  head: z.record(z.string(), z.unknown()),
  queueStart: z.number(),
  added: z.array(z.tuple([z.number(), z.looseObject({})])),
});

/** Formats a change as one line. */
export function formatChange({ head, queueStart, added }: StateChange): string {
  const members = Object.entries(head).map(([name, value]) => [name, value ?? null]);
  const line: LogLine = {
    head: Object.fromEntries(members),
    queueStart,
    added: added.map(({ position, event }) => [position, event]),
  };
  return `${JSON.stringify(line)}\n`;
}

/**
 * Applies the lines of a log to a saved state. The text after the last line break is a torn write,
 * and is ignored. Throws if a line is damaged.
 */
export function applyLog(state: PlayerState, log: string): PlayerState {
  const { queue, queueStart = 0, ...saved } = state;
  const events = new Map(queue.map((event, index) => [queueStart + index, event]));
  const head: Record<string, unknown> = saved;
  let start = queueStart;
  for (const text of log.split('\n').slice(0, -1)) {
    const line: unknown = JSON.parse(text);
    lineSchema.parse(line);
    // Keeps the original value, because the schema could reorder the members of an event.
    const change = line as LogLine;
    for (const [name, value] of Object.entries(change.head)) head[name] = value ?? undefined;
    for (const [position, event] of change.added) events.set(position, event);
    start = change.queueStart;
  }
  const kept = [...events].filter(([position]) => position >= start).sort(([a], [b]) => a - b);
  return {
    ...(head as Omit<PlayerState, 'queue'>),
    queue: kept.map(([, event]) => event),
    queueStart: start,
  };
}

/** Appends text to an existing file. Resolves once it is durable. */
export async function appendDurably(path: string, text: string): Promise<void> {
  const file = await open(path, constants.O_WRONLY | constants.O_APPEND);
  try {
    await file.appendFile(text);
    await syncFile(file);
  } finally {
    await file.close();
  }
}
