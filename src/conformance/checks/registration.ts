import { isKey } from '../../domain/api-key.ts';
import { at, refused, said, saidAll, saidAt, status, textAt } from '../answer.ts';
import { about, type Check, profile, required } from '../check.ts';
import { deviceInfo } from '../content.ts';
import type { Fixture } from '../fixture.ts';
import { schemaViolations } from '../schema-violations.ts';

/** Registers on a new screen with this deviceInfo. */
const withInfo = async (stage: Fixture, info: unknown) =>
  stage.register((await stage.code()).code, info);
const refusedInfo = async (stage: Fixture, info: unknown) =>
  stage.register(await stage.spareCode(), info);
const done = async (stage: Fixture) => (await stage.tv()).registered;

const documented = about({ id: 'register', subject: 'POST /devices/register', section: '3.1' }, [
  required('201', '201 for a code and deviceInfo, without Authorization', '201', async (stage) =>
    status(await withInfo(stage, deviceInfo)),
  ),
  required(
    'members',
    'deviceId, screenId, apiKey, tenantId and config',
    'all of them, each of its type',
    async (stage) =>
      schemaViolations((await done(stage)).json, {
        deviceId: 'uuid',
        screenId: 'uuid',
        apiKey: 'text',
        tenantId: 'text',
        config: 'object',
      }),
  ),
  required(
    'config',
    'config has intervals and a cachePolicy',
    'all of them, each of its type',
    async (stage) =>
      schemaViolations((await done(stage)).json, {
        'config.syncIntervalMinutes': 'number',
        'config.heartbeatIntervalMinutes': 'number',
        'config.cachePolicy.maxSizeGB': 'number',
        'config.cachePolicy.retentionDays': 'number',
      }),
  ),
  required('api-key', 'apiKey begins with dak_', 'dak_', async (stage) =>
    textAt((await done(stage)).json, 'apiKey').startsWith('dak_') ? 'dak_' : 'another beginning',
  ),
  required('screen', 'screenId is the screen of the code', 'the same', async (stage) => {
    const { screenId, registered } = await stage.tv();
    return at(registered.json, 'screenId') === screenId
      ? 'the same'
      : String(at(registered.json, 'screenId'));
  }),
  required('key-works', 'the key opens the runtime endpoints', '200', async (stage) =>
    status(await (await stage.newTv()).send('GET', 'config')),
  ),
  required('mac-colons', 'a MAC address with colons is taken', '201', async (stage) =>
    status(await withInfo(stage, { ...deviceInfo, macAddress: '02:00:5E:10:00:FF' })),
  ),
  required('mac-dashes', 'a MAC address with dashes is taken', '201', async (stage) =>
    status(await withInfo(stage, { ...deviceInfo, macAddress: '02-00-5E-10-00-FF' })),
  ),
  required('ipv6', 'an IPv6 address is taken', '201', async (stage) =>
    status(await withInfo(stage, { ...deviceInfo, ipAddress: '2001:db8::17' })),
  ),
  required('mac-invalid', 'another MAC address is refused', 'refused (4xx)', async (stage) =>
    refused(await refusedInfo(stage, { ...deviceInfo, macAddress: '02005E1000FF' })),
  ),
  required('ip-invalid', 'an IP address that is none is refused', 'refused (4xx)', async (stage) =>
    refused(await refusedInfo(stage, { ...deviceInfo, ipAddress: '192.0.2.256' })),
  ),
  required('code-short', 'a code of 7 characters is refused', 'refused (4xx)', async (stage) =>
    refused(await stage.register((await stage.spareCode()).slice(1), deviceInfo)),
  ),
  required('code-long', 'a code of 9 characters is refused', 'refused (4xx)', async (stage) =>
    refused(await stage.register(`${await stage.spareCode()}A`, deviceInfo)),
  ),
  required('code-case', 'a code in lower case is refused', 'refused (4xx)', async (stage) =>
    refused(
      await stage.register(`${(await stage.spareCode()).slice(0, 7).toLowerCase()}a`, deviceInfo),
    ),
  ),
  required(
    'code-characters',
    'a code with other characters is refused',
    'refused (4xx)',
    async (stage) =>
      refused(await stage.register(`${(await stage.spareCode()).slice(0, 7)}-`, deviceInfo)),
  ),
  required(
    'key-once',
    'the apiKey is in this answer only: nothing else shows it',
    'nowhere',
    async (stage) => {
      const { apiKey, screenId, deviceId, send } = await stage.tv();
      const paths = [`/v1/devices/${deviceId}`, `/v1/screens/${screenId}`];
      const texts = [
        (await send('GET', 'config')).text,
        ...(await Promise.all(paths.map((path) => stage.manage('GET', path)))).map(
          ({ text }) => text,
        ),
      ];
      return texts.some((text) => text.includes(apiKey)) ? 'shown' : 'nowhere';
    },
  ),
]);

