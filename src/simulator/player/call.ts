import type { RuntimeClient } from '../../client/runtime-client.ts';
import { SignageError } from '../../domain/error.ts';
import { handleAuthError } from './auth-errors.ts';
import type { PlayerCore } from './core.ts';
import type { RuntimeOperation } from './observer.ts';

/** The operation of a call, and how to derive the status of a successful response. */
export interface PlayerCall<T> {
  operation: RuntimeOperation;
  statusOf(answer: T): number;
}

/**
 * Makes one attempt and reports its outcome to the observer. Throws the errors of the client. A
 * power cut aborts it.
 */
export async function callOnce<T>(
  core: PlayerCore,
  { operation, statusOf }: PlayerCall<T>,
  send: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const startedAtMs = core.clock.now();
  const report = (status: number | undefined, code?: string) => {
    const atMs = core.clock.now();
    core.reportAnswer({ operation, status, code, ms: atMs - startedAtMs, atMs });
  };
  try {
    const answer = await core.hold(() => core.abortable(send));
    report(statusOf(answer));
    return answer;
  } catch (error) {
    // An aborted call has no outcome to report.
    if (error instanceof SignageError && error.code !== 'interrupted')
      report(error.status, error.code);
    throw error;
  }
}

/**
 * Makes one attempt with the TV's key. A 401 is handled before it is thrown, so the binding may be
 * gone by then.
 */
export async function callWithKey<T>(
  core: PlayerCore,
  call: PlayerCall<T>,
  send: (client: RuntimeClient, id: string, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { bound } = core;
  try {
    const answer = await callOnce(core, call, (signal) => send(bound.client, bound.id, signal));
    // The current key works, so a later rejection may try the other key again.
    if (core.state.formerKey?.isRefused && core.bound === bound)
      core.record.change({ formerKey: { apiKey: core.state.formerKey.apiKey } });
    return answer;
  } catch (error) {
    // A response to an old key says nothing about the current one.
    if (
      error instanceof SignageError &&
      error.status === 401 &&
      core.state.binding &&
      core.bound === bound
    )
      await handleAuthError(core, error);
    throw error;
  }
}
