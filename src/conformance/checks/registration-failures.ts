import { type Answer, said, saidAt, textAt } from '../answer.ts';
import { about, type Check, profile, skip } from '../check.ts';
import { deviceInfo } from '../content.ts';
import type { Fixture } from '../fixture.ts';

/** One of those that nobody is given, for it has characters that codes leave out. It is the only unknown code of a run. */
const unknownCode = '0O1ILOOO';

const failures = about({ id: 'register', subject: 'POST /devices/register', section: '3.4' }, [
  profile(
    '404',
    '404 for a code that there is not',
    '404 pairing_code_not_found',
    async (stage) => {
      const answer = await stage.register(unknownCode);
      if (answer.status === 429)
        skip('too many unknown codes came from this address lately: try again in 15 minutes');
      return said(answer);
    },
  ),
  profile('409', '409 for a code that was used', '409 pairing_code_used', async (stage) =>
    said(await stage.register((await stage.newTv()).code)),
  ),
  profile(
    '410.cancelled',
    '410 for a code that was cancelled',
    '410 pairing_code_cancelled',
    async (stage) => {
      const { code } = await stage.code();
      await stage.made('DELETE', `/v1/devices/provisioning-codes/${code}`);
      return said(await stage.register(code));
    },
  ),
  profile('413', '413 for more than 16 KiB', '413 body_too_large', async (stage) =>
    said(await stage.register(await stage.spareCode(), { ours: 'x'.repeat(16_384) })),
  ),
  profile('415', '415 for another Content-Type', '415 unsupported_media_type', async (stage) =>
    said(
      await stage.send('POST', '/devices/register', {
        raw: '{}',
        headers: { 'content-type': 'text/plain' },
      }),
    ),
  ),
  profile(
    '400.json',
    '400 invalid_json for a body that is none',
    '400 invalid_json',
    async (stage) => said(await stage.send('POST', '/devices/register', { raw: '{' })),
  ),
  profile(
    'race',
    'of several at the same moment exactly one gets the code',
    '1 of 5, others 409 pairing_code_used',
    async (stage) => {
      const { code } = await stage.code();
      const answers = await Promise.all([1, 2, 3, 4, 5].map(() => stage.register(code)));
      const others = [...new Set(answers.filter((answer) => answer.status !== 201).map(said))];
      return `${answers.filter((answer) => answer.status === 201).length} of 5, others ${others.join(', ')}`;
    },
  ),
]);

/** A registration with a key, and what comes of doing it again; `before` happens in between. */
async function repeated(
  stage: Fixture,
  before: (first: Answer) => Promise<unknown>,
  again: { key?: string; info?: object } = {},
): Promise<{ first: Answer; second: Answer }> {
  const [{ code }, key] = [await stage.code(), stage.key()];
  const first = await stage.register(code, deviceInfo, { headers: { 'idempotency-key': key } });
  await before(first);
  const second = await stage.register(code, again.info ?? deviceInfo, {
    headers: { 'idempotency-key': again.key ?? key },
  });
  return { first, second };
}

const nothing = async () => undefined;
const sameText = ({ first, second }: { first: Answer; second: Answer }) =>
  first.text === second.text && second.status === 201 ? 'the same 201' : said(second);

const repeats = about({ id: 'register.key', subject: 'POST /devices/register', section: '3.2' }, [
  profile(
    'same',
    'the same code with the same Idempotency-Key gets the same 201, byte for byte',
    'the same 201',
    async (stage) => sameText(await repeated(stage, nothing)),
  ),
  profile(
    'other-info',
    'another deviceInfo in the repeat is ignored',
    'the same 201',
    async (stage) => sameText(await repeated(stage, nothing, { info: { model: 'another' } })),
  ),
  profile(
    'first-use',
    'once the apiKey has been used the repeat is 409',
    '409 pairing_code_used',
    async (stage) => {
      const use = ({ json }: Answer) =>
        stage.send('GET', `/devices/${textAt(json, 'screenId')}/config`, {
          key: textAt(json, 'apiKey'),
        });
      return said((await repeated(stage, use)).second);
    },
  ),
  profile(
    'revoked',
    'once the device was revoked the repeat is 409',
    '409 pairing_code_used',
    async (stage) => {
      const revoke = ({ json }: Answer) =>
        stage.made('POST', `/v1/devices/${textAt(json, 'deviceId')}/revoke`);
      return said((await repeated(stage, revoke)).second);
    },
  ),
  profile(
    'other-key',
    'with another key the code is used',
    '409 pairing_code_used',
    async (stage) => said((await repeated(stage, nothing, { key: stage.key() })).second),
  ),
  profile(
    'short',
    'a key of 15 characters is 400',
    '400 invalid_request at header.idempotency-key',
    async (stage) =>
      saidAt(
        await stage.register(
          await stage.spareCode(),
          {},
          { headers: { 'idempotency-key': 'x'.repeat(15) } },
        ),
      ),
  ),
]);

/** Registrations that come to nothing, and those that come twice (docs/protocol.md §3.2, §3.4). */
export const registrationFailureChecks: readonly Check[] = [...failures, ...repeats];
