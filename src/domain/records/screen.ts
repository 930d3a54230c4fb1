import { z } from 'zod';
import { isoTime, labels, labelsPatch, lineOfText, recordId, recordName } from '../fields.ts';
import { exceptionsView, hours, hoursExceptions, hoursView } from '../hours/hours.ts';
import { booleanQuery, nameQuery, pageQuery, selectorQuery } from '../paging.ts';
import { codeStatuses } from './pairing-code.ts';

const screenStates = ['provisioning', 'active'] as const;
const state = z.enum(screenStates, { error: `must be one of ${screenStates.join(', ')}` });

const screenHours = hours.nullable().meta({
  description: 'Opening hours; `null`: those of the venue, `[]`: always open.',
});

const screenExceptions = hoursExceptions.meta({
  description:
    'Hours of dates, instead of those of their weekdays. `null` or `[]`: those of the venue, unless `hours` is `[]`.',
});

/** Members that callers set, besides name and labels. */
export const screenSettings = {
  hours: screenHours.optional(),
  hoursExceptions: screenExceptions.optional(),
  serial: lineOfText(255).nullable().optional().meta({
    description: 'Serial number of the TV that it expects. It preselects, and never binds.',
  }),
};

export const screenCreation = z
  .strictObject({
    venueId: recordId,
    name: recordName,
    ...screenSettings,
    labels: labels.nullish(),
  })
  .meta({ id: 'ScreenCreation' });
export const screenPatch = z
  .strictObject({
    name: recordName.optional(),
    ...screenSettings,
    labels: labelsPatch.optional(),
  })
  .meta({ id: 'ScreenPatch' });

const label = z.string().regex(/^[^:]+:/, 'must be key:value');

export const screenQuery = z.strictObject({
  ...pageQuery,
  ...nameQuery,
  venueId: recordId.optional().meta({ description: 'Only the screens of this venue.' }),
  state: state.optional().meta({ description: 'Only screens in this state.' }),
  label: z
    .union([label.transform((one) => [one]), z.array(label)], { error: 'must be key:value' })
    .optional()
    .meta({
      description: 'A label as `key:value`. May be repeated: all must match.',
      example: ['floor:2'],
    }),
  selector: selectorQuery,
});

export const screenDeletionQuery = z.strictObject({
  force: booleanQuery.optional().meta({ description: 'Also deletes an active screen.' }),
});

export const screen = z
  .object({
    id: recordId,
    tenantId: recordId,
    venueId: recordId,
    name: z.string(),
    hours: hoursView.nullable(),
    hoursExceptions: exceptionsView.nullable().optional(),
    serial: z.string().nullable().optional(),
    labels: z.record(z.string(), z.string()),
    state,
    deviceId: recordId.nullable(),
    provisioningCode: z
      .object({ status: z.enum(codeStatuses), createdAt: isoTime, expiresAt: isoTime })
      .nullable()
      .meta({ description: 'The newest code of the screen; never the code itself.' }),
    createdAt: isoTime,
    updatedAt: isoTime,
  })
  .meta({ id: 'Screen' });

export type ScreenView = z.infer<typeof screen>;
export type ScreenCreation = z.infer<typeof screenCreation>;
export type ScreenPatch = z.infer<typeof screenPatch>;
export type ScreenQuery = z.infer<typeof screenQuery>;
