import { get, type Operation, post, put, remove } from '../operation.ts';

/** Stored playlists, and their copies in the object store (docs/protocol.md §5.4). */
export const playlistOperations = {
  publishPlaylist: put('/v1/screens/:id/playlist', 'operator', {
    summary: 'Publish the playlist of a screen',
    revision: true,
    record: 'screen',
    body: 'publication',
    partLimit: 50_000,
    answer: 'publishedPlaylist',
    errors: ['media_not_found', 'playlist_quota_exceeded'],
    command: ['playlist', 'publish'],
  }),
  publishMany: post('/v1/publications', 'operator', {
    summary:
      'Publish, withdraw or roll back the playlists of up to 1,000 screens, or take them over',
    body: 'bulkPublication',
    partLimit: 50_000,
    headers: ['Idempotency-Key'],
    answer: 'bulkResults',
    errors: ['venue_not_found', 'media_not_found', 'playlist_quota_exceeded'],
    command: ['playlist', 'publish'],
  }),
  readPlaylist: get('/v1/screens/:id/playlist', 'viewer', {
    summary: 'Get the playlist of a screen',
    revision: true,
    record: 'screen',
    answer: 'playlist',
    errors: ['playlist_not_found'],
    command: ['playlist', 'get'],
  }),
  withdrawPlaylist: remove('/v1/screens/:id/playlist', 'operator', {
    summary: 'Withdraw the playlist of a screen',
    revision: true,
    record: 'screen',
    command: ['playlist', 'withdraw'],
  }),
  refreshPlaylist: post('/v1/screens/:id/playlist/refresh', 'operator', {
    summary: 'Ask the on-demand source for the playlist of a screen now',
    record: 'screen',
    answer: 'playlistRefresh',
    errors: ['playlist_not_found', 'not_supported', 'playlist_fetch_failed'],
    command: ['playlist', 'refresh'],
  }),
  listPlaylistVersions: get('/v1/screens/:id/playlists', 'viewer', {
    summary: 'List the last 20 playlist versions of a screen, newest first',
    record: 'screen',
    query: 'playlistVersionsQuery',
    answer: 'playlistVersions',
    command: ['playlist', 'history'],
  }),
  listMirror: get('/v1/mirror', 'operator', {
    summary: 'List the copies of playlists in the object store, by screen',
    query: 'mirrorQuery',
    answer: 'mirrorList',
    errors: ['not_supported'],
    command: ['playlist', 'mirror'],
  }),
  repairMirror: post('/v1/mirror/repair', 'operator', {
    summary: 'Queue all copies for a check and, where they differ, a repair',
    answer: 'mirrorRepair',
    errors: ['not_supported'],
    command: ['playlist', 'mirror'],
  }),
} satisfies Record<string, Operation>;
