import { beforeEach, describe, expect, it } from 'vitest';
import type { LastActivity, Screen } from '../../../src/domain/records/rows.ts';
import type { OriginAnswer } from '../../../src/origin/origin.ts';
import {
  makeServedVersions,
  type ServedVersions,
} from '../../../src/service/playlists/served-versions.ts';
import type { Store } from '../../../src/store/store.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { playlistRow, screenRow } from '../../support/playlist-rows.ts';
import { turns } from '../../support/turns.ts';

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

/** What is left of an answer of the object store. */
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

describe('the versions that were served', () => {
  it('fail what is older, be it a playlist or a withdrawal, and let the rest through', async () => {
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

  it('are those of the screen that asks', async () => {
    served.note('another screen', 9);
    expect(await asked(copy(1))).toBe('playlist');
  });

  it('are what the store noted of the TV before this start, until one is served', async () => {
    marks = async () => ({ lastPlaylistVersion: 5 });
    expect(await asked(copy(4))).toBe('origin_outdated');
    expect(await asked(copy(5))).toBe('playlist');
    served.note(screen.id, 1);
    expect(await asked(copy(4))).toBe('playlist');
  });

  it('are none where the TV has none, and where the store cannot tell', async () => {
    marks = async () => ({ lastPlaylistVersion: null });
    expect(await asked(copy(1))).toBe('playlist');
    marks = () => Promise.reject(new Error('planted'));
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
