import { beforeEach, describe, expect, it } from 'vitest';
import type { LastActivity } from '../../../src/domain/records/activity.ts';
import type { Screen } from '../../../src/domain/records/rows.ts';
import type { OriginAnswer } from '../../../src/origin/origin.ts';
import {
  makeServedVersions,
  type ServedVersions,
} from '../../../src/service/playlists/served-versions.ts';
import type { Store } from '../../../src/store/store.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { turns } from '../../support/runtime/turns.ts';
import { playlistRow, screenRow } from '../../support/service/playlist-rows.ts';

let clock: ManualClock;
let marks: () => Promise<LastActivity>;
let served: ServedVersions;
let screen: Screen;
beforeEach(() => {
  clock = new ManualClock();
  marks = async () => ({});
  served = makeServedVersions({ marks: () => marks() } as Pick<Store, 'marks'>, clock);
  screen = screenRow({ deviceId: '0190a5b4-6f00-7c3e-9d2a-5b8f1e2c3d4e' });
});

/** The version in an answer of the object store. */
const asked = async (answer: OriginAnswer) =>
  served
    .notOlder({ name: 'object-store', fetch: async () => answer })
    .fetch(screen)
    .then(({ kind }) => kind)
    .catch(({ code }) => code);
const copy = (version: number): OriginAnswer => ({
  kind: 'playlist',
  playlist: playlistRow(screen, { version }),
});
const tombstone = (version: number): OriginAnswer => ({ kind: 'decided-none', version });

describe('served versions', () => {
  it('reject older playlists and withdrawals, and pass all other answers', async () => {
    served.note(screen.id, 3);
    served.note(screen.id, 2);
    expect(await asked(copy(2))).toBe('origin_outdated');
    expect(await asked(tombstone(2))).toBe('origin_outdated');
    expect(await asked(copy(3))).toBe('playlist');
    expect(await asked(tombstone(3))).toBe('decided-none');
    expect(await asked(copy(4))).toBe('playlist');
    expect(await asked({ kind: 'none' })).toBe('none');
    expect(await asked({ kind: 'decided-none' })).toBe('decided-none');
  });

  it('are separate per screen', async () => {
    served.note('another screen', 9);
    expect(await asked(copy(1))).toBe('playlist');
  });

  it('come from the TV’s activity record until this instance serves one', async () => {
    marks = async () => ({ lastPlaylistVersion: 5 });
    expect(await asked(copy(4))).toBe('origin_outdated');
    expect(await asked(copy(5))).toBe('playlist');
    served.note(screen.id, 1);
    expect(await asked(copy(4))).toBe('playlist');
  });

  it('reject no copy if the screen has no TV, or the store is unavailable', async () => {
    marks = async () => ({ lastPlaylistVersion: null });
    expect(await asked(copy(1))).toBe('playlist');
    marks = () => Promise.reject(new Error('injected'));
    expect(await asked(copy(1))).toBe('playlist');
    marks = () => new Promise(() => {});
    const waiting = asked(copy(1));
    await turns();
    clock.advance(1000);
    expect(await waiting).toBe('playlist');
    screen = screenRow();
    expect(await asked(copy(1))).toBe('playlist');
  });
});
