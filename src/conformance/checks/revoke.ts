import { type Answer, accepted, at, said, saidAll, saidAt, status, textAt } from '../answer.ts';
import { about, type Check, profile, required } from '../check.ts';
import { item, unknownId } from '../content.ts';
import type { Fixture, Tv } from '../fixture.ts';

interface Revoked {
  tv: Tv;
  before: Answer;
  answer: Answer;
}

const revoke = (stage: Fixture, deviceId: string, body?: unknown) =>
  stage.manage('POST', `/v1/devices/${deviceId}/revoke`, body);

/** A TV that played and was revoked. */
function revoked(stage: Fixture): Promise<Revoked> {
  return stage.once('revoked, after it played', async () => {
    const tv = await stage.newTv();
    await stage.made('PUT', `/v1/screens/${tv.screenId}/playlist`, { items: [item()] });
    const before = await tv.send('GET', 'playlist');
    return { tv, before, answer: await revoke(stage, tv.deviceId, { reason: 'stolen' }) };
  });
}

const screenState = async (stage: Fixture, screenId: string) =>
  textAt(await stage.made('GET', `/v1/screens/${screenId}`), 'state');
const deviceAt = async (stage: Fixture, deviceId: string, path: string) =>
  String(at(await stage.made('GET', `/v1/devices/${deviceId}`), path));

/** Another TV on the screen of one that was revoked. */
const rebound = (stage: Fixture): Promise<Tv> =>
  stage.once('rebound TV', async () => stage.newTv((await revoked(stage)).tv.screenId));

const documented = about({ id: 'revoke', subject: 'POST /v1/devices/:id/revoke', section: '6' }, [
  required('2xx', 'a device is revoked, with a reason', 'accepted (2xx)', async (stage) =>
    accepted((await revoked(stage)).answer),
  ),
  required('device', 'the device is suspended', 'suspended', async (stage) =>
    deviceAt(stage, (await revoked(stage)).tv.deviceId, 'state'),
  ),
  required(
    'playlist',
    'its key fetched the playlist before, and is 401 afterwards',
    '200, 401',
    async (stage) => {
      const { tv, before } = await revoked(stage);
      return `${before.status}, ${status(await tv.send('GET', 'playlist'))}`;
    },
  ),
  required('config', 'its key is 401 for the config', '401', async (stage) =>
    status(await (await revoked(stage)).tv.send('GET', 'config')),
  ),
  required('events', 'its key is 401 for events', '401', async (stage) =>
    status(
      await (await revoked(stage)).tv.send('POST', 'events', {
        body: [{ type: 'heartbeat', timestamp: stage.moment() }],
      }),
    ),
  ),
  required('screen', 'the screen is provisioning again', 'provisioning', async (stage) =>
    screenState(
      stage,
      await stage.once('freed screen', async () => {
        const { screenId, deviceId } = await stage.newTv();
        await revoke(stage, deviceId, { reason: 'conformance' });
        return screenId;
      }),
    ),
  ),
  required(
    'again',
    'a new code binds another device to the screen, with another key',
    'another device, another key',
    async (stage) => {
      const [{ tv }, next] = [await revoked(stage), await rebound(stage)];
      return `${next.deviceId === tv.deviceId ? 'the same device' : 'another device'}, ${next.apiKey === tv.apiKey ? 'the same key' : 'another key'}`;
    },
  ),
  required(
    'stays-dead',
    'the old key stays 401 when the screen has another device',
    '401',
    async (stage) => {
      await rebound(stage);
      return status(await (await revoked(stage)).tv.send('GET', 'playlist'));
    },
  ),
]);

const states = about({ id: 'state', subject: 'A screen', section: '6' }, [
  required('created', 'is provisioning when it was made', 'provisioning', async (stage) =>
    screenState(stage, await stage.screen()),
  ),
  required('registered', 'is active when a TV was bound to it', 'active', async (stage) =>
    screenState(stage, (await stage.tv()).screenId),
  ),
  profile(
    'device',
    'shows its device, and none when it is provisioning',
    'the device, null',
    async (stage) => {
      const { screenId, deviceId } = await stage.tv();
      const [active, free] = [
        await stage.made('GET', `/v1/screens/${screenId}`),
        await stage.made('GET', `/v1/screens/${await stage.screen()}`),
      ];
      return `${at(active, 'deviceId') === deviceId ? 'the device' : 'another device'}, ${at(free, 'deviceId')}`;
    },
  ),
  profile('bound', 'has a device that is bound', 'bound', async (stage) =>
    deviceAt(stage, (await stage.tv()).deviceId, 'state'),
  ),
  profile('one', 'never has two devices that are bound', '1', async (stage) => {
    const screenId = await stage.screen();
    const codes = [(await stage.code(screenId)).code, (await stage.code(screenId)).code];
    for (const code of codes) await stage.register(code);
    const listed = await stage.made('GET', `/v1/devices?screenId=${screenId}&state=bound`);
    return String((at(listed, 'items') as readonly unknown[] | undefined)?.length);
  }),
]);

const decided = about({ id: 'revoke', subject: 'POST /v1/devices/:id/revoke', section: '5.3' }, [
  profile(
    '200',
    '200 with the device and the screen as they are now',
    '200, suspended, provisioning',
    async (stage) => {
      const { answer } = await revoked(stage);
      return `${said(answer)}, ${at(answer.json, 'device.state')}, ${at(answer.json, 'screen.state')}`;
    },
  ),
  profile('reason', 'the reason is kept', 'stolen', async (stage) =>
    deviceAt(stage, (await revoked(stage)).tv.deviceId, 'suspendReason'),
  ),
  profile('no-body', 'the body may be left out, and so may the reason', '200, 200', async (stage) =>
    saidAll([
      await revoke(stage, (await stage.newTv()).deviceId),
      await revoke(stage, (await stage.newTv()).deviceId, {}),
    ]),
  ),
  profile(
    'twice',
    'the second time it is 200 again, and nothing changes',
    '200, the same',
    async (stage) => {
      const { tv, answer } = await revoked(stage);
      const again = await revoke(stage, tv.deviceId, { reason: 'lost' });
      const same = ['suspendedAt', 'suspendReason'].every(
        (name) => at(again.json, `device.${name}`) === at(answer.json, `device.${name}`),
      );
      return `${said(again)}, ${same ? 'the same' : 'changed'}`;
    },
  ),
  profile('404', '404 for an unknown device', '404 device_not_found', async (stage) =>
    said(await revoke(stage, unknownId)),
  ),
  profile(
    '400',
    '400 for a reason of 501 characters',
    '400 invalid_request at /reason',
    async (stage) =>
      saidAt(await revoke(stage, (await stage.newTv()).deviceId, { reason: 'x'.repeat(501) })),
  ),
  profile('unknown-members', 'members that are not known are ignored', '200', async (stage) =>
    said(await revoke(stage, (await stage.newTv()).deviceId, { ticket: 1 })),
  ),
]);

/** How a TV is let go, and what follows (docs/protocol.md §5.3, §6). */
export const revokeChecks: readonly Check[] = [...documented, ...states, ...decided];
