import { type Answer, at, listAt, textAt } from '../fixture/answer.ts';
import { type ConformanceCheck, checkGroup, profile, required } from '../fixture/check.ts';
import { item, unknownId } from '../fixture/content.ts';
import type { Fixture, Tv } from '../fixture/fixture.ts';

interface Revoked {
  tv: Tv;
  before: Answer;
  answer: Answer;
}

const revoke = (fixture: Fixture, deviceId: string, body?: unknown) =>
  fixture.manage('POST', `/v1/devices/${deviceId}/revoke`, body);

/** Returns a TV that fetched its playlist and was then revoked. */
function revoked(fixture: Fixture): Promise<Revoked> {
  return fixture.once('revoked, after it played', async () => {
    const tv = await fixture.newTv();
    await fixture.publish(tv.screenId, [item()]);
    const before = await tv.send('GET', 'playlist');
    return { tv, before, answer: await revoke(fixture, tv.deviceId, { reason: 'stolen' }) };
  });
}

const screenState = async (fixture: Fixture, screenId: string) =>
  textAt(await fixture.requireOk('GET', `/v1/screens/${screenId}`), 'state');
const deviceAt = async (fixture: Fixture, deviceId: string, path: string) =>
  at(await fixture.device(deviceId), path);

const rebound = (fixture: Fixture): Promise<Tv> =>
  fixture.once('rebound TV', async () => fixture.newTv((await revoked(fixture)).tv.screenId));

const requiredChecks = checkGroup(
  { id: 'revoke', subject: 'POST /v1/devices/:id/revoke', section: '6' },
  [
    required('2xx', 'revokes a device with a reason').expects(
      'accepted (2xx)',
      async (fixture) => (await revoked(fixture)).answer,
    ),
    required('device', 'the device is suspended').expects('suspended', async (fixture) =>
      deviceAt(fixture, (await revoked(fixture)).tv.deviceId, 'state'),
    ),
    required('playlist', 'the key gets the playlist before, and 401 afterwards').expects(
      '200, 401',
      async (fixture) => {
        const { tv, before } = await revoked(fixture);
        return [before, await tv.send('GET', 'playlist')];
      },
    ),
    required('config', 'the key gets 401 for the config').expects('401', async (fixture) =>
      (await revoked(fixture)).tv.send('GET', 'config'),
    ),
    required('events', 'the key gets 401 for events').expects('401', async (fixture) =>
      (await revoked(fixture)).tv.send('POST', 'events', {
        body: [{ type: 'heartbeat', timestamp: fixture.uniqueTimestamp() }],
      }),
    ),
    required('screen', 'the screen is provisioning again').expects(
      'provisioning',
      async (fixture) =>
        screenState(
          fixture,
          await fixture.once('freed screen', async () => {
            const { screenId, deviceId } = await fixture.newTv();
            await revoke(fixture, deviceId, { reason: 'conformance' });
            return screenId;
          }),
        ),
    ),
    required('again', 'a new code binds another device to the screen, with another key').expects(
      'another device, another key',
      async (fixture) => {
        const { tv } = await revoked(fixture);
        const next = await rebound(fixture);
        return [
          next.deviceId === tv.deviceId ? 'the same device' : 'another device',
          next.apiKey === tv.apiKey ? 'the same key' : 'another key',
        ];
      },
    ),
    required('stays-dead', 'the old key stays 401 after the screen is bound again').expects(
      '401',
      async (fixture) => {
        await rebound(fixture);
        return (await revoked(fixture)).tv.send('GET', 'playlist');
      },
    ),
  ],
);

const states = checkGroup({ id: 'state', subject: 'A screen', section: '6' }, [
  required('created', 'is provisioning after creation').expects('provisioning', async (fixture) =>
    screenState(fixture, await fixture.screen()),
  ),
  required('registered', 'is active while a TV is bound').expects('active', async (fixture) =>
    screenState(fixture, (await fixture.tv()).screenId),
  ),
  profile('device', 'has the id of its device, or null while provisioning').expects(
    'the device, null',
    async (fixture) => {
      const { screenId, deviceId } = await fixture.tv();
      const active = await fixture.requireOk('GET', `/v1/screens/${screenId}`);
      const free = await fixture.requireOk('GET', `/v1/screens/${await fixture.screen()}`);
      const isBound = at(active, 'deviceId') === deviceId;
      return [isBound ? 'the device' : 'another device', at(free, 'deviceId')];
    },
  ),
  profile('bound', 'has a device in the state bound').expects('bound', async (fixture) =>
    deviceAt(fixture, (await fixture.tv()).deviceId, 'state'),
  ),
  profile('one', 'never has two bound devices').expects('1', async (fixture) => {
    const screenId = await fixture.screen();
    const codes = [(await fixture.code(screenId)).code, (await fixture.code(screenId)).code];
    for (const code of codes) await fixture.register(code);
    const listed = await fixture.requireOk('GET', `/v1/devices?screenId=${screenId}&state=bound`);
    return listAt(listed, 'items').length;
  }),
]);

const profileChecks = checkGroup(
  { id: 'revoke', subject: 'POST /v1/devices/:id/revoke', section: '5.3' },
  [
    profile('200', '200 with the new states of device and screen').expects(
      '200, suspended, provisioning',
      async (fixture) => {
        const { answer } = await revoked(fixture);
        return [answer, at(answer.json, 'device.state'), at(answer.json, 'screen.state')];
      },
    ),
    profile('reason', 'the reason is stored').expects('stolen', async (fixture) =>
      deviceAt(fixture, (await revoked(fixture)).tv.deviceId, 'suspendReason'),
    ),
    profile('no-body', 'body and reason are optional').expects('200, 200', async (fixture) => [
      await revoke(fixture, (await fixture.newTv()).deviceId),
      await revoke(fixture, (await fixture.newTv()).deviceId, {}),
    ]),
    profile('twice', 'revoking again is 200 and changes nothing').expects(
      '200, unchanged',
      async (fixture) => {
        const { tv, answer } = await revoked(fixture);
        const again = await revoke(fixture, tv.deviceId, { reason: 'lost' });
        const same = ['suspendedAt', 'suspendReason'].every(
          (name) => at(again.json, `device.${name}`) === at(answer.json, `device.${name}`),
        );
        return [again, same ? 'unchanged' : 'changed'];
      },
    ),
    profile('404', '404 for an unknown device').expects('404 device_not_found', (fixture) =>
      revoke(fixture, unknownId),
    ),
    profile('400', '400 for a reason of 501 characters').expects(
      '400 invalid_request at /reason',
      async (fixture) =>
        revoke(fixture, (await fixture.newTv()).deviceId, { reason: 'x'.repeat(501) }),
    ),
    profile('400-controls', '400 for a reason with control characters').expects(
      '400 invalid_request at /reason, 400 invalid_request at /reason',
      async (fixture) => {
        const { deviceId } = await fixture.newTv();
        return [
          await revoke(fixture, deviceId, { reason: 'a\0b' }),
          await revoke(fixture, deviceId, { reason: 'a\nb' }),
        ];
      },
    ),
    profile('unknown-members', 'unknown members are ignored').expects('200', async (fixture) =>
      revoke(fixture, (await fixture.newTv()).deviceId, { ticket: 1 }),
    ),
  ],
);

/** Checks of revocation and screen states (docs/protocol.md §5.3, §6). */
export const revokeChecks: readonly ConformanceCheck[] = [
  ...requiredChecks,
  ...states,
  ...profileChecks,
];
