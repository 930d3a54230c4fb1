import { hourMs, isoMs } from '../domain/clock.ts';
import { mapInTurn } from '../domain/concurrency.ts';
import { type Answer, at, listAt, schemaViolations, textAt } from './fixture/answer.ts';
import { type ConformanceCheck, checkGroup, profile } from './fixture/check.ts';
import type { Fixture } from './fixture/fixture.ts';
import { noticeOf, pairedTv } from './notice-checks.ts';

/** `.invalid` never resolves (RFC 2606), so no receiver is called. */
const url = 'https://receiver.invalid/conformance';
/** No check makes a notice of this type. */
const quiet = { url, types: ['screen.failing'] };

const createWebhook = (fixture: Fixture, more: object = {}): Promise<Answer> =>
  fixture.manage('POST', '/v1/webhooks', { ...quiet, name: fixture.name, ...more });

const newWebhook = async (fixture: Fixture, more: object = {}): Promise<string> => {
  const body = { ...quiet, name: fixture.name, ...more };
  return textAt(await fixture.requireOk('POST', '/v1/webhooks', body), 'id');
};

/** Makes a paused webhook for which one notice waits. */
const waitingNotice = (fixture: Fixture) =>
  fixture.once('waiting notice', async () => {
    const id = await newWebhook(fixture, { types: ['device.revoked'] });
    await fixture.requireOk('PATCH', `/v1/webhooks/${id}`, { state: 'paused' });
    const { screenId, deviceId } = await fixture.newTv();
    const revoke = () => fixture.revoke(deviceId);
    const notice = await noticeOf(fixture, screenId, 'device.revoked', revoke);
    return { path: `/v1/webhooks/${id}`, noticeId: textAt(notice, 'id') };
  });

const records = [
  profile('once', 'only the 201 contains the secret').expects(
    '201, whsec_, nowhere',
    async (fixture) => {
      const made = await createWebhook(fixture);
      const secret = textAt(made.json, 'secret');
      const shown = [
        await fixture.manage('GET', `/v1/webhooks/${textAt(made.json, 'id')}`),
        await fixture.manage('GET', '/v1/webhooks?limit=200'),
      ];
      const isShown = secret === '' || shown.some(({ text }) => text.includes(secret));
      return [made.status, secret.slice(0, 6), isShown ? 'shown again' : 'nowhere'];
    },
  ),
  profile('members', 'a webhook has all its members').expects(
    'all members with the right types',
    async (fixture) => {
      const path = `/v1/webhooks/${await newWebhook(fixture)}`;
      return schemaViolations(await fixture.requireOk('GET', path), {
        uuid: ['id', 'tokenId'],
        'text?': ['name', 'stateReason'],
        url: ['url'],
        'array?': ['types', 'venueIds'],
        text: ['state'],
        time: ['createdAt', 'updatedAt'],
      });
    },
  ),
  profile('repeat', 'the same Idempotency-Key makes one webhook').expects(
    '201, the same answer',
    async (fixture) => {
      const headers = { 'idempotency-key': fixture.idempotencyKey() };
      const send = () => fixture.manage('POST', '/v1/webhooks', quiet, { headers });
      const first = await send();
      const again = await send();
      return [first.status, first.text === again.text ? 'the same answer' : 'another answer'];
    },
  ),
  profile('address', '400 for an address that must not be called').expects(
    '400 address_refused, 400 address_refused, 400 address_refused, 400 address_refused',
    async (fixture) => {
      const refused = ['169.254.169.254', '[::ffff:169.254.169.254]', '[fe80::1]'];
      const urls = [...refused.map((host) => `https://${host}/`), 'https://a:b@receiver.invalid/'];
      return mapInTurn(urls, (one) => createWebhook(fixture, { url: one }));
    },
  ),
  profile('address.patch', '400 also for a change, which changes nothing').expects(
    '400 address_refused, the old URL',
    async (fixture) => {
      const path = `/v1/webhooks/${await newWebhook(fixture)}`;
      const refused = await fixture.manage('PATCH', path, { url: 'https://[fe80::1]/' });
      const kept = at(await fixture.requireOk('GET', path), 'url');
      return [refused, kept === url ? 'the old URL' : 'another URL'];
    },
  ),
  profile('400', '400 for an unknown type, and without a URL').expects(
    '400 invalid_request at /types/0, 400 invalid_request at /url',
    async (fixture) => [
      await createWebhook(fixture, { types: ['screen.exploded'] }),
      await fixture.manage('POST', '/v1/webhooks', { types: quiet.types }),
    ],
  ),
  profile('pause', 'PATCH pauses and activates it').expects(
    'active, paused, active',
    async (fixture) => {
      const path = `/v1/webhooks/${await newWebhook(fixture)}`;
      const seen = [at(await fixture.requireOk('GET', path), 'state')];
      for (const state of ['paused', 'active'])
        seen.push(at(await fixture.requireOk('PATCH', path, { state }), 'state'));
      return seen;
    },
  ),
  profile('revision', '412 for a change of an older revision').expects(
    '200, 412 precondition_failed',
    async (fixture) => {
      const path = `/v1/webhooks/${await newWebhook(fixture)}`;
      const headers = { 'if-match': (await fixture.manage('GET', path)).headers.etag ?? '' };
      const change = (name: string) => fixture.manage('PATCH', path, { name }, { headers });
      return [await change('one'), await change('another')];
    },
  ),
  profile('pages', 'nextCursor leads through all webhooks, each once').expects(
    'both, each once',
    async (fixture) => {
      const made = [await newWebhook(fixture), await newWebhook(fixture)];
      const seen: string[] = [];
      for await (const page of fixture.pages('/v1/webhooks?limit=1', 200))
        for (const one of listAt(page, 'items')) seen.push(textAt(one, 'id'));
      const isOnce = new Set(seen).size === seen.length;
      return [
        made.every((id) => seen.includes(id)) ? 'both' : 'not both',
        isOnce ? 'each once' : 'some twice',
      ];
    },
  ),
  profile('delete', '204, and then 404').expects(
    '204, 404 webhook_not_found, 404 webhook_not_found',
    async (fixture) => {
      const path = `/v1/webhooks/${await newWebhook(fixture)}`;
      const remove = () => fixture.manage('DELETE', path);
      return [await remove(), await fixture.manage('GET', path), await remove()];
    },
  ),
  profile('secret', 'POST …/secret returns another secret; the old one signs for 24 hours').expects(
    'whsec_, another secret, 24 hours',
    async (fixture) => {
      const made = await createWebhook(fixture);
      const path = `/v1/webhooks/${textAt(made.json, 'id')}`;
      const next = await fixture.requireOk('POST', `${path}/secret`);
      const changedMs = isoMs(textAt(await fixture.requireOk('GET', path), 'updatedAt'));
      const hours = (isoMs(textAt(next, 'oldSecretUntil')) - changedMs) / hourMs;
      const secret = textAt(next, 'secret');
      return [
        secret.slice(0, 6),
        secret === textAt(made.json, 'secret') ? 'the same secret' : 'another secret',
        `${Math.round(hours * 100) / 100} hours`,
      ];
    },
  ),
  profile('deliveries', 'a notice of a paused webhook waits').expects(
    '1, pending, []',
    async (fixture) => {
      const { path, noticeId } = await waitingNotice(fixture);
      const list = await fixture.requireOk('GET', `${path}/deliveries?state=pending&limit=200`);
      const waiting = listAt(list, 'items').filter((one) => at(one, 'noticeId') === noticeId);
      const [one] = waiting;
      return [waiting.length, at(one, 'state'), JSON.stringify(at(one, 'attempts'))];
    },
  ),
  profile('redeliver', '202, without counting a notice that waits anyway').expects(
    '202, 0',
    async (fixture) => {
      const { path, noticeId } = await waitingNotice(fixture);
      const answer = await fixture.manage('POST', `${path}/redeliver`, { noticeIds: [noticeId] });
      return [answer, at(answer.json, 'queued')];
    },
  ),
  profile('redeliver.400', '400 for neither ids nor a range').expects(
    '400 invalid_request',
    async (fixture) =>
      fixture.manage('POST', `${(await waitingNotice(fixture)).path}/redeliver`, {}),
  ),
];

