import { pino } from 'pino';
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

/** Logs lines for people: `14:05:09 warn  Something is odd.  source=192.0.2.7`. */
async function prettyLog({ io, clock, level }: LogOptions): Promise<LogSink> {
  const paint = await makePainter(io, io.stderr);
  const logAt = (at: Level) => (fields: Record<string, unknown>, message: string) => {
    if (level === 'silent' || levels.indexOf(at) < levels.indexOf(level)) return;
    const time = new Date(clock.now()).toTimeString().slice(0, 8);
    const notes = Object.entries(fields).map(([name, value]) =>
      paint.faint(`  ${escapeControl(`${name}=${fieldText(value)}`)}`),
    );
    io.stderr.write(
      `${paint.faint(time)} ${paint[looks[at]](at.padEnd(5))} ${escapeControl(message)}${notes.join('')}\n`,
    );
  };
  return { debug: logAt('debug'), info: logAt('info'), warn: logAt('warn'), error: logAt('error') };
}

/** Logs lines for programs: the JSON of pino, with the time as ISO 8601. */
function jsonLog({ io, clock, level }: LogOptions): LogSink {
  const timestamp = () => `,"time":"${new Date(clock.now()).toISOString()}"`;
  const formatters = { level: (label: string) => ({ level: label }) };
  return pino({ level, base: null, timestamp, formatters }, io.stderr);
}

/** Makes the log of the service, which goes to `stderr`. */
export async function makeLogger(options: LogOptions): Promise<LogSink> {
  const pretty =
    options.format === 'pretty' || (options.format === 'auto' && options.io.stderr.isTTY);
  return pretty ? prettyLog(options) : jsonLog(options);
}
