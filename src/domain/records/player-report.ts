import { z } from 'zod';
import { epochMs, epochTime, isoTime, lastInstantMs } from '../fields.ts';

const pixels = z.int().min(1).max(65_535);
const codecs = z.array(z.string().regex(/^[a-z0-9]{1,16}$/)).max(16);

/** What a player has found out about its TV. It omits what it does not know. */
const findings = {
  engine: z.string().min(1).max(80).meta({ example: 'Chromium 150' }),
  width: pixels.meta({ description: 'Width of the page, in pixels of the display.' }),
  height: pixels,
  pixelRatio: z.number().min(0.1).max(16),
  plays: codecs.meta({ description: 'Video codecs that it plays.', example: ['h264', 'vp9'] }),
  lacks: codecs.meta({ description: 'Video codecs that it does not play.', example: ['hevc'] }),
  isolatesPages: z.boolean().meta({ description: 'Whether no web page can freeze the player.' }),
  turnsPictures: z.boolean().meta({ description: 'Whether it obeys the EXIF orientation.' }),
  turnsVideos: z.boolean().meta({
    description: 'Whether somebody saw a video turned that the player had turned.',
  }),
  sound: z.boolean().meta({ description: 'Whether videos may have sound without a click.' }),
  keepsStorage: z.boolean().meta({ description: 'Whether its storage survived a restart.' }),
  holdSeconds: z.int().min(0).max(3600).meta({
    description: 'The longest request for changes that nothing has cut.',
  }),
};

const known = z.object(findings).partial();
const checkTime = epochTime.transform(epochMs).refine((timeMs) => timeMs <= lastInstantMs);

/** The latest report of a device, as it is stored. Times are Unix epoch milliseconds. */
export const storedReport = known.extend({ checkedAt: z.number().optional(), at: z.number() });
export type StoredReport = z.infer<typeof storedReport>;

/** The latest report of a device in answers. */
export const playerReport = known
  .extend({
    checkedAt: isoTime.optional().meta({ description: 'When `/player#check` was run on it.' }),
    at: isoTime.meta({ description: 'When its player started.' }),
  })
  .meta({ id: 'PlayerReport' });

/**
 * Returns what a `player_report` event says (docs/protocol.md §2.5). Leaves out what is no valid
 * finding, because a TV is never refused for it.
 */
export function readPlayerReport(event: { timestamp: number }): StoredReport {
  const given = event as { timestamp: number } & Record<string, unknown>;
  const valid = Object.entries(findings).flatMap(([name, member]) => {
    const { data } = member.safeParse(given[name]);
    return data === undefined ? [] : [[name, data]];
  });
  const { data: checkedAt } = checkTime.safeParse(given.checkedAt);
  return {
    ...Object.fromEntries(valid),
    ...(checkedAt !== undefined && { checkedAt }),
    at: epochMs(event.timestamp),
  };
}
