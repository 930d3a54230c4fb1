import { type Answer, said, saidAll, status } from '../answer.ts';
import { about, type Check, profile, required } from '../check.ts';
import { heartbeats, unknownId } from '../content.ts';
import type { Fixture, Tv } from '../fixture.ts';

interface Call {
  id: string;
  method: string;
  what: string;
}

const calls: readonly Call[] = [
  { id: 'playlist', method: 'GET', what: 'playlist' },
  { id: 'config', method: 'GET', what: 'config' },
  { id: 'events', method: 'POST', what: 'events' },
];

/** One call at the TV's screen, or at another id, with a key or none. */
function callWith(
  stage: Fixture,
  { method, what }: Call,
  id: string,
  key: string | undefined,
): Promise<Answer> {
  return stage.send(method, `/devices/${id}/${what}`, {
    key,
    ...(method === 'POST' && { body: heartbeats(1, stage.moment()) }),
  });
}

/** A TV whose device was revoked while it played. */
function revokedTv(stage: Fixture): Promise<Tv> {
  return stage.once('revoked TV', async () => {
    const tv = await stage.newTv();
    await stage.made('POST', `/v1/devices/${tv.deviceId}/revoke`, { reason: 'conformance' });
    return tv;
  });
}

/** A TV whose screen was deleted. */
function orphanedTv(stage: Fixture): Promise<Tv> {
  return stage.once('orphaned TV', async () => {
    const tv = await stage.newTv();
    await stage.made('DELETE', `/v1/screens/${tv.screenId}?force=true`);
    return tv;
  });
}

/** A key of the right form that nobody was given. */
const madeUpKey = `dak_${'A'.repeat(49)}`;

const reasons: Readonly<
  Record<string, { when: string; ask(stage: Fixture, call: Call): Promise<Answer> }>
> = {
  missing: {
    when: 'without a key',
    ask: async (stage, call) => callWith(stage, call, (await stage.tv()).screenId, undefined),
  },
  invalid: {
    when: 'with a key that was never given out',
    ask: async (stage, call) => callWith(stage, call, (await stage.tv()).screenId, madeUpKey),
  },
  revoked: {
    when: 'with the key of a device that was revoked',
    async ask(stage, call) {
      const { screenId, apiKey } = await revokedTv(stage);
      return callWith(stage, call, screenId, apiKey);
    },
  },
  orphaned: {
    when: 'with a key whose screen is gone',
    async ask(stage, call) {
      const { screenId, apiKey } = await orphanedTv(stage);
      return callWith(stage, call, screenId, apiKey);
    },
  },
  mismatch: {
    when: 'with the key of another screen',
    ask: async (stage, call) =>
      callWith(stage, call, (await stage.tv()).screenId, (await stage.plainTv()).apiKey),
  },
};

const refusals: readonly Check[] = calls.flatMap((call) =>
  about(
    { id: call.id, subject: `${call.method} /devices/:id/${call.what}`, section: '2.1' },
    Object.entries(reasons).flatMap(([reason, { when, ask }]) => [
      required(`401.${reason}`, `401 ${when}`, '401', async (stage) =>
        status(await ask(stage, call)),
      ),
      profile(
        `401.${reason}.code`,
        `device_key_${reason} ${when}`,
        `401 device_key_${reason}`,
        async (stage) => said(await ask(stage, call)),
      ),
    ]),
  ),
);

/** The playlist of the TV, asked for with this `Authorization`. */
const asked = async (stage: Fixture, authorization: string) =>
  stage.send('GET', `/devices/${(await stage.tv()).screenId}/config`, {
    headers: { authorization },
  });

/** Which key opens what (docs/protocol.md §2.1, §2.2). */
export const deviceKeyChecks: readonly Check[] = [
  ...refusals,
  ...about({ id: 'device-key', subject: 'Device key', section: '2.1' }, [
    profile('scheme', 'the scheme may be written in any case', '200, 200', async (stage) => {
      const { apiKey } = await stage.tv();
      return saidAll([
        await asked(stage, `bearer ${apiKey}`),
        await asked(stage, `BEARER ${apiKey}`),
      ]);
    }),
    profile(
      'form',
      'anything that is no key is device_key_invalid, whatever its form',
      [0, 0, 0].map(() => '401 device_key_invalid').join(', '),
      async (stage) => {
        const { apiKey } = await stage.tv();
        return saidAll([
          await asked(stage, 'Bearer'),
          await asked(stage, `Basic ${apiKey}`),
          await asked(stage, `Bearer ${apiKey} x`),
        ]);
      },
    ),
    profile(
      'typo',
      'a key with one letter changed is device_key_invalid',
      '401 device_key_invalid',
      async (stage) => {
        const { apiKey } = await stage.tv();
        const letter = apiKey.at(20) === 'x' ? 'y' : 'x';
        return said(
          await asked(stage, `Bearer ${apiKey.slice(0, 20)}${letter}${apiKey.slice(21)}`),
        );
      },
    ),
    profile(
      'unknown-id',
      'unknown and malformed ids answer as those of other screens',
      '401 device_key_mismatch, 401 device_key_mismatch',
      async (stage) => {
        const { apiKey } = await stage.tv();
        const ask = (id: string) => stage.send('GET', `/devices/${id}/config`, { key: apiKey });
        return saidAll([await ask(unknownId), await ask('nowhere')]);
      },
    ),
    profile(
      'order',
      'a key that is revoked says so first, whatever the id',
      '401 device_key_revoked',
      async (stage) =>
        said(
          await stage.send('GET', `/devices/${unknownId}/config`, {
            key: (await revokedTv(stage)).apiKey,
          }),
        ),
    ),
    profile(
      'www-authenticate',
      'every 401 carries WWW-Authenticate: Bearer',
      'Bearer, Bearer, Bearer, Bearer, Bearer',
      async (stage) => {
        const answers: Answer[] = [];
        for (const { ask } of Object.values(reasons))
          answers.push(await ask(stage, calls[1] as Call));
        return answers.map(({ headers }) => headers['www-authenticate'] ?? 'none').join(', ');
      },
    ),
    profile(
      'no-token',
      'a management token is no device key',
      '401 device_key_invalid',
      async (stage) =>
        said(await stage.manage('GET', `/devices/${(await stage.tv()).screenId}/config`)),
    ),
  ]),
  ...about({ id: 'device-id', subject: 'The device’s own id', section: '2.2' }, [
    profile('accepted', 'is accepted in place of the screen’s', '200, 200, 202', async (stage) => {
      const { deviceId, apiKey } = await stage.tv();
      const answers: Answer[] = [];
      for (const call of calls) answers.push(await callWith(stage, call, deviceId, apiKey));
      return saidAll(answers);
    }),
  ]),
];
