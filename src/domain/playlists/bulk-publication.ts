import { z } from 'zod';
import { epochTime, instant, recordId } from '../fields.ts';
import { selectorQuery } from '../paging.ts';
import { isPlaying, playlistItems } from './playlist.ts';

/** Maximum number of screens of one bulk publication (docs/protocol.md §5.4). */
export const maxBulkScreens = 1000;

const bulkMembers = z.strictObject({
  screenIds: z
    .array(recordId, 'must be an array of 1 to 1,000 ids')
    .min(1, 'must have 1 to 1,000 ids')
    .max(maxBulkScreens, 'must have 1 to 1,000 ids')
    .optional()
    .meta({ description: 'The screens. Instead: `venueId`, `selector`, or both.' }),
  venueId: recordId.optional(),
  selector: selectorQuery,
  cursor: recordId
    .optional()
    .meta({ description: 'The `nextCursor` of the previous answer, with the same selection.' }),
  action: z.enum(['publish', 'withdraw', 'rollback', 'takeover'], {
    error: 'must be publish, withdraw, rollback or takeover',
  }),
  items: playlistItems.optional().meta({ description: 'Required for `publish` and `takeover`.' }),
  until: instant.optional().meta({ description: 'The end. Required for `takeover`.' }),
  validUntil: epochTime.nullish().meta({
    description:
      'Unix epoch seconds, in the future. `publish`: the default, also for null, is no end. `rollback`: null is no end, and the default is the end of the version.',
    example: 4_102_444_800,
  }),
  to: z
    .union([z.literal('previous'), z.int().min(1)], 'must be previous or a version')
    .optional()
    .meta({ description: 'For `rollback`: the version to publish again. Default: `previous`.' }),
  ifVersions: z.record(recordId, z.int().min(1).nullable()).optional().meta({
    description:
      'Versions by screen id; `null`: no playlist. A screen that has another one is not changed.',
  }),
  ifTakeovers: z.record(recordId, z.string().max(100).nullable()).optional().meta({
    description:
      'For `takeover`: ETags of takeovers by screen id; `null`: none. A screen that has another one is not changed.',
  }),
});
type BulkMember = keyof z.infer<typeof bulkMembers>;

/** Members that only these actions have. */
const actionsOf: { [M in BulkMember]?: readonly string[] } = {
  items: ['publish', 'takeover'],
  until: ['takeover'],
  ifTakeovers: ['takeover'],
  validUntil: ['publish', 'rollback'],
  to: ['rollback'],
};

/** A change of the playlists of many screens (docs/protocol.md §5.4). */
export const bulkPublication = bulkMembers
  .superRefine((body, context) => {
    const complain = (path: PropertyKey[], message: string) =>
      context.addIssue({ code: 'custom', path, message });
    const { screenIds, action } = body;
    if ((screenIds === undefined) === (body.venueId === undefined && body.selector === undefined))
      complain(['screenIds'], 'is required, or else venueId, selector or both');
    if (screenIds && body.cursor !== undefined) complain(['cursor'], 'is not for screenIds');
    if (action === 'publish' && !body.items) complain(['items'], 'is required to publish');
    for (const member of ['items', 'until'] as const)
      if (action === 'takeover' && body[member] === undefined)
        complain([member], 'is required for a takeover');
    for (const [member, actions] of Object.entries(actionsOf))
      if (body[member as BulkMember] !== undefined && !actions.includes(action))
        complain([member], `is only for ${actions.join(' and ')}`);
    const known = new Set<string>();
    for (const [place, id] of screenIds?.entries() ?? []) {
      if (known.has(id)) complain(['screenIds', place], 'repeats an id');
      known.add(id);
    }
    for (const member of ['ifVersions', 'ifTakeovers'] as const)
      for (const id of screenIds ? Object.keys(body[member] ?? {}) : [])
        if (!known.has(id)) complain([member, id], 'is not among the screenIds');
  })
  .meta({ id: 'BulkPublication' });
export type BulkPublication = z.infer<typeof bulkPublication>;

/** Why a screen of a bulk publication was not changed. */
export const bulkCodes = [
  'screen_not_found',
  'playlist_not_found',
  'precondition_failed',
  'invalid_request',
  'not_repeatable',
] as const;

const bulkResult = z
  .union([
    z.object({
      screenId: recordId,
      version: z.int().min(1).nullable().meta({ description: '`null`: no playlist' }),
      changed: z.boolean(),
      playing: isPlaying,
    }),
    z.object({ screenId: recordId, code: z.enum(bulkCodes) }),
  ])
  .meta({ id: 'BulkResult' });
export type BulkResult = z.infer<typeof bulkResult>;

export const bulkResults = z
  .object({ results: z.array(bulkResult), nextCursor: z.string().nullable() })
  .meta({ id: 'BulkResults' });
export type BulkResults = z.infer<typeof bulkResults>;
