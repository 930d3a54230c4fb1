import { type Answer, statusAndCode, textAt } from '../fixture/answer.ts';
import { type ConformanceCheck, checkGroup, profile, skip } from '../fixture/check.ts';
import { deviceInfo } from '../fixture/content.ts';
import type { Fixture } from '../fixture/fixture.ts';

/** Contains characters that generated codes never have, so it is unknown to every service. */
const unknownCode = '0O1ILOOO';

const failures = checkGroup({ id: 'register', subject: 'POST /devices/register', section: '3.4' }, [
  profile('404', '404 for an unknown code').expects(
    '404 pairing_code_not_found',
    async (fixture) => {
      const answer = await fixture.register(unknownCode);
      if (answer.status === 429)
        skip('this address has recently sent too many unknown codes: try again in 15 minutes');
      return answer;
    },
  ),
  profile('409', '409 for a used code').expects('409 pairing_code_used', async (fixture) =>
    fixture.register((await fixture.newTv()).code),
  ),
  profile('rate-limit', 'has RateLimit and RateLimit-Policy with the same policy name').expects(
    'one name',
    async (fixture) => {
      const { headers } = await fixture.register((await fixture.newTv()).code);
      const policy = headers['ratelimit-policy'] ?? 'no RateLimit-Policy';
      const limit = headers.ratelimit ?? 'no RateLimit';
      const [, name] = /^("[^"]+");q=\d+;w=\d+$/.exec(policy) ?? [];
      const isOne = name !== undefined && /^;r=\d+(;t=\d+)?$/.test(limit.replace(name, ''));
      return isOne ? 'one name' : [policy, limit];
    },
  ),
  profile('410.cancelled', '410 for a cancelled code').expects(
    '410 pairing_code_cancelled',
    async (fixture) => {
      const { code } = await fixture.code();
      await fixture.requireOk('DELETE', `/v1/devices/provisioning-codes/${code}`);
      return fixture.register(code);
    },
  ),
  profile('413', '413 for more than 16 KiB').expects('413 body_too_large', async (fixture) =>
    fixture.register(await fixture.spareCode(), { ours: 'x'.repeat(16_384) }),
  ),
  profile('415', '415 for another Content-Type').expects('415 unsupported_media_type', (fixture) =>
    fixture.send('POST', '/devices/register', {
      raw: '{}',
      headers: { 'content-type': 'text/plain' },
    }),
  ),
  profile('403', '403 for a web page of another origin, before its code counts').expects(
    '403 origin_refused, 403 origin_refused, no quota',
    async (fixture) => {
      const raw = JSON.stringify({ pairingCode: unknownCode, deviceInfo: {} });
      const origin = 'https://another-origin.example';
      const [untyped, typed] = [
        await fixture.send('POST', '/devices/register', { raw, headers: { origin } }),
        await fixture.send('POST', '/devices/claims', {
          body: { deviceInfo: {} },
          headers: { origin },
        }),
      ];
      if (untyped.headers['access-control-allow-origin'] !== undefined)
        skip('The service allows all origins.');
      return [untyped, typed, untyped.headers.ratelimit === undefined ? 'no quota' : 'counted'];
    },
  ),
  profile('400.json', '400 invalid_json for malformed JSON').expects(
    '400 invalid_json',
    (fixture) => fixture.send('POST', '/devices/register', { raw: '{' }),
  ),
  profile('race', 'exactly one of several concurrent registrations gets the code').expects(
    '1 of 5, others 409 pairing_code_used',
    async (fixture) => {
      const { code } = await fixture.code();
      const answers = await Promise.all([1, 2, 3, 4, 5].map(() => fixture.register(code)));
      const others = answers.filter(({ status }) => status !== 201);
      const reasons = [...new Set(others.map(statusAndCode))];
      return `${answers.length - others.length} of 5, others ${reasons.join(', ')}`;
    },
  ),
]);

