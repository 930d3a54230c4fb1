import { pause } from '../../client/pause.ts';
import { mapInTurn } from '../../domain/concurrency.ts';
import { type Answer, at, isTime, schemaViolations, textAt } from '../fixture/answer.ts';
import { type ConformanceCheck, checkGroup, profile, required } from '../fixture/check.ts';
import { unknownId } from '../fixture/content.ts';
import type { Fixture } from '../fixture/fixture.ts';

const codesPath = '/v1/devices/provisioning-codes';
/** Creates a code for a new screen, and returns the response. All checks share this code. */
const createdCode = (fixture: Fixture): Promise<Answer> =>
  fixture.once('created code', async () =>
    fixture.manage('POST', codesPath, { screenId: await fixture.screen() }),
  );
const codeStatus = (fixture: Fixture, code: string) =>
  fixture.manage('GET', `${codesPath}/${code}/status`);
const cancel = (fixture: Fixture, code: string) => fixture.manage('DELETE', `${codesPath}/${code}`);

/** Registers a TV, and returns whether its device is marked as simulated. */
async function isSimulated(fixture: Fixture, more: object, ofTv: object): Promise<unknown> {
  const body = { screenId: await fixture.screen(), ...more };
  const pairingCode = textAt(await fixture.requireOk('POST', codesPath, body), 'code');
  const sent = { body: { pairingCode, deviceInfo: ofTv, ...ofTv } };
  const { json } = await fixture.send('POST', '/devices/register', sent);
  return at(await fixture.device(textAt(json, 'deviceId')), 'simulated');
}

const states = (fixture: Fixture, codes: readonly string[]): Promise<string[]> =>
  mapInTurn(codes, async (code) => textAt((await codeStatus(fixture, code)).json, 'status'));

const creation = checkGroup(
  { id: 'code', subject: 'POST /v1/devices/provisioning-codes', section: '4' },
  [
    required('2xx', 'creates a code for a screen').expects('accepted (2xx)', createdCode),
    required('form', 'the code has exactly 8 characters of A-Z and 0-9').expects(
      '8 characters of A-Z and 0-9',
      async (fixture) => {
        const code = textAt((await createdCode(fixture)).json, 'code');
        return /^[A-Z0-9]{8}$/.test(code)
          ? '8 characters of A-Z and 0-9'
          : `${code.length} characters`;
      },
    ),
    required('status', 'the status of the code can be read').expects(
      'accepted (2xx)',
      async (fixture) => codeStatus(fixture, textAt((await createdCode(fixture)).json, 'code')),
    ),
    required('registers', 'a TV registers with the code').expects('201', async (fixture) =>
      fixture.register((await fixture.code()).code),
    ),
    profile('201', '201 with the code').expects('201', createdCode),
    profile('members', 'code, screenId, status, createdAt, expiresAt, expiresInSeconds').expects(
      'all members with the right types',
      async (fixture) =>
        schemaViolations((await createdCode(fixture)).json, {
          text: ['code', 'status'],
          uuid: ['screenId'],
          time: ['createdAt', 'expiresAt'],
          integer: ['expiresInSeconds'],
        }),
    ),
    profile('lifetime', 'the code lives 1 to 60 minutes, and expiresInSeconds agrees').expects(
      '1 to 60 minutes',
      async (fixture) => {
        const { json } = await createdCode(fixture);
        const seconds =
          (Date.parse(textAt(json, 'expiresAt')) - Date.parse(textAt(json, 'createdAt'))) / 1000;
        const agrees = Math.abs(Number(at(json, 'expiresInSeconds')) - seconds) <= 1;
        return seconds >= 60 && seconds <= 3600 && agrees
          ? '1 to 60 minutes'
          : `${seconds} seconds, expiresInSeconds ${at(json, 'expiresInSeconds')}`;
      },
    ),
    profile('alphabet', 'the code has no characters that are easily confused').expects(
      'none of 0 O 1 I L',
      async (fixture) => {
        const all = [
          textAt((await createdCode(fixture)).json, 'code'),
          (await fixture.code()).code,
          (await fixture.code()).code,
        ].join('');
        return /[01OIL]/.test(all) || all === '' ? 'others' : 'none of 0 O 1 I L';
      },
    ),
    profile('headers', 'Location is the path of its status, and Cache-Control is no-store').expects(
      'its status, no-store',
      async (fixture) => {
        const answer = await createdCode(fixture);
        const path = `${codesPath}/${textAt(answer.json, 'code')}/status`;
        const isStatus = (answer.headers.location ?? '').endsWith(path);
        return [isStatus ? 'its status' : 'another Location', answer.headers['cache-control']];
      },
    ),
    profile(
      'simulated',
      'simulated in the request for the code marks the device; simulated in deviceInfo does not',
    ).expects('true, false', async (fixture) => [
      await isSimulated(fixture, { simulated: true }, {}),
      await isSimulated(fixture, {}, { simulated: true }),
    ]),
    profile('404', '404 for an unknown screen').expects('404 screen_not_found', (fixture) =>
      fixture.manage('POST', codesPath, { screenId: unknownId }),
    ),
    profile('400', '400 for a screenId that is not a UUID').expects(
      '400 invalid_request at /screenId',
      (fixture) => fixture.manage('POST', codesPath, { screenId: 'Lobby' }),
    ),
    profile('409', '409 for a screen with a bound TV').expects(
      '409 screen_already_bound',
      async (fixture) =>
        fixture.manage('POST', codesPath, { screenId: (await fixture.tv()).screenId }),
    ),
    profile('unknown-members', 'unknown members are ignored').expects('201', async (fixture) =>
      fixture.manage('POST', codesPath, { screenId: await fixture.screen(), note: 1 }),
    ),
    profile('several', 'a screen may have five live codes; a sixth cancels the oldest').expects(
      'cancelled, pending, pending, pending, pending, pending',
      async (fixture) => {
        const screenId = await fixture.screen();
        const codes: string[] = [];
        for (let n = 0; n < 6; n++) {
          codes.push((await fixture.code(screenId)).code);
          // Codes created in the same millisecond have no defined order.
          await pause(fixture.clock, 2, fixture.signal);
        }
        return states(fixture, codes);
      },
    ),
    profile('siblings', 'using one code cancels the other codes of the screen').expects(
      'cancelled, used, 410 pairing_code_cancelled',
      async (fixture) => {
        const screenId = await fixture.screen();
        const first = (await fixture.code(screenId)).code;
        const second = (await fixture.code(screenId)).code;
        await fixture.register(second);
        return [...(await states(fixture, [first, second])), await fixture.register(first)];
      },
    ),
  ],
);

