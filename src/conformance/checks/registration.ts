import { isKey } from '../../domain/api-key.ts';
import { mapInTurn } from '../../domain/concurrency.ts';
import { type Answer, at, schemaViolations, textAt } from '../fixture/answer.ts';
import { type ConformanceCheck, checkGroup, profile, required } from '../fixture/check.ts';
import { deviceInfo, unknownId } from '../fixture/content.ts';
import type { Fixture } from '../fixture/fixture.ts';

/** Registers a TV with this `deviceInfo` on a new screen. */
const registerWith = async (fixture: Fixture, info: unknown) =>
  fixture.register((await fixture.code()).code, info);
/** Tries to register with a `deviceInfo` that must be rejected. Uses the shared spare code. */
const registerSpareWith = async (fixture: Fixture, info: unknown) =>
  fixture.register(await fixture.spareCode(), info);
const registration = async (fixture: Fixture) => (await fixture.tv()).registered;

/** Checks of registration (docs/protocol.md §3.1). */
export const registrationChecks: readonly ConformanceCheck[] = checkGroup(
  { id: 'register', subject: 'POST /devices/register', section: '3.1' },
  [
    required('201', '201 for a code and deviceInfo, without Authorization').expects(
      '201',
      (fixture) => registerWith(fixture, deviceInfo),
    ),
    required('members', 'deviceId, screenId, apiKey, tenantId and config').expects(
      'all members with the right types',
      async (fixture) =>
        schemaViolations((await registration(fixture)).json, {
          uuid: ['deviceId', 'screenId'],
          text: ['apiKey', 'tenantId'],
          object: ['config'],
        }),
    ),
    required('config', 'config has intervals and a cachePolicy').expects(
      'all members with the right types',
      async (fixture) =>
        schemaViolations((await registration(fixture)).json, {
          number: [
            'config.syncIntervalMinutes',
            'config.heartbeatIntervalMinutes',
            'config.cachePolicy.maxSizeGB',
            'config.cachePolicy.retentionDays',
          ],
        }),
    ),
    required('api-key', 'apiKey begins with dak_').expects('dak_', async (fixture) =>
      textAt((await registration(fixture)).json, 'apiKey').startsWith('dak_')
        ? 'dak_'
        : 'another beginning',
    ),
    required('screen', 'screenId is the screen of the code').expects(
      'the same',
      async (fixture) => {
        const { screenId, registered } = await fixture.tv();
        const seen = at(registered.json, 'screenId');
        return seen === screenId ? 'the same' : seen;
      },
    ),
    required('key-works', 'the key is accepted by the device endpoints').expects(
      '200',
      async (fixture) => (await fixture.newTv()).send('GET', 'config'),
    ),
    required('mac-colons', 'a MAC address with colons is accepted').expects('201', (fixture) =>
      registerWith(fixture, { ...deviceInfo, macAddress: '02:00:5E:10:00:FF' }),
    ),
    required('mac-dashes', 'a MAC address with dashes is accepted').expects('201', (fixture) =>
      registerWith(fixture, { ...deviceInfo, macAddress: '02-00-5E-10-00-FF' }),
    ),
    required('ipv6', 'an IPv6 address is accepted').expects('201', (fixture) =>
      registerWith(fixture, { ...deviceInfo, ipAddress: '2001:db8::17' }),
    ),
    required('mac-invalid', 'a MAC address without separators is rejected').expects(
      'refused (4xx)',
      (fixture) => registerSpareWith(fixture, { ...deviceInfo, macAddress: '02005E1000FF' }),
    ),
    required('ip-invalid', 'an invalid IP address is rejected').expects(
      'refused (4xx)',
      (fixture) => registerSpareWith(fixture, { ...deviceInfo, ipAddress: '192.0.2.256' }),
    ),
    required('code-short', 'a code of 7 characters is rejected').expects(
      'refused (4xx)',
      async (fixture) => fixture.register((await fixture.spareCode()).slice(1), deviceInfo),
    ),
    required('code-long', 'a code of 9 characters is rejected').expects(
      'refused (4xx)',
      async (fixture) => fixture.register(`${await fixture.spareCode()}A`, deviceInfo),
    ),
    required('code-case', 'a lower-case code is rejected').expects(
      'refused (4xx)',
      async (fixture) =>
        fixture.register(`${(await fixture.spareCode()).slice(0, 7).toLowerCase()}a`, deviceInfo),
    ),
    required('code-characters', 'a code with other characters is rejected').expects(
      'refused (4xx)',
      async (fixture) =>
        fixture.register(`${(await fixture.spareCode()).slice(0, 7)}-`, deviceInfo),
    ),
    required('key-once', 'only this response contains the apiKey').expects(
      'nowhere',
      async (fixture) => {
        const { apiKey, screenId, deviceId, send } = await fixture.tv();
        const paths = [`/v1/devices/${deviceId}`, `/v1/screens/${screenId}`];
        const answers = await mapInTurn(paths, (path) => fixture.manage('GET', path));
        answers.push(await send('GET', 'config'));
        return answers.some(({ text }) => text.includes(apiKey)) ? 'shown' : 'nowhere';
      },
    ),
    profile('key-form', 'the key is dak_, 43 characters of base62 and their checksum').expects(
      'of that form',
      async (fixture) =>
        isKey('dak_', (await fixture.tv()).apiKey) ? 'of that form' : 'of another form',
    ),
    profile('no-store', 'Cache-Control is no-store').expects(
      'no-store',
      async (fixture) => (await registration(fixture)).headers['cache-control'],
    ),
    profile('400.code', '400 at /pairingCode for a malformed code').expects(
      '400 invalid_request at /pairingCode',
      (fixture) => fixture.register('abcd2345'),
    ),
    profile('400.mac', '400 at /deviceInfo/macAddress for mixed separators').expects(
      '400 invalid_request at /deviceInfo/macAddress',
      (fixture) => registerSpareWith(fixture, { macAddress: '02:00:5E-10:00:01' }),
    ),
    profile('400.ip', '400 at /deviceInfo/ipAddress for an address with a zone').expects(
      '400 invalid_request at /deviceInfo/ipAddress',
      (fixture) => registerSpareWith(fixture, { ipAddress: 'fe80::1%eth0' }),
    ),
    profile('400.text', '400 for a text of 256 characters, and for a number').expects(
      '400 invalid_request at /deviceInfo/deviceName, /deviceInfo/model',
      (fixture) => registerSpareWith(fixture, { model: 'x'.repeat(256), deviceName: 1 }),
    ),
    profile('400.device-info', '400 for deviceInfo that is missing or not an object').expects(
      '400 invalid_request at /deviceInfo, 400 invalid_request at /deviceInfo',
      async (fixture) => {
        const missing = await fixture.send('POST', '/devices/register', {
          body: { pairingCode: await fixture.spareCode() },
        });
        return [missing, await registerSpareWith(fixture, 'TV')];
      },
    ),
    profile('optional', 'every member of deviceInfo may be missing or null').expects(
      '201, 201',
      async (fixture) => {
        const nothing = Object.fromEntries(Object.keys(deviceInfo).map((name) => [name, null]));
        return [await registerWith(fixture, {}), await registerWith(fixture, nothing)];
      },
    ),
    profile('unknown-members', 'unknown members are ignored').expects('201', (fixture) =>
      registerWith(fixture, { firmware: 1 }),
    ),
    profile('refused-keeps-code', 'a rejected registration does not use up the code').expects(
      '400 invalid_request, 201',
      async (fixture) => {
        const { code } = await fixture.code();
        return [await fixture.register(code, { macAddress: 'x' }), await fixture.register(code)];
      },
    ),
    profile('device', 'the device has the sent deviceInfo').expects(
      JSON.stringify(deviceInfo),
      async (fixture) => {
        const answer = await registerWith(fixture, deviceInfo);
        const device = await fixture.device(textAt(answer.json, 'deviceId'));
        const shown = Object.keys(deviceInfo).map((name) => [
          name,
          at(device, `deviceInfo.${name}`),
        ]);
        return JSON.stringify(Object.fromEntries(shown));
      },
    ),
  ],
);

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
