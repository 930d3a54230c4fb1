import { expect, it } from 'vitest';
import { SignageError } from '../../src/domain/error.ts';
import { type Tally, TallyKeeper } from '../../src/simulator/tally.ts';

it('counts, and keeps the first message of each kind of failure', () => {
  const seen: Tally[] = [];
  const keeper = new TallyKeeper(2, (tally) => seen.push(tally));
  keeper.add('registered');
  keeper.add('eventsSent', 10);
  keeper.fail(new SignageError('unreachable', 'first'));
  keeper.fail(new SignageError('unreachable', 'second'));
  keeper.fail(new SignageError('playlist_fetch_failed', 'other'));
  keeper.fail(new TypeError('ours'));
  const { failures, ...counts } = keeper.view();
  expect(counts).toEqual({
    tvs: 2,
    registered: 1,
    playlistsFetched: 0,
    playlistsUnchanged: 0,
    playlistsMissing: 0,
    configsFetched: 0,
    eventsSent: 10,
    eventsAcknowledged: 0,
    eventsFound: 0,
  });
  expect(failures).toEqual([
    { code: 'playlist_fetch_failed', count: 1, message: 'other' },
    { code: 'unexpected', count: 1, message: 'ours' },
    { code: 'unreachable', count: 2, message: 'first' },
  ]);
  expect(seen).toHaveLength(6);
  expect(seen[0]).toMatchObject({ registered: 1, eventsSent: 0, failures: [] });
});
