import { z } from 'zod';
import { screenStatusList, screenStatusQuery } from '../domain/conditions/screen-status.ts';
import { eventBatch, eventQuery, eventsAccepted, storedEvent } from '../domain/events/event.ts';
import {
  backupQuery,
  media,
  mediaDeletionQuery,
  mediaQuery,
  mediaUpload,
  mediaUploadQuery,
} from '../domain/media/media.ts';
import { notice, noticeQuery } from '../domain/notices/notice.ts';
import { listOf, pageQuery, waitSeconds } from '../domain/paging.ts';
import { coverageQuery, coverageReport } from '../domain/planned/coverage.ts';
import { bulkPublication, bulkResults } from '../domain/playlists/bulk-publication.ts';
import { campaign, campaignInput, campaignQuery } from '../domain/playlists/campaign-record.ts';
import {
  activePlaylist,
  playlistRefresh,
  playlistVersions,
  publication,
  publishedPlaylist,
  storedPlaylist,
} from '../domain/playlists/playlist.ts';
import { auditEntry, auditQuery } from '../domain/records/audit.ts';
import {
  claim,
  claimCreation,
  claimQuery,
  claimStatus,
  claimStatusQuery,
  createdClaim,
  offerCreation,
} from '../domain/records/claim.ts';
import { configBody, configInput, deviceConfig } from '../domain/records/config.ts';
import {
  device,
  deviceQuery,
  registered,
  registration,
  revocation,
  revoked,
  rotated,
} from '../domain/records/device.ts';
import { deviceChanges, deviceChangesQuery } from '../domain/records/device-changes.ts';
import {
  createdLogin,
  login,
  loginApproval,
  loginCreation,
  loginStatus,
} from '../domain/records/login.ts';
import { mirrorList, mirrorQuery, mirrorRepair } from '../domain/records/mirror.ts';
import { codeCreation, codeStatus, createdCode } from '../domain/records/pairing-code.ts';
import { impressionReport, playsQuery, reportQuery } from '../domain/records/report.ts';
import {
  screen,
  screenCreation,
  screenDeletionQuery,
  screenPatch,
  screenQuery,
} from '../domain/records/screen.ts';
import {
  identified,
  identifyInput,
  reloadAnnounced,
  reloadInput,
} from '../domain/records/signals.ts';
import { tenant, tenantCreation, tenantPatch, tenantQuery } from '../domain/records/tenant.ts';
import {
  createdToken,
  me,
  rotatedToken,
  token,
  tokenCreation,
  tokenQuery,
} from '../domain/records/token.ts';
import { tvRequest, tvRequestQuery } from '../domain/records/tv-request.ts';
import { venue, venueCreation, venuePatch, venueQuery } from '../domain/records/venue.ts';
import {
  explainQuery,
  explanation,
  schedule,
  scheduleView,
  takeover,
  takeoverView,
} from '../domain/schedule/schedule.ts';
import {
  statementList,
  statementLog,
  statementQuery,
  statementResume,
  statementRowsQuery,
  statementStart,
} from '../domain/statements/statement.ts';
import { createdTicket, ticket, ticketCreation, ticketQuery } from '../domain/tickets/ticket.ts';
import {
  createdWebhook,
  redelivered,
  redelivery,
  webhook,
  webhookCreation,
  webhookDeliveriesQuery,
  webhookDelivery,
  webhookPatch,
  webhookQuery,
  webhookSecret,
  webhookTest,
} from '../domain/webhooks/webhook.ts';

/** A problem document (RFC 9457), the body of every error (docs/protocol.md §1.4). */
const problem = z
  .looseObject({
    type: z.string().meta({ example: 'about:blank' }),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    code: z.string().meta({ description: 'stable, for programs' }),
    requestId: z.string(),
    errors: z
      .array(z.object({ path: z.string(), message: z.string() }))
      .optional()
      .meta({ description: 'with invalid_request' }),
    truncated: z
      .boolean()
      .optional()
      .meta({ description: 'true if there are further errors that are not listed' }),
    existingId: z.string().optional().meta({ description: 'with name_taken' }),
    received: z.int().optional().meta({ description: 'with media_offset' }),
    screen: z
      .object({ name: z.string(), venue: z.object({ name: z.string() }) })
      .optional()
      .meta({ description: 'with playlist_not_found of a TV: where it hangs' }),
  })
  .meta({ id: 'Problem' });

/** Every schema of the API, by the name that the operation table uses. */
export const schemas = {
  activePlaylist,
  bulkPublication,
  bulkResults,
  auditList: listOf(auditEntry),
  auditQuery,
  campaign,
  campaignInput,
  campaignList: listOf(campaign),
  campaignQuery,
  claim,
  claimCreation,
  claimList: listOf(claim),
  claimQuery,
  offerCreation,
  claimStatus,
  claimStatusQuery,
  codeCreation,
  codeStatus,
  codeStatusQuery: z.strictObject({ waitSeconds }),
  configBody,
  configInput,
  createdClaim,
  createdCode,
  createdTicket,
  createdLogin,
  createdToken,
  device,
  deviceChanges,
  deviceChangesQuery,
  deviceConfig,
  deviceList: listOf(device),
  deviceQuery,
  eventBatch,
  eventList: listOf(storedEvent),
  eventQuery,
  noticeList: listOf(notice),
  noticeQuery,
  eventsAccepted,
  coverageReport,
  identifyInput,
  identified,
  impressionReport,
  login,
  loginApproval,
  loginCreation,
  loginStatus,
  me,
  media,
  backupQuery,
  mediaDeletionQuery,
  mediaList: listOf(media),
  mediaQuery,
  mediaUpload,
  mediaUploadQuery,
  mirrorList,
  mirrorQuery,
  mirrorRepair,
  playlist: storedPlaylist,
  playlistRefresh,
  playlistVersions,
  playlistVersionsQuery: z.strictObject(pageQuery),
  problem,
  publication,
  publishedPlaylist,
  registered,
  registration,
  coverageQuery,
  playsQuery,
  reportQuery,
  reloadAnnounced,
  reloadInput,
  revocation,
  revoked,
  rotated,
  rotatedToken,
  explainQuery,
  explanation,
  schedule: scheduleView,
  scheduleInput: schedule,
  takeover: takeoverView,
  takeoverInput: takeover,
  screen,
  screenCreation,
  screenDeletionQuery,
  screenList: listOf(screen),
  screenPatch,
  screenQuery,
  screenStatusList,
  screenStatusQuery,
  statementList,
  statementLog,
  statementQuery,
  statementResume,
  statementRowsQuery,
  statementStart,
  tenant,
  tenantCreation,
  tenantList: listOf(tenant),
  tenantPatch,
  tenantQuery,
  ticket,
  ticketCreation,
  ticketList: listOf(ticket),
  ticketQuery,
  token,
  tokenCreation,
  tokenList: listOf(token),
  tokenQuery,
  tvRequestList: listOf(tvRequest),
  tvRequestQuery,
  venue,
  venueCreation,
  venueList: listOf(venue),
  venuePatch,
  venueQuery,
  createdWebhook,
  redelivered,
  redelivery,
  webhook,
  webhookCreation,
  webhookDeliveriesQuery,
  webhookDeliveryList: listOf(webhookDelivery),
  webhookList: listOf(webhook),
  webhookPatch,
  webhookQuery,
  webhookSecret,
  webhookTest,
} satisfies Record<string, z.ZodType>;

export type Schemas = typeof schemas;
export type SchemaName = keyof Schemas;
