import { z } from 'zod';
import { checkDays, nameOfKey, reportRange } from '../records/report.ts';

const coverageGroups = ['screen', 'venue', 'campaign', 'creative', 'day'] as const;
export type CoverageGroup = (typeof coverageGroups)[number];

const { simulated: _simulated, ...range } = reportRange;

export const coverageQuery = z
  .strictObject({
    groupBy: z
      .enum(coverageGroups, { error: `must be one of ${coverageGroups.join(', ')}` })
      .default('screen')
      .meta({ description: 'The subject of a row.' }),
    ...range,
  })
  .superRefine(checkDays);
export type CoverageQuery = z.infer<typeof coverageQuery>;

const coverageRow = z
  .object({
    key: z.string().meta({ description: 'An id or a day.' }),
    name: nameOfKey,
    plannedSeconds: z.number().meta({
      description:
        'For how long it was due on bound TVs while their venues were open. For a campaign or a creative: its share of the loop.',
    }),
    playedSeconds: z.number().meta({ description: 'What TVs reported, each play once.' }),
    coveredSeconds: z.number().meta({
      description: 'Those of them in which something was due on the screen.',
    }),
    coverage: z.number().nullable().meta({
      description: '`coveredSeconds` by `plannedSeconds`. `null`: nothing was planned.',
      example: 0.998,
    }),
    plays: z.int(),
    late: z.int().meta({ description: 'Those received more than 24 hours after the play.' }),
    unplaced: z.int().meta({
      description:
        'Further plays, dated in the future or before the registration of the TV. Not in the sums.',
    }),
    lost: z.int().nullable().optional().meta({
      description:
        'By screen and venue: events that TVs numbered and that never came. `null`: not known.',
    }),
    incomplete: z.boolean().meta({
      description: 'Whether a part of what was planned is not known, and so not counted.',
    }),
  })
  .meta({ id: 'CoverageRow' });
export type CoverageRow = z.infer<typeof coverageRow>;

export const coverageReport = z
  .object({
    items: z.array(coverageRow),
    unattributed: z.int().nullable().meta({
      description:
        'Lost events of all these screens, of which nobody knows the day and the item. `null`: not known, or the rows have them.',
    }),
  })
  .meta({ id: 'CoverageReport' });
export type CoverageReport = z.infer<typeof coverageReport>;
