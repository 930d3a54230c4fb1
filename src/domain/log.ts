type Say = (fields: Record<string, unknown>, message: string) => void;

/** Where the service says what it does; a pino logger fits. Nothing that is said there carries a key, a token or a whole pairing code. */
export interface LogSink {
  debug: Say;
  info: Say;
  warn: Say;
  error: Say;
}

const silent: Say = () => {};

export const silentLog: LogSink = { debug: silent, info: silent, warn: silent, error: silent };
