import { type Answer, at, textAt } from './fixture/answer.ts';
import { type ConformanceCheck, checkGroup, profile } from './fixture/check.ts';
import { deviceInfo, unknownId } from './fixture/content.ts';
import type { Fixture } from './fixture/fixture.ts';

const claimsPath = '/v1/devices/claims';
const makeClaim = (fixture: Fixture, headers: Record<string, string> = {}) =>
  fixture.send('POST', '/devices/claims', { body: { deviceInfo }, headers });
/** Returns the status of a TV's claim. */
const claimStatus = (fixture: Fixture, { json }: Answer, key = textAt(json, 'token'), query = '') =>
  fixture.send('GET', `/devices/claims/${textAt(json, 'claim')}${query}`, { key });
const offer = (fixture: Fixture, { json }: Answer, screenId: string) =>
  fixture.manage('POST', `${claimsPath}/${textAt(json, 'claim')}/offer`, { screenId });

const makeTicket = async (fixture: Fixture, body: object) =>
  textAt((await fixture.manage('POST', '/v1/tickets', body)).json, 'ticket');
const claimWith = (fixture: Fixture, ticket: string) =>
  fixture.send('POST', '/devices/claims', { body: { deviceInfo, ticket } });

/** Checks of claims, with and without tickets (docs/protocol.md §3.6, §3.7). */
export const claimChecks: readonly ConformanceCheck[] = [
  ...checkGroup({ id: 'claim', subject: 'POST /devices/claims', section: '3.6' }, [
    profile('201', '201 with a claim of 6 characters, a secret and the seconds left').expects(
      '201, K7Q2MX, clm_, integer',
      async (fixture) => {
        const answer = await makeClaim(fixture);
        const { json } = answer;
        return [
          answer,
          /^[A-Z0-9]{6}$/.test(textAt(json, 'claim')) ? 'K7Q2MX' : 'another form',
          textAt(json, 'token').slice(0, 4),
          Number.isInteger(at(json, 'expiresInSeconds')) ? 'integer' : 'no integer',
        ];
      },
    ),
    profile('key', 'the same Idempotency-Key gets the same claim and secret').expects(
      'the same',
      async (fixture) => {
        const headers = { 'idempotency-key': fixture.idempotencyKey() };
        const [{ json: first }, { json: again }] = [
          await makeClaim(fixture, headers),
          await makeClaim(fixture, headers),
        ];
        const isSame = ['claim', 'token'].every((name) => textAt(first, name) === at(again, name));
        return isSame ? 'the same' : 'another';
      },
    ),
    profile('400', '400 without deviceInfo').expects(
      '400 invalid_request at /deviceInfo',
      (fixture) => fixture.send('POST', '/devices/claims', { body: {} }),
    ),
  ]),
  ...checkGroup({ id: 'claim-status', subject: 'GET /devices/claims/:claim', section: '3.6' }, [
    profile('offered', 'held until an installer offers a screen, then 404 once it is used').expects(
      'waiting, null, offered, the code, 201, 404 claim_not_found',
      async (fixture) => {
        const made = await makeClaim(fixture);
        const { json: before } = await claimStatus(fixture, made);
        const held = claimStatus(fixture, made, undefined, '?waitSeconds=20');
        const code = textAt((await offer(fixture, made, await fixture.screen())).json, 'code');
        const { json: after } = await held;
        return [
          at(before, 'status'),
          at(before, 'pairingCode'),
          at(after, 'status'),
          at(after, 'pairingCode') === code ? 'the code' : 'another code',
          await fixture.register(code),
          await claimStatus(fixture, made),
        ];
      },
    ),
    profile('404', '404 without the secret of the claim').expects(
      '404 claim_not_found',
      async (fixture) => claimStatus(fixture, await makeClaim(fixture), 'clm_other'),
    ),
  ]),
  ...checkGroup({ id: 'claim-offer', subject: `POST ${claimsPath}/:claim/offer`, section: '3.6' }, [
    profile('look', 'an installer sees the deviceInfo first, and no secret').expects(
      '200, the deviceInfo, no secret',
      async (fixture) => {
        const made = await makeClaim(fixture);
        const answer = await fixture.manage('GET', `${claimsPath}/${textAt(made.json, 'claim')}`);
        const isModel = at(answer.json, 'deviceInfo.model') === deviceInfo.model;
        const text = JSON.stringify(answer.json);
        return [
          answer,
          isModel ? 'the deviceInfo' : 'another deviceInfo',
          text.includes(textAt(made.json, 'token')) ? 'the secret' : 'no secret',
        ];
      },
    ),
    profile('409', '409 for a screen with a TV, and for a second offer').expects(
      '409 screen_already_bound, 201, 409 claim_offered',
      async (fixture) => {
        const made = await makeClaim(fixture);
        const { screenId } = await fixture.tv();
        return [
          await offer(fixture, made, screenId),
          await offer(fixture, made, await fixture.screen()),
          await offer(fixture, made, await fixture.screen()),
        ];
      },
    ),
    profile('404', '404 for an unknown screen').expects('404 screen_not_found', async (fixture) =>
      offer(fixture, await makeClaim(fixture), unknownId),
    ),
  ]),
  ...checkGroup({ id: 'ticket', subject: 'POST /v1/tickets', section: '3.7' }, [
    profile('link', 'a link binds one TV to its screen, by itself').expects(
      'offered, false, 201, its screen, 404 ticket_not_found',
      async (fixture) => {
        const screenId = await fixture.screen();
        const ticket = await makeTicket(fixture, { screenId });
        const { json } = await claimStatus(fixture, await claimWith(fixture, ticket));
        const registered = await fixture.register(textAt(json, 'pairingCode'));
        return [
          at(json, 'status'),
          at(json, 'offer.confirm'),
          registered,
          at(registered.json, 'screenId') === screenId ? 'its screen' : 'another screen',
          await claimWith(fixture, ticket),
        ];
      },
    ),
    profile('shared', 'a TV with a shared ticket waits, and is listed for installers').expects(
      'waiting, listed, 404 ticket_not_found',
      async (fixture) => {
        const screen = await fixture.requireOk('GET', `/v1/screens/${await fixture.screen()}`);
        const venueId = textAt(screen, 'venueId');
        const ticket = await makeTicket(fixture, { venueId, uses: 1 });
        const made = await claimWith(fixture, ticket);
        const { text } = await fixture.manage('GET', `${claimsPath}?venueId=${venueId}`);
        return [
          at((await claimStatus(fixture, made)).json, 'status'),
          text.includes(textAt(made.json, 'claim')) ? 'listed' : 'not listed',
          await claimWith(fixture, `tkt_${'0'.repeat(49)}`),
        ];
      },
    ),
  ]),
];
