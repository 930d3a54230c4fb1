import { defineCommand, one } from '../../command/spec.ts';
import * as option from '../../options/option.ts';
import { member, type View } from '../../output/view.ts';

const lostExitCode = 9;

/** One loss or reconstruction in a repair. */
interface Repaired {
  file: string;
  offset: number | null;
  what: string;
  lost: number | null;
}

const repairedView: View<Repaired> = {
  columns: [member('file'), member('offset'), member('what'), member('lost')],
  nameOf: ({ file }) => file,
};

export const command = defineCommand({
  summary: 'Recover a damaged data folder',
  description: `Copies everything readable into a new folder, then opens the new store once to prove
that it starts. The damaged folder is not changed. Prefer a recent backup, if you have one. The
output lists what was lost or reconstructed; repair-<time>.json in the new folder holds the same
list. Exit codes: 0 nothing is lost, 9 data is lost, 5 a folder is in use or not empty.`,
  arguments: { folder: one('the damaged data folder') },
  options: {
    into: option.required('--into <new>', 'the new data folder: empty, or not existing yet'),
  },
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
    const repaired = await repairStore(folder, into, call.clock);
    await call.results.list(
      (async function* () {
        yield repaired;
      })(),
      repairedView,
    );
    const lost = repaired.reduce((sum, one) => sum + (one.lost ?? 0), 0);
    const isUnknown = repaired.some((one) => one.lost === null);
    call.note(
      `${into} is ready to use. Records lost: ${lost}${isUnknown ? ', or more' : ''}. ${folder} is unchanged.`,
    );
    return lost > 0 || isUnknown ? lostExitCode : 0;
  },
});
