import { pause } from '../../client/pause.ts';
import { type Answer, accepted, at, said, saidAll, saidAt, status, textAt } from '../answer.ts';
import { about, type Check, profile, required } from '../check.ts';
import { unknownId } from '../content.ts';
import type { Fixture } from '../fixture.ts';
import { schemaViolations } from '../schema-violations.ts';

const codes = '/v1/devices/provisioning-codes';
/** The answer to making a code for a screen that nothing else happens to. */
const created = (stage: Fixture): Promise<Answer> =>
  stage.once('created code', async () =>
    stage.manage('POST', codes, { screenId: await stage.screen() }),
  );
const stand = (stage: Fixture, code: string) => stage.manage('GET', `${codes}/${code}/status`);
const cancel = (stage: Fixture, code: string) => stage.manage('DELETE', `${codes}/${code}`);
const state = async (stage: Fixture, code: string) =>
  textAt((await stand(stage, code)).json, 'status');

/** Where the codes of one screen stand, one after another. */
async function states(stage: Fixture, made: readonly string[]): Promise<string> {
  const seen: string[] = [];
  for (const code of made) seen.push(await state(stage, code));
  return seen.join(', ');
}

const documented = about(
  { id: 'code', subject: 'POST /v1/devices/provisioning-codes', section: '4' },
  [
    required('2xx', 'a code is made for a screen', 'accepted (2xx)', async (stage) =>
      accepted(await created(stage)),
    ),
    required(
      'form',
      'it has exactly 8 characters of A-Z and 0-9',
      '8 characters of A-Z and 0-9',
      async (stage) => {
        const code = textAt((await created(stage)).json, 'code');
        return /^[A-Z0-9]{8}$/.test(code)
          ? '8 characters of A-Z and 0-9'
          : `${code.length} characters`;
      },
    ),
    required('status', 'its status can be asked for', 'accepted (2xx)', async (stage) =>
      accepted(await stand(stage, textAt((await created(stage)).json, 'code'))),
    ),
    required('registers', 'a TV registers with it', '201', async (stage) =>
      status(await stage.register((await stage.code()).code)),
    ),
  ],
);

const creation = about(
  { id: 'code', subject: 'POST /v1/devices/provisioning-codes', section: '4' },
  [
    profile('201', '201 with the code', '201', async (stage) => said(await created(stage))),
    profile(
      'members',
      'code, screenId, status, createdAt, expiresAt, expiresInSeconds',
      'all of them, each of its type',
      async (stage) =>
        schemaViolations((await created(stage)).json, {
          code: 'text',
          screenId: 'uuid',
          status: 'text',
          createdAt: 'time',
          expiresAt: 'time',
          expiresInSeconds: 'integer',
        }),
    ),
    profile(
      'lifetime',
      'it lives 1 to 60 minutes, and expiresInSeconds says the same',
      '1 to 60 minutes',
      async (stage) => {
        const { json } = await created(stage);
        const seconds =
          (Date.parse(textAt(json, 'expiresAt')) - Date.parse(textAt(json, 'createdAt'))) / 1000;
        const agrees = Math.abs(Number(at(json, 'expiresInSeconds')) - seconds) <= 1;
        return seconds >= 60 && seconds <= 3600 && agrees
          ? '1 to 60 minutes'
          : `${seconds} seconds, expiresInSeconds ${at(json, 'expiresInSeconds')}`;
      },
    ),
    profile(
      'alphabet',
      'its characters are those that nobody confuses',
      'none of 0 O 1 I L',
      async (stage) => {
        const all = [
          textAt((await created(stage)).json, 'code'),
          (await stage.code()).code,
          (await stage.code()).code,
        ].join('');
        return /[01OIL]/.test(all) || all === '' ? 'others' : 'none of 0 O 1 I L';
      },
    ),
    profile(
      'headers',
      'Location is its status, and it is not to be kept by caches',
      'its status, no-store',
      async (stage) => {
        const { headers, json } = await created(stage);
        const isStatus = (headers.location ?? '').endsWith(
          `${codes}/${textAt(json, 'code')}/status`,
        );
        return `${isStatus ? 'its status' : 'another Location'}, ${headers['cache-control']}`;
      },
    ),
    profile('404', '404 for an unknown screen', '404 screen_not_found', async (stage) =>
      said(await stage.manage('POST', codes, { screenId: unknownId })),
    ),
    profile(
      '400',
      '400 for a screenId that is no UUID',
      '400 invalid_request at /screenId',
      async (stage) => saidAt(await stage.manage('POST', codes, { screenId: 'Lobby' })),
    ),
    profile('409', '409 for a screen that has a TV', '409 screen_already_bound', async (stage) =>
      said(await stage.manage('POST', codes, { screenId: (await stage.tv()).screenId })),
    ),
    profile('unknown-members', 'members that are not known are ignored', '201', async (stage) =>
      said(await stage.manage('POST', codes, { screenId: await stage.screen(), note: 1 })),
    ),
    profile(
      'several',
      'a screen may have five live codes; a sixth cancels the oldest',
      'cancelled, pending, pending, pending, pending, pending',
      async (stage) => {
        const screenId = await stage.screen();
        const made: string[] = [];
        for (let n = 0; n < 6; n++) {
          made.push((await stage.code(screenId)).code);
          // Of codes of one millisecond none is the oldest.
          await pause(stage.clock, 2, stage.signal);
        }
        return states(stage, made);
      },
    ),
    profile(
      'siblings',
      'when one is used the others are cancelled, and bind nothing',
      'cancelled, used, 410 pairing_code_cancelled',
      async (stage) => {
        const screenId = await stage.screen();
        const [first, second] = [
          (await stage.code(screenId)).code,
          (await stage.code(screenId)).code,
        ];
        await stage.register(second);
        return `${await states(stage, [first, second])}, ${said(await stage.register(first))}`;
      },
    ),
  ],
);

