import { defineCommand, one } from '../../command/spec.ts';
import { member, type View } from '../../output/view.ts';

const damagedExitCode = 9;

interface Found {
  level: string;
  file: string;
  offset: number | null;
  what: string;
}

const findingsView: View<Found> = {
  columns: [member('level'), member('file'), member('offset'), member('what')],
  nameOf: ({ file }) => file,
};

export const command = defineCommand({
  summary: 'Check a data folder for damage',
  description: `Reads the whole data folder of a stopped service and lists every damaged file with
the position of the damage. It also reads old events and audit entries, which a start of the service
skips. It finds audit entries that have a valid checksum but a wrong MAC. Changes nothing. Exit
codes: 0 no damage, 9 the folder is damaged or was tampered with, 5 the folder is in use: stop the
service, or check a restored backup.`,
  arguments: { folder: one('the data folder') },
  examples: [
    ['signage data check ./signage-data', 'lists damage by file and offset'],
    ['signage data check ./signage-data -o ndjson', 'for scripts'],
  ],
  effect: 'reads',
  local: true,
  async run(call) {
    const { folder } = call.args;
    const { checkStore } = await import('../../../store/maintenance/check.ts');
    const findings = await checkStore(folder);
    await call.results.list(
      (async function* () {
        yield findings;
      })(),
      findingsView,
    );
    if (findings.every(({ level }) => level === 'note')) {
      call.note(`${folder} is not damaged.`);
      return 0;
    }
    call.note(
      `${folder} is damaged. Restore a backup (signage data restore), or recover what is readable: signage data repair ${folder} --into NEW`,
    );
    return damagedExitCode;
  },
});
