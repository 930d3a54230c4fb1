import type { z } from 'zod';
import { foldName } from '../domain/fold-name.ts';
import {
  contentMediaRow,
  mediaRow,
  mediaUsageRow,
  mediaUseRow,
  screenContentsRow,
  unusedMediaRow,
} from '../domain/media/rows.ts';
import { alarmRow, noticeLogRow, noticeRow, outboxRow, watchRow } from '../domain/notices/rows.ts';
import { loopRow, pastInputsRow } from '../domain/planned/rows.ts';
import { codeFinishedAt } from '../domain/records/pairing-code.ts';
import {
  campaignRow,
  claimRow,
  clockRow,
  codeRow,
  configRow,
  contentRow,
  creationRow,
  deviceKeyRow,
  deviceRow,
  largeContentRow,
  nameRow,
  pastContentRow,
  playlistRow,
  type StoredConfig,
  screenRow,
  tenantRow,
  tokenRow,
  venueRow,
} from '../domain/records/rows.ts';
import { contentsOfLayers, layersRow, pastScheduleRow } from '../domain/schedule/rows.ts';
import { statementLogRow, statementRow } from '../domain/statements/rows.ts';
import { webhookCursorRow, webhookDeliveryRow, webhookRow } from '../domain/webhooks/rows.ts';
import { shardNames } from './json/checkpoint/line-table.ts';
import { type Section, section } from './section.ts';

/** Returns the unique key of a name within its scope. */
export function nameKey(scope: string | null, name: string): string {
  return `${scope ?? ''}/${foldName(name)}`;
}

/**
 * A start opens each document, so more of them would make it slower. Fewer rows in each would save
 * little: a checkpoint comes after megabytes of changes, which concern most documents.
 */
const screenShards = 64;
const tenantDocument = () => 'rows-tenants';
const venueDocument = shardNames('rows-venues', 64);
const screenDocument = shardNames('rows-screens', screenShards);
/** Contents take most of the space. Playlists change independently. */
const playlistDocument = shardNames('rows-playlists', screenShards);
const contentDocument = shardNames('rows-contents', 256);
const pastPlaylistDocument = shardNames('disk-pastPlaylists', 256);
const pastContentDocument = shardNames('disk-pastContents', 256);
const layersDocument = shardNames('rows-layers', screenShards);
const pastScheduleDocument = shardNames('disk-pastSchedules', 256);
const pastInputsDocument = shardNames('disk-pastInputs', 256);
const loopDocument = shardNames('disk-loops', 64);
const campaignDocument = shardNames('rows-campaigns', 16);
const creativeDocument = shardNames('rows-creatives', 64);
const noticeDocument = shardNames('disk-notices', 256);
const statementDocument = shardNames('disk-statements', 256);
const creationDocument = shardNames('rows-creations', 64);
const webhookDocument = shardNames('rows-webhooks', 16);
const mediaDocument = shardNames('rows-media', 64);
const configDocument = { tenant: tenantDocument, venue: venueDocument, screen: screenDocument };

const minutesOf =
  (member: 'syncIntervalMinutes' | 'heartbeatIntervalMinutes') =>
  ({ config }: StoredConfig) =>
    config[member] ?? null;

