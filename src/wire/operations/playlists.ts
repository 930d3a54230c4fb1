import type { Operation } from '../operation.ts';

/** Stored playlists (docs/protocol.md §5.4). */
export const playlistOperations = {
  publishPlaylist: {
    method: 'PUT',
    path: '/v1/screens/:id/playlist',
    access: 'operator',
    summary: 'Publish the playlist of a screen',
    record: 'screen',
    body: 'publication',
    partLimit: 50_000,
    status: 200,
    answer: 'playlist',
    command: ['playlist', 'publish'],
  },
  readPlaylist: {
    method: 'GET',
    path: '/v1/screens/:id/playlist',
    access: 'viewer',
    summary: 'The playlist of a screen',
    record: 'screen',
    status: 200,
    answer: 'playlist',
    errors: ['playlist_not_found'],
    command: ['playlist', 'get'],
  },
  withdrawPlaylist: {
    method: 'DELETE',
    path: '/v1/screens/:id/playlist',
    access: 'operator',
    summary: 'Withdraw the playlist of a screen',
    record: 'screen',
    status: 204,
    command: ['playlist', 'withdraw'],
  },
  listPlaylistVersions: {
    method: 'GET',
    path: '/v1/screens/:id/playlists',
    access: 'viewer',
    summary: 'The last 20 playlist versions of a screen, newest first',
    record: 'screen',
    query: 'playlistVersionsQuery',
    status: 200,
    answer: 'playlistVersions',
    command: ['playlist', 'history'],
  },
} as const satisfies Record<string, Operation>;
