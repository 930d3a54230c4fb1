import type { Operation } from '../operation.ts';

/** The copies of playlists in the object store (docs/protocol.md §5.4). */
export const mirrorOperations = {
  listMirror: {
    method: 'GET',
    path: '/v1/mirror',
    access: 'operator',
    summary: 'The copies of playlists in the object store, by screen',
    query: 'mirrorQuery',
    status: 200,
    answer: 'mirrorList',
    errors: ['not_supported'],
    command: ['playlist', 'mirror'],
  },
  repairMirror: {
    method: 'POST',
    path: '/v1/mirror/repair',
    access: 'operator',
    summary: 'Have every copy looked at, and mended where it differs',
    status: 200,
    answer: 'mirrorRepair',
    errors: ['not_supported'],
    command: ['playlist', 'mirror'],
  },
} as const satisfies Record<string, Operation>;
