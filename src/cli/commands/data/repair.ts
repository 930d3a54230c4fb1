import { defineCommand, one } from '../../command/spec.ts';
import { mendedView } from '../../data/mended-view.ts';
import * as option from '../../options/option.ts';

const lostExitCode = 9;

export const command = defineCommand({
  summary: 'Save what can be read of a damaged data folder',
  description: `Writes a sound store with all that can be read into another folder, and opens it once to prove that it starts. The damaged folder stays as it
is. A backup that is not too old is better: this is for when there is none. What was left out or made up for is listed, and stands in repair-<time>.json in the new
folder. Exit codes: 0 nothing is lost, 9 something is, 5 a folder is in use or not empty.`,
  arguments: { folder: one('the damaged data folder') },
  options: { into: option.needed('--into <new>', 'the new data folder: empty, or to be made') },
  examples: [
    [
      'signage data repair ./signage-data --into ./repaired',
      'then: signage serve --data ./repaired',
    ],
  ],
  effect: 'reads',
  local: true,
  async run(call) {
    const { folder } = call.args;
    const { into } = call.options;
    const { repairStore } = await import('../../../store/maintenance/repair.ts');
    const mended = await repairStore(folder, into, call.clock);
    await call.results.list(
      (async function* () {
        yield mended;
      })(),
      mendedView,
    );
    const lost = mended.reduce((sum, one) => sum + (one.lost ?? 0), 0);
    const isMore = mended.some((one) => one.lost === null);
    call.note(
      `${into} is sound and can be started. Records that are lost: ${lost}${isMore ? ', or more' : ''}. ${folder} is as it was.`,
    );
    return lost > 0 || isMore ? lostExitCode : 0;
  },
});