const rights = [
  profile('role', '403 for a token of the role operator').expects(
    '403 insufficient_role, 403 insufficient_role',
    async (fixture) => {
      const token = fixture.token('operator');
      return [
        await fixture.as(token, 'GET', '/v1/webhooks'),
        await fixture.as(token, 'POST', '/v1/webhooks', quiet),
      ];
    },
  ),
  profile('venues', 'of a token bound to venues gets these venues only').expects(
    '201, its venue, 404 venue_not_found',
    async (fixture) => {
      const venueId = await fixture.venue();
      const token = fixture.token('admin', [venueId]);
      const made = await fixture.as(token, 'POST', '/v1/webhooks', quiet);
      const isBound = JSON.stringify(at(made.json, 'venueIds')) === JSON.stringify([venueId]);
      const other = { ...quiet, venueIds: [(await pairedTv(fixture)).venueId] };
      return [
        made.status,
        isBound ? 'its venue' : 'other venues',
        await fixture.as(token, 'POST', '/v1/webhooks', other),
      ];
    },
  ),
  profile('hidden', 'of the whole tenant is 404 for a token bound to venues').expects(
    '404 webhook_not_found, 404 webhook_not_found',
    async (fixture) => {
      const path = `/v1/webhooks/${await newWebhook(fixture)}`;
      const token = fixture.token('admin', [await fixture.venue()]);
      return [
        await fixture.as(token, 'GET', path),
        await fixture.as(token, 'POST', `${path}/secret`),
      ];
    },
  ),
];

/** Checks of webhooks that need no receiver (docs/protocol.md §5.17). */
export const webhookChecks: readonly ConformanceCheck[] = checkGroup(
  { id: 'webhooks', subject: 'a webhook', section: '5.17', needs: 'tokens' },
  [...records, ...rights],
);
