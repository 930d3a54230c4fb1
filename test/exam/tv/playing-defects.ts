import { correctHabits, type Habits } from './habits.ts';
import type { SeededDefect } from './seeded-defect.ts';
import { defaultConfig, type TvPlaylist } from './tv-memory.ts';

const { retryMs } = correctHabits;
const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

/** A cache that takes all versions of a playlist for one, because they have one id. */
function keptItems(): Partial<Habits> {
  const kept = new Map<string, TvPlaylist>();
  return {
    nextPlaylist: (_current, next) => {
      const playlist = kept.get(next.id) ?? next;
      kept.set(next.id, playlist);
      return playlist;
    },
  };
}

/** Defects of polling, playing and `GET …/changes`. */
export const playingDefects: Readonly<Record<string, SeededDefect>> = {
  'never fetches its config': {
    habits: { fetchesConfig: false },
    fails: ['tv.config.fetched'],
  },
  'never fetches its playlist': {
    habits: { fetchesPlaylist: false },
    fails: ['tv.playlist.fetched', 'tv.playlist.impressions'],
  },
  'polls more often than the config says': {
    habits: { pollMs: (syncMs) => syncMs / 4 },
    fails: ['tv.config.sync-interval'],
  },
  'sends heartbeats too rarely': {
    habits: { heartbeatMs: (config) => 3 * config.heartbeatIntervalMinutes * minuteMs },
    fails: ['tv.config.heartbeat-interval'],
  },
  'ignores a new config': {
    habits: { nextConfig: (current) => current },
    fails: ['tv.config.new-interval', 'tv.playlist.asks-after-404'],
  },
  'goes back to the default config after a 500': {
    habits: {
      configAfterFailure: (current, status) => (status === 500 ? defaultConfig : current),
    },
    fails: ['tv.config.keeps-on-500'],
    needsFullExam: true,
  },
  'never sends If-None-Match': {
    habits: { sendsEtags: false },
    fails: ['tv.config.conditional', 'tv.playlist.conditional'],
  },
  'skips every second item': {
    habits: { nextPlace: (place) => place + 2 },
    fails: ['tv.playlist.order'],
  },
  'keeps the items of a playlist by its id': {
    habits: keptItems(),
    fails: ['tv.playlist.new-version', 'tv.playlist.plays-again'],
  },
  'goes dark after a 500': {
    habits: { isDark: (status) => status === 500 },
    fails: ['tv.playlist.plays-on-500'],
  },
  'shows a withdrawn playlist': {
    habits: { playlistAfter404: (current) => current },
    fails: ['tv.playlist.stops-on-404'],
  },
  'polls fast while there is no playlist': {
    habits: { absentMs: () => 3000 },
    fails: ['tv.playlist.asks-after-404'],
  },
  'never asks again after a 404': {
    habits: { absentMs: () => dayMs },
    fails: ['tv.playlist.asks-after-404'],
  },
  'stops for good without a network': {
    habits: {
      retryMs: (failure) =>
        failure.status === 0 && failure.failures > 3 ? dayMs : retryMs(failure),
    },
    fails: ['tv.network.comes-back'],
    needsFullExam: true,
  },
  'goes dark without a network': {
    habits: { isDark: (status) => status === 0 },
    fails: ['tv.network.plays-on', 'tv.power.plays-without-network'],
  },
  'waits for the network before it plays': {
    habits: { isDark: (_status, isFresh) => isFresh },
    fails: ['tv.power.plays-without-network'],
  },
  'asks for changes without a pause': {
    habits: { holdsChanges: true, changesPauseMs: () => 0 },
    fails: ['tv.changes.no-hot-loop'],
  },
  'does not fetch what has changed': {
    habits: { holdsChanges: true, fetchesChanges: false },
    fails: ['tv.changes.fetches-change'],
  },
  'stops polling while it holds changes': {
    habits: { holdsChanges: true, fetchesConfig: false, fetchesPlaylist: false },
    fails: ['tv.changes.keeps-syncing'],
  },
  'asks for the same hold after a cut': {
    habits: { holdsChanges: true, waitSecondsAfterCut: () => 50 },
    fails: ['tv.changes.cut-shorter'],
  },
  'asks for changes again after a 404': {
    habits: { holdsChanges: true, changesAfter404Ms: 30_000 },
    fails: ['tv.changes.404-stops'],
  },
  'asks for changes again before Retry-After': {
    habits: {
      holdsChanges: true,
      retryMs: (failure) =>
        retryMs(
          failure.operation === 'changes' ? { ...failure, retryAfterMs: undefined } : failure,
        ),
    },
    fails: ['tv.changes.503-waits'],
  },
};
