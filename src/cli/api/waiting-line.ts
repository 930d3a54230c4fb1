import type { Retry } from '../../client/retry.ts';
import { secondMs } from '../../domain/clock.ts';
import type { Environment } from '../command/environment.ts';
import { escapeControl } from '../terminal/escape.ts';

const patienceMs = 2 * secondMs;

/**
 * Returns a listener for the retries of a client. It shows a line on `stderr` while a call waits
 * for its service for more than two seconds. Returns `undefined` unless `stderr` is a terminal.
 */
export function makeWaitingLine(
  { io, clock }: Pick<Environment, 'io' | 'clock'>,
  service: string,
): ((retry: Retry | undefined) => void) | undefined {
  const { stderr } = io;
  if (!stderr.isTTY || io.env.TERM === 'dumb') return undefined;
  let failedMs: number | undefined;
  let isShown = false;
  let cancel = () => {};

  function show({ error, attempt, attempts }: Retry, dueMs: number): void {
    const seconds = Math.max(1, Math.ceil((dueMs - clock.now()) / secondMs));
    const problem = error.status === undefined ? 'does not answer' : `answered ${error.status}`;
    const text = `${service} ${problem}. Attempt ${attempt + 1} of ${attempts} in ${seconds} s; Ctrl-C stops.`;
    stderr.write(`\r\u001b[K${escapeControl(text).slice(0, (stderr.columns ?? 80) - 1)}`);
    isShown = true;
    cancel = clock.after(secondMs, () => show({ error, attempt, attempts, delayMs: 0 }, dueMs));
  }

  return (retry) => {
    cancel();
    if (!retry) {
      if (isShown) stderr.write('\r\u001b[K');
      isShown = false;
      failedMs = undefined;
      return;
    }
    const nowMs = clock.now();
    failedMs ??= nowMs;
    const waitMs = Math.max(0, failedMs + patienceMs - nowMs);
    cancel = clock.after(waitMs, () => show(retry, nowMs + retry.delayMs));
  };
}