const polling = checkGroup(
  { id: 'code-status', subject: 'GET /v1/devices/provisioning-codes/:code/status', section: '4' },
  [
    profile('pending', 'a new code is pending, with usedAt and deviceId null').expects(
      'pending, null, null',
      async (fixture) => {
        const created = await createdCode(fixture);
        const { json } = await codeStatus(fixture, textAt(created.json, 'code'));
        return [at(json, 'status'), at(json, 'usedAt'), at(json, 'deviceId')];
      },
    ),
    profile('used', 'a used code has usedAt, deviceId and no time left').expects(
      'used, the device, 0',
      async (fixture) => {
        const { code, deviceId } = await fixture.tv();
        const { json } = await codeStatus(fixture, code);
        const isUsed = at(json, 'deviceId') === deviceId && isTime(at(json, 'usedAt'));
        return [
          at(json, 'status'),
          isUsed ? 'the device' : 'another device or time',
          at(json, 'expiresInSeconds'),
        ];
      },
    ),
    profile('404', '404 for an unknown code').expects('404 pairing_code_not_found', (fixture) =>
      codeStatus(fixture, 'ZZZZZZZZ'),
    ),
    profile('wait', 'waitSeconds holds the response until the status changes').expects(
      'used',
      async (fixture) => {
        const { code } = await fixture.code();
        const held = fixture.manage('GET', `${codesPath}/${code}/status?waitSeconds=10`);
        await fixture.register(code);
        return at((await held).json, 'status');
      },
    ),
    profile('wait.range', '400 for waitSeconds outside 1 to 30').expects(
      '400 invalid_request at query.waitSeconds',
      async (fixture) => {
        const code = textAt((await createdCode(fixture)).json, 'code');
        return fixture.manage('GET', `${codesPath}/${code}/status?waitSeconds=31`);
      },
    ),
  ],
);

const cancelling = checkGroup(
  { id: 'code-cancel', subject: 'DELETE /v1/devices/provisioning-codes/:code', section: '4' },
  [
    profile('204', '204, and the code is cancelled with no time left').expects(
      '204, cancelled, 0',
      async (fixture) => {
        const { code } = await fixture.code();
        const answer = await cancel(fixture, code);
        const { json } = await codeStatus(fixture, code);
        return [answer, at(json, 'status'), at(json, 'expiresInSeconds')];
      },
    ),
    profile('409', '409 for a used or cancelled code').expects(
      '409 pairing_code_not_pending, 409 pairing_code_not_pending',
      async (fixture) => {
        const { code } = await fixture.code();
        await cancel(fixture, code);
        return [await cancel(fixture, code), await cancel(fixture, (await fixture.newTv()).code)];
      },
    ),
    profile('404', '404 for an unknown code').expects('404 pairing_code_not_found', (fixture) =>
      cancel(fixture, 'ZZZZZZZZ'),
    ),
  ],
);

/** Checks of pairing codes (docs/protocol.md §4). */
export const codeChecks: readonly ConformanceCheck[] = [...creation, ...polling, ...cancelling];
