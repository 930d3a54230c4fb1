import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dayMs, hourMs, secondMs } from '../../../src/domain/clock.ts';
import { hasCode } from '../../../src/domain/error.ts';
import { lockFolder } from '../../../src/store/json/lock/folder-lock.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';

const jumpsMs = [0, secondMs, -secondMs, hourMs, -hourMs, 400 * dayMs, -400 * dayMs];

/**
 * Locks a folder concurrently, and again after each jump of the clock. Returns violations: only one
 * owner at a time is allowed.
 */
export async function findTwoOwners(
  lock: typeof lockFolder = lockFolder,
  triers = 4,
): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'signage-owners-'));
  const clock = new ManualClock();
  const held: (() => Promise<void>)[] = [];
  const attempt = async () => {
    const tried = Array.from({ length: triers }, () =>
      lock(folder, { clock, random: randomBytes, platform: process.platform }),
    );
    const results = await Promise.allSettled(tried);
    for (const result of results) if (result.status === 'fulfilled') held.push(result.value);
    return results.flatMap((one) =>
      one.status === 'rejected' && !hasCode(one.reason, 'store_locked')
        ? [`it is refused with ${one.reason}`]
        : [],
    );
  };
  const wrong: string[] = [];
  const check = (when: string) => {
    if (held.length !== 1) wrong.push(`${held.length} have the folder ${when}`);
  };
  try {
    wrong.push(...(await attempt()));
    check('after all have tried at once');
    for (const jumpMs of jumpsMs) {
      clock.set(new ManualClock().now() + jumpMs);
      wrong.push(...(await attempt()));
      check(`after the clock was set ${jumpMs} ms on`);
      await Promise.all(held.splice(1).map((release) => release()));
    }
    await held.pop()?.();
    wrong.push(...(await attempt()));
    check('after it was given back');
    return wrong;
  } finally {
    await Promise.all(held.map((release) => release()));
    await rm(folder, { recursive: true, force: true });
  }
}
