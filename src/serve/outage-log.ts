import { type Clock, secondMs } from '../domain/clock.ts';
import { hasCode } from '../domain/error.ts';
import type { LogMethod, LogSink } from '../domain/log.ts';

/** Whether an entry reports that the store was unavailable. */
const isOfOutage = ({ code, err }: Record<string, unknown>) =>
  code === 'unavailable' || hasCode(err, 'unavailable');

/**
 * Reports an outage of the store by one entry at its start and one at its end. Meanwhile the
 * entries that it causes, one for each request, are counted, and only logged at the level `debug`.
 */
export class OutageLog {
  readonly #log: LogSink;
  readonly #clock: Clock;
  #sinceMs: number | undefined;
  #refused = 0;
  /** The log for everything else. */
  readonly sink: LogSink;

  constructor(log: LogSink, clock: Clock) {
    this.#log = log;
    this.#clock = clock;
    const debug: LogMethod = (fields, message) => log.debug(fields, message);
    const info: LogMethod = (fields, message) => log.info(fields, message);
    this.sink = { debug, info, warn: this.#unlessOut('warn'), error: this.#unlessOut('error') };
  }

  #unlessOut(level: 'warn' | 'error'): LogMethod {
    return (fields, message) => {
      if (this.#sinceMs === undefined || !isOfOutage(fields))
        return this.#log[level](fields, message);
      if (fields.requestId !== undefined) this.#refused++;
      return this.#log.debug(fields, message);
    };
  }

  /** Called when the store becomes unreachable, with the reason, and when it answers again. */
  readonly onReachable = (isReachable: boolean, reason?: unknown): void => {
    const nowMs = this.#clock.now();
    if (!isReachable) {
      this.#sinceMs = nowMs;
      this.#refused = 0;
      this.#log.error(
        { reason: reason instanceof Error ? reason.message : String(reason) },
        'The database cannot be reached. Until it answers, requests get 503.',
      );
      return;
    }
    const seconds = Math.round((nowMs - (this.#sinceMs ?? nowMs)) / secondMs);
    this.#sinceMs = undefined;
    this.#log.info(
      { seconds, refusedRequests: this.#refused },
      'The database can be reached again.',
    );
  };
}
