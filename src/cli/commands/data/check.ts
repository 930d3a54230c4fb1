import { defineCommand, one } from '../../command/spec.ts';
import { findingsView } from '../../data/findings-view.ts';

const damagedExitCode = 9;

export const command = defineCommand({
  summary: 'Check a data folder for damage',
  description: `Reads everything in the data folder of a service that is stopped, and names every file and place that is not as it was written: also old
events and audit entries, which no start reads, and audit entries whose MAC is wrong though their checksum is right. Nothing is changed. Exit codes: 0 it is sound, 9 it is damaged or was tampered with, 5 the folder is in use: then stop the service,
or check a restored backup.`,
  arguments: { folder: one('the data folder') },
  examples: [
    ['signage data check ./signage-data', 'what is damaged, by file and offset'],
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
      call.note(`${folder} is sound.`);
      return 0;
    }
    call.note(
      `${folder} is damaged. Restore a backup (signage data restore), or save what can be read: signage data repair ${folder} --into NEW`,
    );
    return damagedExitCode;
  },
});
