import { get, type Operation, remove, store } from '../operation.ts';

/** Files that the service keeps for playlists (docs/protocol.md §5.14). */
export const mediaOperations = {
  putMedia: store('/v1/media/:id', 'operator', {
    summary: 'Upload a file, whole or in parts; the id is its SHA-256',
    query: 'mediaUploadQuery',
    upload: true,
    answer: 'media',
    otherAnswers: { 200: 'media', 202: 'mediaUpload' },
    errors: [
      'digest_mismatch',
      'media_offset',
      'media_too_large',
      'media_quota_exceeded',
      'media_not_accepted',
      'not_supported',
    ],
  }),
  getMediaUpload: get('/v1/media/:id/upload', 'operator', {
    summary: 'Get how much of an upload in parts has arrived',
    answer: 'mediaUpload',
    searches: true,
    errors: ['media_not_found', 'not_supported'],
  }),
  listMedia: get('/v1/media', 'viewer', {
    summary: 'List files',
    query: 'mediaQuery',
    answer: 'mediaList',
    command: ['media', 'list'],
  }),
  getMedia: get('/v1/media/:id', 'viewer', {
    summary: 'Get a file: its name, type and size',
    record: 'media',
    answer: 'media',
    command: ['media', 'get'],
  }),
  deleteMedia: remove('/v1/media/:id', 'operator', {
    summary: 'Delete a file that no playlist names; force=true also deletes one that is in use',
    record: 'media',
    query: 'mediaDeletionQuery',
    errors: ['media_in_use'],
    command: ['media', 'delete'],
  }),
} satisfies Record<string, Operation>;
