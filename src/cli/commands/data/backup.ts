import { defineCommand } from '../../command/spec.ts';
import * as option from '../../options/option.ts';

export const command = defineCommand({
  summary: 'Take a backup of a running service',
  description: `One consistent state of the whole store, with everything that was acknowledged before, as a tar file that only you may read: it holds the
server secret. The file appears when it is complete; nothing is overwritten. It takes a platform token.
A service on PostgreSQL is backed up with PostgreSQL's own tools.`,
  options: { out: option.needed('-o, --out <file>', 'the new file') },
  examples: [
    ['signage data backup -o monday.tar', 'of the service that the context names'],
    [
      'signage data backup -o "signage-$(date +%F).tar" && scp "signage-$(date +%F).tar" vault:',
      'kept on another machine',
    ],
  ],
  operation: 'createBackup',
  effect: 'changes',
  raw: true,
  run: async (call) =>
    (await import('../../data/take-backup.ts')).takeBackup(call, call.options.out),
});
