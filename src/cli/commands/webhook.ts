import type { CallInput, ListItem } from '../../client/call.ts';
import { keepSecret } from '../connection/keep-secret.ts';
import * as option from '../input/option.ts';
import { usage } from '../input/settings.ts';
import { readRange } from '../input/time.ts';
import { type Column, members, type View, wideMembers } from '../output/view.ts';
import type { CommandContext } from '../program/context.ts';
import { defineCommand, one, some } from '../program/spec.ts';
import { forEachRecord } from '../records/for-each-record.ts';
import { venueIdsOf } from '../records/of-venues.ts';
import { venueOption } from '../records/select-screens.ts';
import { countText } from '../terminal/text.ts';

type Webhook = ListItem<'listWebhooks'>;
type Delivery = ListItem<'listWebhookDeliveries'>;

const columns: Column<Webhook>[] = [
  ...members<Webhook>('id', 'name', 'state'),
  { name: 'types', value: ({ types }) => types ?? 'all' },
  ...members<Webhook>('url', 'stateReason'),
  ...wideMembers<Webhook>('venueIds', 'tokenId', 'createdAt', 'updatedAt'),
];
const webhookView: View<Webhook> = { columns, nameOf: ({ id }) => id };
const createdView: View<Webhook & { secret: string }> = {
  columns: [...columns, { name: 'secret', value: ({ secret }) => secret }],
  nameOf: ({ id }) => id,
};

const deliveryView: View<Delivery> = {
  columns: [
    ...members<Delivery>('noticeId', 'type', 'state'),
    { name: 'attempts', value: ({ attempts }) => attempts.length },
    {
      name: 'last',
      value: ({ attempts }) => attempts.at(-1)?.error ?? attempts.at(-1)?.status ?? null,
    },
    ...members<Delivery>('nextAt'),
  ],
  nameOf: ({ noticeId }) => noticeId,
};

const ofWebhook = { webhook: one('its id') };
const typeOption = option.repeated(
  '--type <type>',
  'only notices of this type, or group of types such as screen.*',
);
const venues = venueOption('only notices of this venue, by id or name');

async function chosenVenueIds(call: CommandContext, names: readonly string[]) {
  const ids = await venueIdsOf(call, names);
  return ids.length > 0 ? ids : undefined;
}

type Types = CallInput<'createWebhook'>['body']['types'];
const typesOf = (types: readonly string[]) =>
  types.length > 0 ? ([...types] as NonNullable<Types>) : undefined;

const create = defineCommand({
  summary: 'Create a webhook',
  description: 'The secret that verifies its messages is shown only once.',
  arguments: { url: one('where to send notices; https') },
  options: {
    name: option.text('--name <name>', 'a name for people'),
    type: typeOption,
    venue: venues,
  },
  examples: [
    ['signage webhook create https://example.com/hook', 'all notices'],
    [
      "signage webhook create https://example.com/hook --type 'screen.*' --venue Lobby",
      'what happens to the screens of one venue',
    ],
  ],
  effect: 'changes',
  async run(call) {
    const { name, type, venue } = call.options;
    const { url } = call.args;
    const venueIds = await chosenVenueIds(call, venue);
    const made = await call.change('createWebhook', {
      body: { url, name, types: typesOf(type), venueIds },
    });
    if (!made) return;
    const { id } = made.answer;
    await keepSecret(() => call.results.record(made.answer, createdView), {
      undo: async () => {
        await call.change('deleteWebhook', { params: { id } });
        return 'The webhook was deleted again.';
      },
      left: `The webhook exists, and nobody knows its secret. Delete it: signage webhook delete ${id}`,
    });
    call.note('Save the secret now: it is not shown again.');
  },
});

const list = defineCommand({
  summary: 'List webhooks',
  examples: [['signage webhook list', 'all']],
  list: true,
  async run(call) {
    await call.list('listWebhooks', webhookView, { query: {} });
  },
});

const get = defineCommand({
  summary: 'Show a webhook',
  arguments: ofWebhook,
  examples: [['signage webhook get 0190a5b4-6f00-7c3e-9d2a-5b8f1e2c3d4e', 'by its id']],
  async run(call) {
    const params = { id: call.args.webhook };
    await call.results.record(await call.read('getWebhook', { params }), webhookView);
  },
});

const update = defineCommand({
  summary: 'Change, pause or activate a webhook',
  description: 'Fields that you do not name are not changed.',
  arguments: ofWebhook,
  options: {
    to: option.text('--to <url>', 'where to send notices; https'),
    name: option.text('--name <name>', 'a name for people; empty removes it'),
    type: typeOption,
    venue: venues,
    state: option.choice(
      ['active', 'paused'],
      '--state <state>',
      'active also confirms a webhook whose token is gone',
    ),
  },
  examples: [
    ['signage webhook update 0190a5b4-6f00-7c3e-9d2a-5b8f1e2c3d4e --state paused', 'stops it'],
    [
      'signage webhook update 0190a5b4-6f00-7c3e-9d2a-5b8f1e2c3d4e --state active',
      'sends what has waited since',
    ],
  ],
  effect: 'changes',
  async run(call) {
    const { to, name, type, venue, state } = call.options;
    const venueIds = await chosenVenueIds(call, venue);
    const types = typesOf(type);
    const body = { url: to, name: name === '' ? null : name, types, venueIds, state };
    if (Object.values(body).every((value) => value === undefined))
      throw usage('Nothing to change. Give --to, --name, --type, --venue or --state.');
    const made = await call.change('updateWebhook', { params: { id: call.args.webhook }, body });
    if (made) await call.results.record(made.answer, webhookView);
  },
});

