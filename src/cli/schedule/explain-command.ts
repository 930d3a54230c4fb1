import type { CallAnswer } from '../../client/call.ts';
import { defineCommand, one } from '../command/spec.ts';
import * as option from '../options/option.ts';
import { readTime } from '../options/time.ts';
import { members, type View } from '../output/view.ts';
import { findScreen } from '../records/find.ts';

type Explanation = CallAnswer<'explainScreen'>;

const seconds = (iso: string) => `${iso.slice(0, 19)}Z`;

function scheduleText({ schedule }: Explanation): string | null {
  if (!schedule) return null;
  const { level, since, timezone } = schedule;
  const owner = level === 'screen' ? 'of the screen' : 'of its venue';
  return `${owner} since ${seconds(since)}, in ${timezone ?? 'no time zone'}`;
}

function baseText({ base }: Explanation): string | null {
  return base && `version ${base.version}, ${base.status}, published ${seconds(base.publishedAt)}`;
}

function tvText({ tv, version }: Explanation): string {
  if (!tv) return 'no TV is paired';
  if (tv.version === null || tv.fetchedAt === null) return 'has fetched nothing yet';
  const fetched = `version ${tv.version}, fetched ${seconds(tv.fetchedAt)}`;
  if (version === null) return fetched;
  return `${fetched}: ${tv.isCurrent ? 'the same' : `not version ${version}`}`;
}

function configText({ config }: Explanation): string {
  const shown = Object.entries(config).map(
    ([name, { value, source }]) => `${name}=${JSON.stringify(value)} (${source})`,
  );
  return shown.join(', ');
}

const explanationView: View<Explanation> = {
  columns: [
    ...members<Explanation>('at', 'layer', 'entryId', 'since', 'until', 'version'),
    { name: 'schedule', value: scheduleText },
    { name: 'base', value: baseText },
    { name: 'tv', value: tvText },
    { name: 'config', value: configText },
  ],
  nameOf: ({ entryId, layer }) => entryId ?? layer,
};

/** `signage explain` */
export const explain = defineCommand({
  summary: 'Explain what a screen plays at a time, and why',
  description: `Names the layer that plays: takeover, on-demand, schedule, base (the playlist of the
screen) or none. Then its entry and version, since when and until when it plays, the schedule that
the screen follows, what its TV has fetched, and where each member of its config comes from.`,
  arguments: { screen: one('its id or name', 'screen') },
  options: {
    at: option.text(
      '--at <time>',
      'another time than now: ISO 8601, epoch seconds, or a time span ahead such as 2h',
    ),
  },
  examples: [
    ['signage explain Lobby/Main', 'now'],
    ['signage explain Lobby/Main --at 2026-12-24T12:00:00Z', 'on Christmas Eve'],
  ],
  async run(call) {
    const { at } = call.options;
    const nowMs = call.clock.now();
    const atMs =
      at === undefined ? undefined : readTime(at, { source: '--at', nowMs, spans: 'ahead' });
    const { id } = await findScreen(call, call.args.screen);
    const query = atMs === undefined ? {} : { at: new Date(atMs).toISOString() };
    const explanation = await call.read('explainScreen', { params: { id }, query });
    await call.results.record(explanation, explanationView);
  },
});
