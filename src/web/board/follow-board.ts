import { secondMs } from '../../domain/clock.ts';
import type { BoardState } from '../../domain/conditions/board-state.ts';

const retryMs = 5 * secondMs;
/** Longer than the server holds a request. */
const timeoutMs = 40 * secondMs;
const endedStatus = 410;

/** What the page hears of its server. */
export interface BoardNews {
  onState(state: BoardState): void;
  /** The server does not answer. */
  onSilence(): void;
  /** The server has ended, for this reason. */
  onEnd(reason: string): void;
}

const pause = () => new Promise<void>((resolve) => void setTimeout(resolve, retryMs));

/** Resolves when somebody can see the page: a forgotten tab is no viewer. */
const untilVisible = () =>
  new Promise<void>((resolve) => {
    const look = () => {
      if (document.hidden) return;
      document.removeEventListener('visibilitychange', look);
      resolve();
    };
    document.addEventListener('visibilitychange', look);
    look();
  });

/** Follows the state by long poll, until the server says that it ends. */
export async function followBoard(news: BoardNews): Promise<void> {
  let revision = 0;
  for (;;) {
    await untilVisible();
    const aborted = new AbortController();
    const timer = setTimeout(() => aborted.abort(), timeoutMs);
    try {
      const response = await fetch(`state?after=${revision}`, { signal: aborted.signal });
      if (response.status === endedStatus) return void news.onEnd((await response.text()).trim());
      if (!response.ok) throw new Error(`The server answers ${response.status}.`);
      const state = (await response.json()) as BoardState;
      revision = state.revision;
      news.onState(state);
    } catch {
      news.onSilence();
      revision = 0;
      await pause();
    } finally {
      clearTimeout(timer);
    }
  }
}
