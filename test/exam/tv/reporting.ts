// The loops of a TV that play items and report events.
import type { TvCore } from './tv-core.ts';
import type { TvBatch } from './tv-memory.ts';
import type { TvAnswer } from './tv-request.ts';

/** How often the TV looks whether its playlist is still to be played. */
const stepMs = 500;

/** Plays one item until its end, or until its playlist may not be played any more. */
async function playItem(core: TvCore, place: number): Promise<void> {
  const { playlist } = core.state;
  const item = playlist?.items[place % playlist.items.length];
  if (!playlist || !item) return core.sleep(stepMs);
  const startedMs = core.now();
  const isOn = () => {
    const { playlist: current } = core.state;
    const isValid = current?.id === playlist.id && core.now() < playlist.validUntil * 1000;
    return isValid && !isDark();
  };
  const isDark = () => {
    const status = core.offlineMs > 0 ? 0 : core.lastStatus.playlist;
    return core.habits.isDark(status, core.isFresh);
  };
  const endMs = startedMs + item.duration * 1000;
  while (isOn() && core.now() < endMs) await core.sleep(Math.min(stepMs, endMs - core.now()));
  const duration = Math.round((core.now() - startedMs) / 100) / 10;
  const { creativeId, campaignId } = item;
  if (campaignId && duration > 0)
    core.addEvent('impression', { playlistId: playlist.id, creativeId, campaignId, duration });
  if (!isOn()) await core.sleep(stepMs);
}

export async function play(core: TvCore): Promise<void> {
  let place = 0;
  let version: number | undefined;
  for (;;) {
    if (core.state.playlist?.version !== version) place = 0;
    version = core.state.playlist?.version;
    await playItem(core, place);
    place = core.habits.nextPlace(place);
  }
}

/** Returns the indexes that the `errors` of a 400 name, such as `/3/timestamp`. */
function namedIndexes({ json }: TvAnswer): Set<number> {
  const errors: { path: string }[] = json.errors ?? [];
  return new Set(errors.map(({ path }) => Number.parseInt(path.slice(1), 10)));
}

/** Returns the batches that take the place of a batch, or `undefined` to send it again later. */
function settled(core: TvCore, batch: TvBatch, answer: TvAnswer): TvBatch[] | undefined {
  const { habits } = core;
  if (answer.status === 202) return habits.afterAccepted(batch);
  if (answer.status === 413) return habits.parts(batch);
  if (answer.code === 'idempotency_key_reused') return [{ ...batch, key: habits.batchKey() }];
  if (answer.status === 400) return habits.repaired(batch, namedIndexes(answer));
  return undefined;
}

/** Sends all events in batches, one after another. */
async function sendEvents(core: TvCore): Promise<void> {
  const { state, habits } = core;
  let failures = 0;
  while (state.batches.length > 0 || state.queue.length > 0) {
    if (state.batches.length === 0)
      state.batches.push({ key: habits.batchKey(), events: state.queue.splice(0, 100) });
    const [batch] = state.batches as [TvBatch];
    const answer = await core.call({
      operation: 'events',
      method: 'POST',
      path: 'events',
      headers: {
        'Idempotency-Key': batch.key,
        'X-Device-Time': habits.deviceTime(core.now(), batch),
      },
      body: JSON.stringify(batch.events),
    });
    const instead = settled(core, batch, answer);
    if (instead) {
      failures = 0;
      state.batches.splice(0, 1, ...instead);
      continue;
    }
    failures++;
    const failure = core.failureOf('events', answer, failures);
    const retry = habits.batchForRetry(batch, failure);
    state.batches.splice(0, 1, ...(retry ? [retry] : []));
    await core.sleep(habits.retryMs(failure));
  }
}

export async function beat(core: TvCore): Promise<void> {
  for (;;) {
    core.addEvent('heartbeat');
    await core.sleep(core.habits.jitter(core.habits.heartbeatMs(core.state.config)));
  }
}

export async function report(core: TvCore): Promise<void> {
  const { habits, state } = core;
  for (;;) {
    await sendEvents(core);
    const heartbeatMs = habits.heartbeatMs(state.config);
    await core.sleep(habits.jitter(heartbeatMs * habits.heartbeatsPerReport));
  }
}