/** Describes each stored row once, the same for every store, in the order of a dump. */
export const sections = {
  tenants: section({
    row: tenantRow,
    unique: { name: (row) => nameKey(null, row.name) },
    listed: true,
    document: tenantDocument,
  }),
  tokens: section({
    row: tokenRow,
    unique: {
      name: (row) => nameKey(row.tenantId, row.name),
      hash: (row) => row.hash,
      retiring: (row) => row.retiring?.hash,
    },
    indexed: ['tenantId', 'role'],
    listed: true,
    document: tenantDocument,
  }),
  venues: section({
    row: venueRow,
    unique: { name: (row) => nameKey(row.tenantId, row.name) },
    indexed: ['tenantId'],
    listed: true,
    topic: (id) => `venues/${id}`,
    document: (row) => venueDocument(row.id),
  }),
  screens: section({
    row: screenRow,
    unique: { name: (row) => nameKey(row.venueId, row.name) },
    indexed: ['tenantId', 'venueId'],
    listed: true,
    filters: ['state'],
    topic: (id) => `screens/${id}`,
    document: (row) => screenDocument(row.id),
  }),
  devices: section({
    row: deviceRow,
    unique: { bound: (row) => (row.state === 'bound' ? row.screenId : undefined) },
    indexed: ['tenantId', 'venueId', 'screenId'],
    listed: true,
    filters: ['state'],
    topic: (id) => `devices/${id}`,
    document: (row) => screenDocument(row.screenId),
  }),
  deviceKeys: section({
    row: deviceKeyRow,
    unique: { hash: (row) => row.hash },
    indexed: ['deviceId'],
    filters: ['screenId'],
    document: (row) => screenDocument(row.screenId),
  }),
  codes: section({
    row: codeRow,
    indexed: ['screenId'],
    numbers: { finishedAt: codeFinishedAt },
    topic: (id) => `codes/${id}`,
    document: (row) => screenDocument(row.screenId),
  }),
  contents: section({
    row: contentRow,
    document: ({ id }) => contentDocument(id),
    held: 'lines',
  }),
  largeContents: section({
    row: largeContentRow,
    indexed: ['tenantId'],
    document: ({ id }) => layersDocument(id),
  }),
  playlists: section({
    row: playlistRow,
    filters: ['contentId'],
    topic: (id) => `screens/${id}`,
    document: ({ id }) => playlistDocument(id),
    held: 'lines',
  }),
  pastPlaylists: section({
    row: playlistRow,
    indexed: ['screenId'],
    filters: ['contentId'],
    document: ({ id }) => pastPlaylistDocument(id.slice(0, id.indexOf('/'))),
    held: 'disk',
  }),
  pastContents: section({
    row: pastContentRow,
    document: ({ id }) => pastContentDocument(id),
    held: 'disk',
  }),
  campaigns: section({
    row: campaignRow,
    indexed: ['tenantId'],
    multiple: {
      bookedIn: ({ tenantId, client, bookedPlays, bookedSeconds }) =>
        (client ?? bookedPlays ?? bookedSeconds) === undefined ? [] : [tenantId],
    },
    listed: true,
    document: ({ id }) => campaignDocument(id),
  }),
  /** Names of creatives, for reports. */
  creatives: section({
    row: nameRow,
    document: ({ id }) => creativeDocument(id),
  }),
  layers: section({
    row: layersRow,
    multiple: { contentId: contentsOfLayers },
    listed: true,
    // The id is `<level>/<owner id>`.
    topic: (id) => id.replace('/', 's/'),
    document: ({ ownerId }) => layersDocument(ownerId),
  }),
  pastSchedules: section({
    row: pastScheduleRow,
    indexed: ['ownerId'],
    document: ({ id }) => pastScheduleDocument(id.slice(0, id.indexOf('/'))),
    held: 'disk',
  }),
  pastInputs: section({
    row: pastInputsRow,
    indexed: ['ownerId'],
    numbers: { until: ({ until }) => until },
    document: ({ id }) => pastInputsDocument(id.slice(0, id.indexOf('/'))),
    held: 'disk',
  }),
  loops: section({
    row: loopRow,
    numbers: { until: ({ until }) => until },
    document: ({ id }) => loopDocument(id),
    held: 'disk',
  }),
  configs: section({
    row: configRow,
    numbers: {
      syncMinutes: minutesOf('syncIntervalMinutes'),
      heartbeatMinutes: minutesOf('heartbeatIntervalMinutes'),
    },
    // The id is `<level>/<owner id>`.
    topic: (id) => id.replace('/', 's/'),
    document: (row) => configDocument[row.level](row.ownerId),
  }),
  media: section({
    row: mediaRow,
    indexed: ['tenantId', 'fileId'],
    listed: true,
    document: ({ id }) => mediaDocument(id),
  }),
  mediaUsage: section({
    row: mediaUsageRow,
    listed: true,
    document: ({ id }) => mediaDocument(id),
  }),
  contentMedia: section({
    row: contentMediaRow,
    multiple: { mediaId: ({ tenantId, mediaIds }) => mediaIds.map((id) => `${tenantId}/${id}`) },
    document: ({ id }) => mediaDocument(id),
  }),
  screenContents: section({
    row: screenContentsRow,
    multiple: { contentId: ({ contents }) => contents.map(({ id }) => id) },
    document: ({ id }) => layersDocument(id),
  }),
  mediaUses: section({
    row: mediaUseRow,
    indexed: ['mediaId'],
    listed: true,
    document: (row) => screenDocument(row.ownerId),
  }),
  unusedMedia: section({
    row: unusedMediaRow,
    listed: true,
    document: ({ id }) => mediaDocument(id),
  }),
  outbox: section({
    row: outboxRow,
    listed: true,
    topic: () => 'notices/outbox',
    document: () => 'rows-outbox',
  }),
  notices: section({
    row: noticeRow,
    indexed: ['bucket'],
    document: ({ id }) => noticeDocument(id.slice(0, id.indexOf('/'))),
    held: 'disk',
  }),
  noticeLogs: section({
    row: noticeLogRow,
    topic: () => 'notices/log',
    document: () => 'rows-noticeLogs',
  }),
  alarms: section({
    row: alarmRow,
    listed: true,
    document: () => 'rows-alarms',
  }),
  watches: section({
    row: watchRow,
    document: () => 'rows-watches',
  }),
  clocks: section({
    row: clockRow,
    document: () => 'rows-watches',
  }),
  webhooks: section({
    row: webhookRow,
    indexed: ['tenantId'],
    listed: true,
    topic: (id) => `webhooks/${id}`,
    document: ({ id }) => webhookDocument(id),
  }),
  webhookCursors: section({
    row: webhookCursorRow,
    document: ({ id }) => webhookDocument(id),
  }),
  webhookDeliveries: section({
    row: webhookDeliveryRow,
    indexed: ['webhookId', 'pendingOf'],
    document: ({ webhookId }) => webhookDocument(webhookId),
  }),
  statementLogs: section({
    row: statementLogRow,
    indexed: ['tenantId'],
    listed: true,
    document: () => 'rows-statementLogs',
  }),
  statements: section({
    row: statementRow,
    indexed: ['owner'],
    document: ({ id }) => statementDocument(id.slice(0, id.indexOf('/'))),
    held: 'disk',
  }),
  creations: section({
    row: creationRow,
    unique: { request: (row) => row.request },
    indexed: ['tokenId'],
    listed: true,
    document: (row) => creationDocument(row.id),
  }),
  claims: section({
    row: claimRow,
    indexed: ['shard'],
    listed: true,
    topic: (id) => `claims/${id}`,
    document: () => 'rows-claims',
    isShortLived: true,
  }),
};

export type TableName = keyof typeof sections;
/** The row types of all tables. */
export type Rows = { [T in TableName]: z.infer<(typeof sections)[T]['row']> };
export type UniqueOf<T extends TableName> = keyof (typeof sections)[T]['unique'] & string;
export type IndexOf<T extends TableName> = (typeof sections)[T]['indexed'][number];
export type MultipleOf<T extends TableName> = keyof (typeof sections)[T]['multiple'] & string;
export type ListedTable = {
  [T in TableName]: (typeof sections)[T]['listed'] extends true ? T : never;
}[TableName];

export const tableNames = Object.keys(sections) as TableName[];

/** Returns the section of a table without the type of its rows. */
export function sectionOf(table: TableName): Section {
  return sections[table] as unknown as Section;
}
