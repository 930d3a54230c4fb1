import { type Answer, said } from '../answer.ts';
import { about, type Check, profile } from '../check.ts';
import type { Fixture } from '../fixture.ts';

const allowed = 10;

/** Sends unknown codes until it is refused, and no more than it takes. */
function lockedOut(stage: Fixture): Promise<Answer> {
  return stage.once('locked out', async () => {
    let answer = await stage.register('1O0ILIL1');
    for (let n = 0; n < allowed && answer.status !== 429; n++)
      answer = await stage.register('1O0ILIL1');
    return answer;
  });
}

/** What slows guessing (docs/protocol.md §3.5). They come last: after them, registrations from this address are refused for a while. */
export const guessingChecks: readonly Check[] = about(
  { id: 'guessing', subject: 'POST /devices/register', section: '3.5', needs: 'guessing' },
  [
    profile(
      '429',
      '429 after ten unknown codes from one address',
      '429 too_many_attempts',
      async (stage) => said(await lockedOut(stage)),
    ),
    profile(
      'retry-after',
      'it says when to come again: Retry-After, in whole seconds',
      'whole seconds',
      async (stage) => {
        const wait = (await lockedOut(stage)).headers['retry-after'] ?? 'none';
        return /^[1-9]\d{0,3}$/.test(wait) ? 'whole seconds' : wait;
      },
    ),
    profile(
      'trusted',
      'codes of a tenant whose token works from there still bind',
      '201',
      async (stage) => {
        const { code } = await stage.code();
        await lockedOut(stage);
        return said(await stage.register(code));
      },
    ),
    profile('only', 'nothing else from there is refused', '200', async (stage) => {
      await lockedOut(stage);
      return said(await (await stage.tv()).send('GET', 'config'));
    }),
  ],
);
