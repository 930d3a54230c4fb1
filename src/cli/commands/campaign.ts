import type { CallInput } from '../../client/call.ts';
import type { Campaign } from '../../client/entities.ts';
import { preconditionOf, untilStored } from '../connection/conditional.ts';
import * as option from '../input/option.ts';
import { type Setting, usage } from '../input/settings.ts';
import { members, type View, wideMembers } from '../output/view.ts';
import { defineCommand, one } from '../program/spec.ts';
import { findCampaign, orUndefined } from '../records/find.ts';

const campaignView: View<Campaign> = {
  columns: [
    ...members<Campaign>('name', 'client', 'from', 'to', 'bookedPlays', 'bookedSeconds'),
    ...wideMembers<Campaign>('id', 'tenantId'),
  ],
  nameOf: ({ name }) => name,
};

const ofCampaign = { campaign: one('its name or id', 'campaign') };

function dayOrEmpty(flags: string, help: string): Setting<string | undefined> {
  const day = option.day(flags, `${help}; empty removes it`);
  return { ...day, read: (text, source) => (text === '' ? text : day.read(text, source)) };
}
const booked = (flags: string, help: string) =>
  option.count([0, 1_000_000_000_000], flags, `${help}; 0 removes it`);

const set = defineCommand({
  summary: 'Set the booking of a campaign',
  description: `Options that you do not name are not changed. signage report impressions compares the
booking with what was delivered. Days are those of the venues. TVs also play the items of a campaign
before and after its days. A campaign that no item has named yet is created.`,
  arguments: ofCampaign,
  options: {
    client: option.text('--client <name>', 'who has booked it; empty removes it'),
    from: dayOrEmpty('--since, --from <day>', 'first booked day, such as 2026-12-01'),
    to: dayOrEmpty('--until, --to <day>', 'end before this day'),
    bookedPlays: booked('--booked-plays <number>', 'how many plays are booked'),
    bookedSeconds: booked('--booked-seconds <number>', 'how much playing time is booked'),
    name: option.text('--name <name>', 'its name, if its items have only an id'),
  },
  examples: [
    [
      'signage campaign set summer --client "Ice & Co." --from 2026-12-01 --to 2027-01-01 --booked-plays 5000',
      'books December',
    ],
    ['signage campaign set summer --booked-plays 6000', 'changes one number'],
  ],
  effect: 'changes',
  async run(call) {
    const given = Object.entries(call.options).filter(([, value]) => value !== undefined);
    if (given.length === 0)
      throw usage(
        'Nothing to set. Give --client, --from, --to, --booked-plays or --booked-seconds.',
      );
    const changed = Object.fromEntries(given.map(([name, value]) => [name, value || null]));
    const path = call.args.campaign;
    const read = async () => {
      const found = await orUndefined(findCampaign(call, path), 'campaign_not_found');
      return found && call.readWithEtag('getCampaign', { params: { name: found.id } });
    };
    const made = await untilStored(await read(), {
      read,
      async write(stored) {
        const { id = path, tenantId: _, name: _name, ...booking } = stored?.answer ?? {};
        const body: CallInput<'putCampaign'>['body'] = { ...booking, ...changed };
        const headers = preconditionOf(stored ? stored.etag : null);
        const answered = await call.change('putCampaign', { params: { name: id }, body, headers });
        return answered && { campaign: answered.answer, isNew: !stored };
      },
    });
    if (!made) return;
    await call.results.record(made.campaign, campaignView);
    if (made.isNew)
      call.note(`Created the campaign "${made.campaign.name}": no item has named it yet.`);
  },
});

const list = defineCommand({
  summary: 'List campaigns',
  description: 'A campaign exists from the first item that names it, or from its booking on.',
  options: { search: option.text('--search <text>', 'only names that contain this text') },
  examples: [
    ['signage campaign list', 'all'],
    ['signage campaign list -o csv', 'for a spreadsheet'],
  ],
  list: true,
  async run(call) {
    await call.list('listCampaigns', campaignView, { query: call.options });
  },
});

const get = defineCommand({
  summary: 'Show a campaign and its booking',
  arguments: ofCampaign,
  examples: [['signage campaign get summer -o json --jq .bookedPlays', 'one field']],
  async run(call) {
    await call.results.record(await findCampaign(call, call.args.campaign), campaignView);
  },
});

const remove = defineCommand({
  summary: 'Delete the name and the booking of a campaign',
  description: `Playlists and counts stay as they are. The next item that names the campaign makes it
again, without a booking.`,
  arguments: ofCampaign,
  examples: [
    ['signage campaign delete summer', 'asks first'],
    ['signage campaign delete summer --yes', 'for scripts: does not ask first'],
  ],
  effect: 'destroys',
  async run(call) {
    const { id, name } = await findCampaign(call, call.args.campaign);
    await call.confirmDestruction(`Delete the name and the booking of the campaign "${name}"?`);
    if (await call.change('deleteCampaign', { params: { name: id } }))
      call.note(`Deleted the campaign "${name}".`);
  },
});

export const campaign = { set, list, get, delete: remove };
