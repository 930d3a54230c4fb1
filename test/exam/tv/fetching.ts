// The loops of a TV that fetch config and playlist: by polling and by `GET …/changes`.
import type { TvCore } from './tv-core.ts';
import type { TvAnswer } from './tv-request.ts';

/** Longest sleep, after which the TV looks whether its interval has changed. */
const stepMs = 2000;

const isFetched = ({ status, code }: TvAnswer) =>
  status === 200 || status === 304 || code === 'playlist_not_found';

async function fetchConfig(core: TvCore): Promise<void> {
  const { state, habits } = core;
  const headers = { 'If-None-Match': habits.sendsEtags ? state.configEtag : undefined };
  const call = { operation: 'config', method: 'GET', path: 'config', headers } as const;
  const { status, json, etag } = await core.callUntil(call, isFetched, (failed) => {
    state.config = habits.configAfterFailure(state.config, failed);
  });
  if (status !== 200) return;
  state.config = habits.nextConfig(state.config, json);
  state.configEtag = etag;
}

async function fetchPlaylist(core: TvCore): Promise<void> {
  const { state, habits } = core;
  const headers = { 'If-None-Match': habits.sendsEtags ? state.playlistEtag : undefined };
  const call = { operation: 'playlist', method: 'GET', path: 'playlist', headers } as const;
  const { status, json, etag } = await core.callUntil(call, isFetched);
  if (status === 200) {
    state.playlist = habits.nextPlaylist(state.playlist, json);
    state.playlistEtag = etag;
  }
  if (status === 404) {
    state.playlist = habits.playlistAfter404(state.playlist);
    delete state.playlistEtag;
  }
}

/** Waits for an interval with jitter. A change of the interval has effect at once. */
async function sleepInterval(core: TvCore, intervalMs: () => number): Promise<void> {
  const startedMs = core.now();
  const factor = core.habits.jitter(1);
  const leftMs = () => startedMs + factor * intervalMs() - core.now();
  for (let ms = leftMs(); ms > 0; ms = leftMs()) await core.sleep(Math.min(ms, stepMs));
}

export async function pollConfig(core: TvCore): Promise<void> {
  for (;;) {
    await fetchConfig(core);
    await sleepInterval(core, () => core.habits.pollMs(core.syncMs));
  }
}

export async function pollPlaylist(core: TvCore): Promise<void> {
  for (;;) {
    await fetchPlaylist(core);
    const isAbsent = core.lastStatus.playlist === 404;
    const { habits } = core;
    await sleepInterval(core, () => {
      return isAbsent ? habits.absentMs(core.syncMs) : habits.pollMs(core.syncMs);
    });
  }
}

/** Fetches what differs from the answer of `GET …/changes`. */
async function fetchDifferences(core: TvCore, { json }: TvAnswer): Promise<void> {
  const { state } = core;
  if (json.config.etag !== state.configEtag) await fetchConfig(core);
  if (json.playlist?.etag !== state.playlistEtag) await fetchPlaylist(core);
}

/** Asks `GET …/changes` all the time (docs/protocol.md §2.9). */
export async function holdChanges(core: TvCore): Promise<void> {
  const { habits } = core;
  let cursor: string | undefined;
  let waitSeconds = 50;
  let earlyCuts = 0;
  let failures = 0;
  for (;;) {
    const startedMs = core.now();
    const query = cursor === undefined ? '' : `?after=${cursor}&waitSeconds=${waitSeconds}`;
    const answer = await core.call({
      operation: 'changes',
      method: 'GET',
      path: `changes${query}`,
    });
    const elapsedMs = core.now() - startedMs;
    if (answer.status === 200) {
      failures = 0;
      earlyCuts = 0;
      const isChanged = answer.json.cursor !== cursor;
      cursor = answer.json.cursor;
      if (habits.fetchesChanges) await fetchDifferences(core, answer);
      await core.sleep(habits.changesPauseMs(isChanged, elapsedMs));
    } else if ([404, 405, 501].includes(answer.status)) {
      await core.sleep(habits.changesAfter404Ms);
    } else if (answer.status === 0) {
      const isEarly = elapsedMs < 5000;
      earlyCuts = isEarly ? earlyCuts + 1 : 0;
      // `waitSeconds` is in seconds of the service, whatever the pace of the TV.
      const elapsedSeconds = elapsedMs / 1000 / core.options.clock.pace;
      if (!isEarly) waitSeconds = habits.waitSecondsAfterCut(elapsedSeconds);
      if (earlyCuts < 3) await core.sleep(habits.changesPauseMs(false, elapsedMs));
      else await core.sleep(core.syncMs);
    } else {
      failures++;
      await core.sleep(habits.retryMs(core.failureOf('changes', answer, failures)));
    }
  }
}
