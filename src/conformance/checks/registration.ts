import { isKey } from '../../domain/api-key.ts';
import { mapInTurn } from '../../domain/concurrency.ts';
import { at, schemaViolations, textAt } from '../fixture/answer.ts';
import { type ConformanceCheck, checkGroup, profile, required } from '../fixture/check.ts';
import { deviceInfo } from '../fixture/content.ts';
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