/** Registers with an `Idempotency-Key`, calls `before`, and registers again. */
async function repeated(
  fixture: Fixture,
  before: (first: Answer) => Promise<unknown>,
  again: { key?: string; info?: object } = {},
): Promise<{ first: Answer; second: Answer }> {
  const { code } = await fixture.code();
  const key = fixture.idempotencyKey();
  const first = await fixture.register(code, deviceInfo, { headers: { 'idempotency-key': key } });
  await before(first);
  const second = await fixture.register(code, again.info ?? deviceInfo, {
    headers: { 'idempotency-key': again.key ?? key },
  });
  return { first, second };
}

const doNothing = async () => undefined;
const sameText = ({ first, second }: { first: Answer; second: Answer }) =>
  first.text === second.text && second.status === 201 ? 'the same 201' : second;

const repeats = checkGroup(
  { id: 'register.key', subject: 'POST /devices/register', section: '3.2' },
  [
    profile(
      'same',
      'the same code with the same Idempotency-Key gets the same 201, byte for byte',
    ).expects('the same 201', async (fixture) => sameText(await repeated(fixture, doNothing))),
    profile('other-info', 'a different deviceInfo in the repeat is ignored').expects(
      'the same 201',
      async (fixture) =>
        sameText(await repeated(fixture, doNothing, { info: { model: 'another' } })),
    ),
    profile('first-use', 'the repeat is 409 once the apiKey has been used').expects(
      '409 pairing_code_used',
      async (fixture) => {
        const use = ({ json }: Answer) =>
          fixture.send('GET', `/devices/${textAt(json, 'screenId')}/config`, {
            key: textAt(json, 'apiKey'),
          });
        return (await repeated(fixture, use)).second;
      },
    ),
    profile('revoked', 'the repeat is 409 once the device is revoked').expects(
      '409 pairing_code_used',
      async (fixture) => {
        const revoke = ({ json }: Answer) => fixture.revoke(textAt(json, 'deviceId'));
        return (await repeated(fixture, revoke)).second;
      },
    ),
    profile('other-key', 'the repeat is 409 with another key').expects(
      '409 pairing_code_used',
      async (fixture) =>
        (await repeated(fixture, doNothing, { key: fixture.idempotencyKey() })).second,
    ),
    profile('short', 'a key of 15 characters is 400').expects(
      '400 invalid_request at header.idempotency-key',
      async (fixture) =>
        fixture.register(
          await fixture.spareCode(),
          {},
          { headers: { 'idempotency-key': 'x'.repeat(15) } },
        ),
    ),
  ],
);

/** Checks of failed and repeated registrations (docs/protocol.md §3.2, §3.4). */
export const registrationFailureChecks: readonly ConformanceCheck[] = [...failures, ...repeats];

const allowedGuesses = 10;

/** Sends unknown codes until the address is locked out. Sends at most 11 codes. */
function lockedOut(fixture: Fixture): Promise<Answer> {
  return fixture.once('locked out', async () => {
    let answer = await fixture.register('1O0ILIL1');
    for (let n = 0; n < allowedGuesses && answer.status !== 429; n++)
      answer = await fixture.register('1O0ILIL1');
    return answer;
  });
}

/**
 * Checks of the guess limit (docs/protocol.md §3.5). They run last, because registrations from
 * this address are rejected for a while afterwards.
 */
export const guessingChecks: readonly ConformanceCheck[] = checkGroup(
  { id: 'guessing', subject: 'POST /devices/register', section: '3.5', needs: 'guessing' },
  [
    profile('429', '429 after ten unknown codes from one address').expects(
      '429 too_many_attempts',
      lockedOut,
    ),
    profile('retry-after', 'the 429 has Retry-After, in whole seconds').expects(
      'whole seconds',
      async (fixture) => {
        const wait = (await lockedOut(fixture)).headers['retry-after'] ?? 'none';
        return /^[1-9]\d{0,3}$/.test(wait) ? 'whole seconds' : wait;
      },
    ),
    profile(
      'trusted',
      'codes of a tenant whose token is used from this address still work',
    ).expects('201', async (fixture) => {
      const { code } = await fixture.code();
      await lockedOut(fixture);
      return fixture.register(code);
    }),
    profile('only', 'other requests from this address still work').expects(
      '200',
      async (fixture) => {
        await lockedOut(fixture);
        return (await fixture.tv()).send('GET', 'config');
      },
    ),
  ],
);
