import { readFile, writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { packProgram } from '../kills/packed-program.ts';
import { type KillReport, killLoop, sumOf } from '../kills/scenario.ts';
import { LoopDisk, whyNoLoopDisk } from './loop-disk.ts';

/** Several disks, because they are small and comparisons grow. */
const [disks, cutsEach] = [8, 25];

const why = await whyNoLoopDisk(await temporaryFolder());
if (why !== undefined) console.log(`power cuts: skipped, ${why}`);

it.skipIf(why !== undefined)(
  `has everything that was acknowledged after each of ${disks * cutsEach} power cuts under load${why ? ` (skipped: ${why})` : ''}`,
  async () => {
    const began = performance.now();
    const run = await packProgram();
    const reports: KillReport[] = [];
    // This file is never synced. If it survives every time, the power cuts of a disk do not work.
    // How often it does depends on the load, because its bytes go to the disk with those of others.
    const sentinel = 'not synced';
    const canariesLost: number[] = [];
    for (let number = 0; number < disks; number++) {
      let lost = 0;
      const disk = new LoopDisk(await temporaryFolder());
      await disk.make();
      try {
        reports.push(
          await killLoop(disk.data, {
            kills: cutsEach,
            atMostAnswers: 120,
            run,
            async crash(service) {
              await writeFile(`${disk.data}/../canary`, sentinel);
              service.pause();
              const copy = await disk.copyAtAnInstant();
              await service.kill();
              await disk.restore(copy);
              if ((await readFile(`${disk.data}/../canary`, 'utf8').catch(() => '')) !== sentinel)
                lost++;
            },
          }),
        );
        canariesLost.push(lost);
      } finally {
        await disk.remove();
      }
    }
    const { kills: cuts, missing, ...figures } = sumOf(reports);
    const seconds = Math.round((performance.now() - began) / 1000);
    console.log(
      `power cuts: ${JSON.stringify({ cuts, ...figures, canariesLost, missing: missing.length, seconds })}`,
    );
    expect(missing).toEqual([]);
    expect(canariesLost).toHaveLength(disks);
    expect(Math.min(...canariesLost)).toBeGreaterThan(0);
  },
);
