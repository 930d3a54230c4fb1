import type { CallAnswer } from '../../../client/call.ts';
import { layerText } from '../../../domain/layers/layer-text.ts';
import * as option from '../../input/option.ts';
import { readTimeIn } from '../../input/time.ts';
import { members, type View } from '../../output/view.ts';
import { defineCommand, one } from '../../program/spec.ts';
import { findScreen } from '../../records/find.ts';
import type { VenueTimes } from '../../times/venue-times.ts';

type Explanation = CallAnswer<'explainScreen'>;

type TimeText = (iso: string) => string;

function scheduleText({ schedule }: Explanation, timeText: TimeText): string | null {
  if (!schedule) return null;
  const { level, since, timezone } = schedule;
  const owner = level === 'screen' ? 'of the screen' : 'of its venue';
  return `${owner} since ${timeText(since)}${timezone === null ? ', in no time zone' : ''}`;
}

function baseText({ base }: Explanation, timeText: TimeText): string | null {
  return base && `version ${base.version}, ${base.status}, published ${timeText(base.publishedAt)}`;
}

const maxShownItems = 5;

function itemsText({ items }: Explanation): string | null {
  if (!items) return null;
  const names = items.slice(0, maxShownItems).map(({ name }) => name);
  const hidden = items.length - names.length;
  return `${names.join(', ')}${hidden > 0 ? `, and ${hidden} more` : ''}`;
}

/** Names the layers beneath: `the entry "Lunch", then the playlist of the screen`. */
function beneathText({ beneath = [] }: Explanation): string | null {
  return beneath.map(({ layer, entryId }) => layerText(layer, entryId)).join(', then ') || null;
}

const stateTexts = {
  shown: 'shows it',
  given: 'has it, and does not report what it shows',
  switching: 'is switching to it',
  failed: 'shows what is beneath, because all of it fails',
};

function stateText({ tv }: Explanation, timeText: TimeText): string {
  if (tv?.state == null) return '';
  return `; ${stateTexts[tv.state]}${tv.since == null ? '' : ` since ${timeText(tv.since)}`}`;
}

function tvText(explanation: Explanation, timeText: TimeText): string {
  const { tv, version } = explanation;
  if (!tv) return 'no TV is paired';
  if (tv.version === null || tv.fetchedAt === null) return 'has fetched nothing yet';
  const fetched = `version ${tv.version}, fetched ${timeText(tv.fetchedAt)}`;
  if (version === null) return fetched;
  const which = tv.isCurrent ? 'the same' : `not version ${version}`;
  return `${fetched}: ${which}${stateText(explanation, timeText)}`;
}

function configText({ config }: Explanation): string {
  const shown = Object.entries(config).map(
    ([name, { value, source }]) => `${name}=${JSON.stringify(value)} (${source})`,
  );
  return shown.join(', ');
}

/** In CSV, times are in UTC. For people, they are local, and the first one names the zone. */
const explanationView = ({ plain, zoned }: VenueTimes): View<Explanation> => {
  const utc: TimeText = (iso) => `${iso.slice(0, 19)}Z`;
  const optional = (iso: string | null) => iso && plain(iso);
  return {
    columns: [
      { name: 'at', value: ({ at }) => at, shown: ({ at }) => zoned(at) },
      ...members<Explanation>('layer', 'entryId'),
      { name: 'items', value: itemsText },
      { name: 'since', value: ({ since }) => since, shown: ({ since }) => optional(since) },
      { name: 'until', value: ({ until }) => until, shown: ({ until }) => optional(until) },
      ...members<Explanation>('version'),
      {
        name: 'schedule',
        value: (one) => scheduleText(one, utc),
        shown: (one) => scheduleText(one, plain),
      },
      { name: 'base', value: (one) => baseText(one, utc), shown: (one) => baseText(one, plain) },
      { name: 'beneath', value: beneathText },
      { name: 'tv', value: (one) => tvText(one, utc), shown: (one) => tvText(one, plain) },
      { name: 'config', value: configText },
    ],
    nameOf: ({ entryId, layer }) => entryId ?? layer,
  };
};

/** `signage explain` */
export const explain = defineCommand({
  summary: 'Explain what a screen plays at a time, and why',
  description: `Names the layer that plays: takeover, on-demand, schedule, base (the playlist of the
screen) or none. Then its entry, items and version, since when and until when it plays, the schedule
that the screen follows, the layers beneath, which play if all of it fails, what its TV has fetched,
whether the TV shows it, and where each member of its config comes from. Times are local times of the venue.`,
  arguments: { screen: one('its id or name', 'screen') },
  options: {
    at: option.text(
      '--at <time>',
      'another time than now: local time, ISO 8601, epoch seconds, or a span ahead such as 2h',
    ),
  },
  examples: [
    ['signage explain Lobby/Main', 'now'],
    ["signage explain Lobby/Main --at '2026-12-24 12:00'", 'on Christmas Eve, local time'],
  ],
  async run(call) {
    const { at } = call.options;
    const nowMs = call.clock.now();
    const { id, venueId } = await findScreen(call, call.args.screen);
    const { zoneOfVenues } = await import('../../times/venue-zone.ts');
    const readZone = zoneOfVenues(call, async () => [venueId]);
    const context = { source: '--at', nowMs, spans: 'ahead', which: 'earlier' } as const;
    const atMs = at === undefined ? undefined : await readTimeIn(readZone, at, context);
    const query = atMs === undefined ? {} : { at: new Date(atMs).toISOString() };
    const explanation = await call.read('explainScreen', { params: { id }, query });
    await call.results.record(explanation, async () => {
      const { readVenueTimes } = await import('../../times/venue-times.ts');
      return explanationView(await readVenueTimes(call, venueId));
    });
  },
});
