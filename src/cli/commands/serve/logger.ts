import type { Clock } from '../../../domain/clock.ts';
import type { LogSink } from '../../../domain/log.ts';
import { makePainter, type TextStyle } from '../../terminal/colours.ts';
import { escapeControl } from '../../terminal/escape.ts';
import type { Io } from '../../terminal/io.ts';

export interface LogOptions {
  io: Io;
  clock: Clock;
  level: 'debug' | 'info' | 'warn' | 'error' | 'silent';
  /** `auto` means `pretty` on a terminal, else `json`. */
  format: 'auto' | 'pretty' | 'json';
}

const levels = ['debug', 'info', 'warn', 'error'] as const;
type Level = (typeof levels)[number];

const looks: Record<Level, TextStyle> = {
  debug: 'faint',
  info: 'good',
  warn: 'warning',
  error: 'bad',
};

function fieldText(value: unknown): string {
  if (value instanceof Error)
    return value.cause === undefined
      ? value.message
      : `${value.message} (${fieldText(value.cause)})`;
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value));
}

/** Returns a line of the log without its line feed. */
type LineFormat = (
  at: Level,
  time: Date,
  fields: Record<string, unknown>,
  message: string,
) => string;

/** Lines for people: `14:05:09 warn  Something is odd.  source=192.0.2.7`. */
async function prettyLines(io: Io): Promise<LineFormat> {
  const paint = await makePainter(io, io.stderr);
  return (at, time, fields, message) => {
    const notes = Object.entries(fields).map(([name, value]) =>
      paint.faint(`  ${escapeControl(`${name}=${fieldText(value)}`)}`),
    );
    const clockTime = paint.faint(time.toTimeString().slice(0, 8));
    return `${clockTime} ${paint[looks[at]](at.padEnd(5))} ${escapeControl(message)}${notes.join('')}`;
  };
}

/** Maximum length of a chain of causes, which may be circular. */
const maxErrors = 10;

/** Returns the members of an error, as pino and its users know them. */
function errorMembers(error: Error): Record<string, unknown> {
  const chain: Error[] = [];
  for (let one: unknown = error; one instanceof Error && chain.length < maxErrors; one = one.cause)
    chain.push(one);
  const members: Record<string, unknown> = {
    type: error.constructor.name,
    message: chain.map(({ message }) => message).join(': '),
    stack: chain.map(({ stack }) => stack).join('\ncaused by: '),
  };
  if (error instanceof AggregateError) members.aggregateErrors = error.errors;
  for (const [name, value] of Object.entries(error))
    if (typeof value !== 'object') members[name] ??= value;
  return members;
}

/** Lines for programs: JSON with the time as ISO 8601. */
const jsonLines: LineFormat = (level, time, fields, msg) =>
  JSON.stringify({ level, time, ...fields, msg }, (_, value) => {
    if (typeof value === 'bigint') return String(value);
    return value instanceof Error ? errorMembers(value) : value;
  });

/** Makes the log of the service, which goes to `stderr`. */
export async function makeLogger({ io, clock, level, format }: LogOptions): Promise<LogSink> {
  const isPretty = format === 'pretty' || (format === 'auto' && io.stderr.isTTY);
  const lineOf = isPretty ? await prettyLines(io) : jsonLines;
  const logAt = (at: Level) => (fields: Record<string, unknown>, message: string) => {
    if (level === 'silent' || levels.indexOf(at) < levels.indexOf(level)) return;
    io.stderr.write(`${lineOf(at, new Date(clock.now()), fields, message)}\n`);
  };
  return { debug: logAt('debug'), info: logAt('info'), warn: logAt('warn'), error: logAt('error') };
}