const decided = about({ id: 'register', subject: 'POST /devices/register', section: '3.1' }, [
  profile(
    'key-form',
    'the key is dak_, 43 characters of base62 and their checksum',
    'of that form',
    async (stage) =>
      isKey('dak_', (await stage.tv()).apiKey) ? 'of that form' : 'of another form',
  ),
  profile('no-store', 'the answer is not to be kept by caches', 'no-store', async (stage) =>
    String((await done(stage)).headers['cache-control']),
  ),
  profile(
    '400.code',
    '400 at /pairingCode for a code in another form',
    '400 invalid_request at /pairingCode',
    async (stage) => saidAt(await stage.register('abcd2345')),
  ),
  profile(
    '400.mac',
    '400 at /deviceInfo/macAddress, also for mixed separators',
    '400 invalid_request at /deviceInfo/macAddress',
    async (stage) => saidAt(await refusedInfo(stage, { macAddress: '02:00:5E-10:00:01' })),
  ),
  profile(
    '400.ip',
    '400 at /deviceInfo/ipAddress, also for one with a zone',
    '400 invalid_request at /deviceInfo/ipAddress',
    async (stage) => saidAt(await refusedInfo(stage, { ipAddress: 'fe80::1%eth0' })),
  ),
  profile(
    '400.text',
    '400 for a text of 256 characters, and for a number',
    '400 invalid_request at /deviceInfo/deviceName, /deviceInfo/model',
    async (stage) => saidAt(await refusedInfo(stage, { model: 'x'.repeat(256), deviceName: 1 })),
  ),
  profile(
    '400.device-info',
    '400 for deviceInfo that is missing or no object',
    '400 invalid_request at /deviceInfo, 400 invalid_request at /deviceInfo',
    async (stage) => {
      const missing = await stage.send('POST', '/devices/register', {
        body: { pairingCode: await stage.spareCode() },
      });
      return [missing, await refusedInfo(stage, 'TV')].map(saidAt).join(', ');
    },
  ),
  profile(
    'optional',
    'every member of deviceInfo may be left out, or null',
    '201, 201',
    async (stage) => {
      const nothing = Object.fromEntries(Object.keys(deviceInfo).map((name) => [name, null]));
      return saidAll([await withInfo(stage, {}), await withInfo(stage, nothing)]);
    },
  ),
  profile('unknown-members', 'members that are not known are ignored', '201', async (stage) =>
    said(await withInfo(stage, { firmware: 1 })),
  ),
  profile(
    'refused-keeps-code',
    'a registration that is refused does not use the code up',
    '400 invalid_request, 201',
    async (stage) => {
      const { code } = await stage.code();
      return saidAll([await stage.register(code, { macAddress: 'x' }), await stage.register(code)]);
    },
  ),
  profile(
    'device',
    'the device is shown with its deviceInfo',
    JSON.stringify(deviceInfo),
    async (stage) => {
      const answer = await withInfo(stage, deviceInfo);
      const device = await stage.made('GET', `/v1/devices/${textAt(answer.json, 'deviceId')}`);
      const shown = Object.keys(deviceInfo).map((name) => [name, at(device, `deviceInfo.${name}`)]);
      return JSON.stringify(Object.fromEntries(shown));
    },
  ),
]);

/** How a TV is bound (docs/protocol.md §3.1). */
export const registrationChecks: readonly Check[] = [...documented, ...decided];
