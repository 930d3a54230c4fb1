import { pause } from '../../client/pause.ts';
import { secondMs } from '../../domain/clock.ts';
import { at, said, textAt } from '../answer.ts';
import { about, type Check, profile } from '../check.ts';
import { item } from '../content.ts';
import type { Fixture } from '../fixture.ts';

/** More than it takes for clocks that differ a little. */
const marginMs = 2 * secondMs;

/** Two codes whose time is over: one that nobody used, and one that was used with this key. */
function expired(stage: Fixture): Promise<{ unused: string; used: string; key: string }> {
  return stage.once('expired codes', async () => {
    const [unused, used, key] = [(await stage.code()).code, (await stage.code()).code, stage.key()];
    await stage.register(used, {}, { headers: { 'idempotency-key': key } });
    const { json } = await stage.manage('GET', `/v1/devices/provisioning-codes/${unused}/status`);
    await pause(
      stage.clock,
      Number(at(json, 'expiresInSeconds')) * secondMs + marginMs,
      stage.signal,
    );
    return { unused, used, key };
  });
}

/** What takes its time (docs/protocol.md §2.3, §3.2, §3.4, §4). */
export const waitingChecks: readonly Check[] = [
  ...about(
    { id: 'playlist', subject: 'GET /devices/:id/playlist', section: '2.3', needs: 'time' },
    [
      profile(
        'expired',
        '404 once its validUntil is past',
        '200, 404 playlist_not_found',
        async (stage) => {
          const tv = await stage.newTv();
          await stage.made('PUT', `/v1/screens/${tv.screenId}/playlist`, {
            items: [item()],
            validUntil: Math.floor(stage.clock.now() / secondMs) + 3,
          });
          const before = await tv.send('GET', 'playlist');
          await pause(stage.clock, 3 * secondMs + marginMs, stage.signal);
          return `${said(before)}, ${said(await tv.send('GET', 'playlist'))}`;
        },
      ),
    ],
  ),
  ...about({ id: 'register', subject: 'POST /devices/register', section: '3.4', needs: 'time' }, [
    profile(
      '410.expired',
      '410 for a code whose time is over',
      '410 pairing_code_expired',
      async (stage) => said(await stage.register((await expired(stage)).unused)),
    ),
    profile(
      'key.expired',
      'once the code’s time is over the repeat is 409',
      '409 pairing_code_used',
      async (stage) => {
        const { used, key } = await expired(stage);
        return said(await stage.register(used, {}, { headers: { 'idempotency-key': key } }));
      },
    ),
  ]),
  ...about(
    {
      id: 'code-status',
      subject: 'GET /v1/devices/provisioning-codes/:code/status',
      section: '4',
      needs: 'time',
    },
    [
      profile('expired', 'expired, with no time left', 'expired, 0', async (stage) => {
        const json = await stage.made(
          'GET',
          `/v1/devices/provisioning-codes/${(await expired(stage)).unused}/status`,
        );
        return `${textAt(json, 'status')}, ${at(json, 'expiresInSeconds')}`;
      }),
    ],
  ),
];