const resume = defineCommand({
  summary: 'Activate webhooks again, such as those that a restore has paused',
  description: `With --all: the webhooks that data restore has paused. Those that a person has paused
stay paused. From then on, the webhooks act for the token of this command. They send what has waited
since.`,
  arguments: { webhook: some('its id') },
  options: { all: option.flag('--all', 'every webhook that data restore has paused') },
  examples: [
    ['signage webhook resume --all', 'after a restore, once the original service is gone'],
    ['signage webhook resume 0190a5b4-6f00-7c3e-9d2a-5b8f1e2c3d4e', 'one webhook'],
  ],
  effect: 'changes',
  async run(call) {
    const { webhook: ids } = call.args;
    if (ids.length > 0 === call.options.all) throw usage('Name webhooks, or give --all.');
    const { isPausedByRestore } = await import('../../domain/webhooks/webhook.ts');
    const chosen = call.options.all
      ? (await call.all('listWebhooks')).filter(isPausedByRestore)
      : await Promise.all(ids.map((id) => call.read('getWebhook', { params: { id } })));
    const named = chosen.map(({ id, name, url }) => ({ id, name: name ?? new URL(url).host }));
    if (named.length === 0) {
      call.note('No webhook is paused because of a restore.');
      return 0;
    }
    return forEachRecord(call, named, async ({ id }) => {
      const body = { state: 'active' } as const;
      return (await call.change('updateWebhook', { params: { id }, body })) && 'resumed';
    });
  },
});

const remove = defineCommand({
  summary: 'Delete a webhook',
  arguments: ofWebhook,
  examples: [
    ['signage webhook delete 0190a5b4-6f00-7c3e-9d2a-5b8f1e2c3d4e', 'asks first'],
    ['signage webhook delete 0190a5b4-6f00-7c3e-9d2a-5b8f1e2c3d4e --yes', 'does not ask first'],
  ],
  effect: 'destroys',
  async run(call) {
    const params = { id: call.args.webhook };
    const { url, name } = await call.read('getWebhook', { params });
    const called = name ?? new URL(url).host;
    await call.confirmDestruction(`Delete the webhook of "${called}"?`);
    if (await call.change('deleteWebhook', { params }))
      call.note(`Deleted the webhook of "${called}".`);
  },
});

const secret = defineCommand({
  summary: 'Give a webhook a new secret',
  description: 'Both secrets sign for 24 hours. The new one is shown only once.',
  arguments: ofWebhook,
  examples: [
    ['signage webhook secret 0190a5b4-6f00-7c3e-9d2a-5b8f1e2c3d4e --jq .secret', 'for scripts'],
  ],
  effect: 'changes',
  async run(call) {
    const made = await call.change('rotateWebhookSecret', { params: { id: call.args.webhook } });
    if (!made) return;
    type Secret = typeof made.answer;
    const view = {
      columns: members<Secret>('secret', 'oldSecretUntil'),
      nameOf: (answer: Secret) => answer.secret,
    };
    const again = `The old secret signs, too, until ${made.answer.oldSecretUntil}: run this command again before that time.`;
    await keepSecret(() => call.results.record(made.answer, view), {
      undo: async () => again,
      left: again,
    });
    call.note('Save the secret now: it is not shown again.');
  },
});

const test = defineCommand({
  summary: 'Send a test message now, and show what the receiver answers',
  arguments: ofWebhook,
  examples: [['signage webhook test 0190a5b4-6f00-7c3e-9d2a-5b8f1e2c3d4e', 'waits 15 s at most']],
  effect: 'changes',
  async run(call) {
    const made = await call.change('testWebhook', { params: { id: call.args.webhook } });
    if (!made) return;
    type Outcome = typeof made.answer;
    await call.results.record(made.answer, {
      columns: members<Outcome>('delivered', 'status', 'ms', 'error', 'text'),
      nameOf: ({ delivered }) => String(delivered),
    });
  },
});

const deliveries = defineCommand({
  summary: 'List the deliveries of a webhook, newest first',
  arguments: ofWebhook,
  options: {
    state: option.choice(
      ['pending', 'delivered', 'dead'],
      '--state <state>',
      'only deliveries in this state',
    ),
  },
  examples: [
    [
      'signage webhook deliveries 0190a5b4-6f00-7c3e-9d2a-5b8f1e2c3d4e --state dead',
      'what the receiver never got',
    ],
  ],
  list: true,
  async run(call) {
    const params = { id: call.args.webhook };
    await call.list('listWebhookDeliveries', deliveryView, { params, query: call.options });
  },
});

const redeliver = defineCommand({
  summary: 'Send notices to a webhook again',
  arguments: ofWebhook,
  options: {
    notice: option.repeated('--notice <notice>', 'the notice with this id'),
    since: option.text('--from, --since <time>', 'all notices from this time on, at most 1,000'),
    until: option.text('--to, --until <time>', 'before this time; default: now'),
  },
  examples: [
    ['signage webhook redeliver 0190a5b4-6f00-7c3e-9d2a-5b8f1e2c3d4e --since 1h', 'the last hour'],
  ],
  effect: 'changes',
  async run(call) {
    const { notice, since } = call.options;
    if (notice.length > 0 === (since !== undefined)) throw usage('Give --notice, or --since.');
    const { from, to = new Date(call.clock.now()).toISOString() } = readRange(call);
    const made = await call.change('redeliver', {
      params: { id: call.args.webhook },
      body: notice.length > 0 ? { noticeIds: [...notice] } : { from, to },
    });
    if (made) call.note(`${countText(made.answer.queued, 'notice')} will be sent again.`);
  },
});

export const webhook = {
  ...{ create, list, get, update, resume, delete: remove },
  ...{ secret, test, deliveries, redeliver },
};
