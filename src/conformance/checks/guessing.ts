import type { Answer } from '../answer.ts';
import { type Check, checkGroup, profile } from '../check.ts';
import type { Fixture } from '../fixture.ts';

const allowedGuesses = 10;

/** Sends unknown codes until the address is locked out, and no more than necessary. */
function lockedOut(fixture: Fixture): Promise<Answer> {
  return fixture.once('locked out', async () => {
    let answer = await fixture.register('1O0ILIL1');
    for (let n = 0; n < allowedGuesses && answer.status !== 429; n++)
      answer = await fixture.register('1O0ILIL1');
    return answer;
  });
}

/**
 * Checks of the guess limit (docs/protocol.md §3.5). They run last, because registrations from this
 * address are rejected for a while afterwards.
 */
export const guessingChecks: readonly Check[] = checkGroup(
  { id: 'guessing', subject: 'POST /devices/register', section: '3.5', needs: 'guessing' },
  [
    profile(
      '429',
      '429 after ten unknown codes from one address',
      '429 too_many_attempts',
      lockedOut,
    ),
    profile(
      'retry-after',
      'the 429 has Retry-After, in whole seconds',
      'whole seconds',
      async (fixture) => {
        const wait = (await lockedOut(fixture)).headers['retry-after'] ?? 'none';
        return /^[1-9]\d{0,3}$/.test(wait) ? 'whole seconds' : wait;
      },
    ),
    profile(
      'trusted',
      'codes of a tenant whose token is used from this address still work',
      '201',
      async (fixture) => {
        const { code } = await fixture.code();
        await lockedOut(fixture);
        return fixture.register(code);
      },
    ),
    profile('only', 'other requests from this address still work', '200', async (fixture) => {
      await lockedOut(fixture);
      return (await fixture.tv()).send('GET', 'config');
    }),
  ],
);
