/** Writes one entry of the log. */
export type LogMethod = (fields: Record<string, unknown>, message: string) => void;

/**
 * Receives log entries. A pino logger can be passed as is. No entry contains a key, a token or a
 * whole pairing code.
 */
export interface LogSink {
  debug: LogMethod;
  info: LogMethod;
  warn: LogMethod;
  error: LogMethod;
}

const noop: LogMethod = () => {};

export const silentLog: LogSink = { debug: noop, info: noop, warn: noop, error: noop };
