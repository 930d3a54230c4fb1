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
import { documentOf } from './document-names.ts';
import { type Section, section } from './section.ts';
import { waitingSections } from './waiting-sections.ts';

/** Returns the unique key of a name within its scope. */
export function nameKey(scope: string | null, name: string): string {
  return `${scope ?? ''}/${foldName(name)}`;
}

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
    document: documentOf.tenant,
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
    document: documentOf.tenant,
  }),
  venues: section({
    row: venueRow,
    unique: { name: (row) => nameKey(row.tenantId, row.name) },
    indexed: ['tenantId'],
    listed: true,
    topic: (id) => `venues/${id}`,
    document: (row) => documentOf.venue(row.id),
  }),
  screens: section({
    row: screenRow,
    unique: { name: (row) => nameKey(row.venueId, row.name) },
    indexed: ['tenantId', 'venueId'],
    listed: true,
    filters: ['state'],
    topic: (id) => `screens/${id}`,
    document: (row) => documentOf.screen(row.id),
  }),
  devices: section({
    row: deviceRow,
    unique: { bound: (row) => (row.state === 'bound' ? row.screenId : undefined) },
    indexed: ['tenantId', 'venueId', 'screenId'],
    listed: true,
    filters: ['state'],
    topic: (id) => `devices/${id}`,
    document: (row) => documentOf.screen(row.screenId),
  }),
  deviceKeys: section({
    row: deviceKeyRow,
    unique: { hash: (row) => row.hash },
    indexed: ['deviceId'],
    filters: ['screenId'],
    document: (row) => documentOf.screen(row.screenId),
  }),
  codes: section({
    row: codeRow,
    indexed: ['screenId'],
    numbers: { finishedAt: codeFinishedAt },
    topic: (id) => `codes/${id}`,
    document: (row) => documentOf.screen(row.screenId),
  }),
  contents: section({
    row: contentRow,
    document: ({ id }) => documentOf.content(id),
    held: 'lines',
  }),
  largeContents: section({
    row: largeContentRow,
    indexed: ['tenantId'],
    document: ({ id }) => documentOf.layers(id),
  }),
  playlists: section({
    row: playlistRow,
    filters: ['contentId'],
    topic: (id) => `screens/${id}`,
    document: ({ id }) => documentOf.playlist(id),
  }),
  pastPlaylists: section({
    row: playlistRow,
    indexed: ['screenId'],
    filters: ['contentId'],
    document: ({ id }) => documentOf.pastPlaylist(id.slice(0, id.indexOf('/'))),
    held: 'disk',
  }),
  pastContents: section({
    row: pastContentRow,
    document: ({ id }) => documentOf.pastContent(id),
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
    document: ({ id }) => documentOf.campaign(id),
  }),
  /** Names of creatives, for reports. */
  creatives: section({
    row: nameRow,
    document: ({ id }) => documentOf.creative(id),
  }),
  layers: section({
    row: layersRow,
    multiple: { contentId: contentsOfLayers },
    listed: true,
    // The id is `<level>/<owner id>`.
    topic: (id) => id.replace('/', 's/'),
    document: ({ ownerId }) => documentOf.layers(ownerId),
  }),
  pastSchedules: section({
    row: pastScheduleRow,
    indexed: ['ownerId'],
    document: ({ id }) => documentOf.pastSchedule(id.slice(0, id.indexOf('/'))),
    held: 'disk',
  }),
  pastInputs: section({
    row: pastInputsRow,
    indexed: ['ownerId'],
    numbers: { until: ({ until }) => until },
    document: ({ id }) => documentOf.pastInputs(id.slice(0, id.indexOf('/'))),
    held: 'disk',
  }),
  loops: section({
    row: loopRow,
    numbers: { until: ({ until }) => until },
    document: ({ id }) => documentOf.loop(id),
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
    document: (row) => documentOf[row.level](row.ownerId),
  }),
  media: section({
    row: mediaRow,
    indexed: ['tenantId', 'fileId'],
    listed: true,
    document: ({ id }) => documentOf.media(id),
  }),
  mediaUsage: section({
    row: mediaUsageRow,
    listed: true,
    document: ({ id }) => documentOf.media(id),
  }),
  contentMedia: section({
    row: contentMediaRow,
    multiple: { mediaId: ({ tenantId, mediaIds }) => mediaIds.map((id) => `${tenantId}/${id}`) },
    document: ({ id }) => documentOf.media(id),
  }),
  screenContents: section({
    row: screenContentsRow,
    multiple: { contentId: ({ contents }) => contents.map(({ id }) => id) },
    document: ({ id }) => documentOf.layers(id),
  }),
  mediaUses: section({
    row: mediaUseRow,
    indexed: ['mediaId'],
    listed: true,
    document: (row) => documentOf.screen(row.ownerId),
  }),
  unusedMedia: section({
    row: unusedMediaRow,
    listed: true,
    document: ({ id }) => documentOf.media(id),
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
    document: ({ id }) => documentOf.notice(id.slice(0, id.indexOf('/'))),
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
    document: ({ id }) => documentOf.webhook(id),
  }),
  webhookCursors: section({
    row: webhookCursorRow,
    document: ({ id }) => documentOf.webhook(id),
  }),
  webhookDeliveries: section({
    row: webhookDeliveryRow,
    indexed: ['webhookId', 'pendingOf'],
    document: ({ webhookId }) => documentOf.webhook(webhookId),
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
    document: ({ id }) => documentOf.statement(id.slice(0, id.indexOf('/'))),
    held: 'disk',
  }),
  creations: section({
    row: creationRow,
    unique: { request: (row) => row.request },
    indexed: ['tokenId'],
    listed: true,
    document: (row) => documentOf.creation(row.id),
  }),
  ...waitingSections,
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
