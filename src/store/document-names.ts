import { shardNames } from './json/checkpoint/line-table.ts';

/**
 * A start opens each document, so more of them would make it slower. Fewer rows in each would save
 * little: a checkpoint comes after megabytes of changes, which concern most documents.
 */
const screenShards = 64;

/** Names of the documents in which the embedded store holds rows, by an id (`Section.document`). */
export const documentOf = {
  tenant: () => 'rows-tenants',
  venue: shardNames('rows-venues', 64),
  screen: shardNames('rows-screens', screenShards),
  /** Contents take most of the space. Playlists change independently. */
  playlist: shardNames('rows-playlists', screenShards),
  content: shardNames('rows-contents', 256),
  pastPlaylist: shardNames('disk-pastPlaylists', 256),
  pastContent: shardNames('disk-pastContents', 256),
  layers: shardNames('rows-layers', screenShards),
  pastSchedule: shardNames('disk-pastSchedules', 256),
  pastInputs: shardNames('disk-pastInputs', 256),
  loop: shardNames('disk-loops', 64),
  campaign: shardNames('rows-campaigns', 16),
  creative: shardNames('rows-creatives', 64),
  notice: shardNames('disk-notices', 256),
  statement: shardNames('disk-statements', 256),
  creation: shardNames('rows-creations', 64),
  webhook: shardNames('rows-webhooks', 16),
  media: shardNames('rows-media', 64),
};
