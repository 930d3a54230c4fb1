import { defineCommand } from '../../command/spec.ts';
import * as option from '../../options/option.ts';

export const command = defineCommand({
  summary: 'Back up a running service',
  description: `Writes a consistent snapshot of the whole store as a tar file. It contains
everything that was acknowledged before. Only you can read the file, because it holds the server
secret. The file appears when it is complete; existing files are never overwritten. Needs a platform
token. For a service on PostgreSQL, use the backup tools of PostgreSQL.`,
  options: { out: option.required('-o, --out <file>', 'the new file') },
  examples: [
    ['signage data backup -o monday.tar', 'the service of the current context'],
    [
      'signage data backup -o "signage-$(date +%F).tar" && scp "signage-$(date +%F).tar" vault:',
      'copies the backup to another machine',
    ],
  ],
  operation: 'createBackup',
  effect: 'changes',
  raw: true,
  run: async (call) =>
    (await import('../../data/take-backup.ts')).takeBackup(call, call.options.out),
});
