import type { RuntimeClient } from '../../client/runtime-client.ts';
import { SignageError } from '../../domain/error.ts';
import { handleAuthError } from './auth-errors.ts';
import type { PlayerCore } from './core.ts';
import type { RuntimeOperation } from './observer.ts';

/** What one call is, and which status stands for its answer. */
export interface PlayerCall<T> {
  operation: RuntimeOperation;
  statusOf(answer: T): number;
}

/** Makes one try of a call, and tells how it ended. Errors are the client's; a power cut breaks it off. */
export async function callOnce<T>(
  core: PlayerCore,
  { operation, statusOf }: PlayerCall<T>,
  send: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const startedAtMs = core.clock.now();
  const tell = (status: number | undefined, code?: string) => {
    const atMs = core.clock.now();
    core.tellAnswer({ operation, status, code, ms: atMs - startedAtMs, atMs });
  };
  try {
    const answer = await core.hold(() => core.breakable(send));
    tell(statusOf(answer));
    return answer;
  } catch (error) {
    // What was broken off has no end to tell of.
    if (error instanceof SignageError && error.code !== 'interrupted')
      tell(error.status, error.code);
    throw error;
  }
}

/** Likewise with the TV's key. A 401 is obeyed before it is thrown: the binding may be gone then. */
export async function callWithKey<T>(
  core: PlayerCore,
  call: PlayerCall<T>,
  send: (client: RuntimeClient, id: string, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { bound } = core;
  try {
    const answer = await callOnce(core, call, (signal) => send(bound.client, bound.id, signal));
    // It works: should it be refused some day, the other one is worth a try again.
    if (core.state.formerKey?.isRefused && core.bound === bound)
      core.record.change({ formerKey: { apiKey: core.state.formerKey.apiKey } });
    return answer;
  } catch (error) {
    // An answer to a key that is no longer in use says nothing of the new one.
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