const polling = about(
  { id: 'code-status', subject: 'GET /v1/devices/provisioning-codes/:code/status', section: '4' },
  [
    profile(
      'pending',
      'pending, without usedAt and deviceId',
      'pending, null, null',
      async (stage) => {
        const { json } = await stand(stage, textAt((await created(stage)).json, 'code'));
        return `${at(json, 'status')}, ${at(json, 'usedAt')}, ${at(json, 'deviceId')}`;
      },
    ),
    profile(
      'used',
      'used, with the device, when, and no time left',
      'used, the device, 0',
      async (stage) => {
        const { code, deviceId } = await stage.tv();
        const { json } = await stand(stage, code);
        const wrong = schemaViolations(json, { usedAt: 'time' });
        const seen = `${at(json, 'status')}, ${at(json, 'deviceId') === deviceId ? 'the device' : 'another device'}, ${at(json, 'expiresInSeconds')}`;
        return wrong.length > 0 ? wrong : seen;
      },
    ),
    profile(
      '404',
      '404 for a code that there is not',
      '404 pairing_code_not_found',
      async (stage) => said(await stand(stage, 'ZZZZZZZZ')),
    ),
    profile(
      'wait',
      'waitSeconds holds the answer until the status changes',
      'used',
      async (stage) => {
        const { code } = await stage.code();
        const held = stage.manage('GET', `${codes}/${code}/status?waitSeconds=10`);
        await stage.register(code);
        return textAt((await held).json, 'status');
      },
    ),
    profile(
      'wait.range',
      '400 for waitSeconds outside of 1 to 30',
      '400 invalid_request at query.waitSeconds',
      async (stage) =>
        saidAt(
          await stage.manage(
            'GET',
            `${codes}/${textAt((await created(stage)).json, 'code')}/status?waitSeconds=31`,
          ),
        ),
    ),
  ],
);

const cancelling = about(
  { id: 'code-cancel', subject: 'DELETE /v1/devices/provisioning-codes/:code', section: '4' },
  [
    profile(
      '204',
      '204, and it is cancelled with no time left',
      '204, cancelled, 0',
      async (stage) => {
        const { code } = await stage.code();
        const answer = await cancel(stage, code);
        const { json } = await stand(stage, code);
        return `${said(answer)}, ${at(json, 'status')}, ${at(json, 'expiresInSeconds')}`;
      },
    ),
    profile(
      '409',
      '409 for one that is used or cancelled already',
      '409 pairing_code_not_pending, 409 pairing_code_not_pending',
      async (stage) => {
        const { code } = await stage.code();
        await cancel(stage, code);
        return saidAll([
          await cancel(stage, code),
          await cancel(stage, (await stage.newTv()).code),
        ]);
      },
    ),
    profile(
      '404',
      '404 for a code that there is not',
      '404 pairing_code_not_found',
      async (stage) => said(await cancel(stage, 'ZZZZZZZZ')),
    ),
  ],
);

/** Pairing codes (docs/protocol.md §4). */
export const codeChecks: readonly Check[] = [...documented, ...creation, ...polling, ...cancelling];
