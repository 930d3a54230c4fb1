import { defineCommand } from '../../program/spec.ts';
import { serveSettings } from './options.ts';

export const serve = defineCommand({
  summary: 'Run the service',
  description: `The first start with an empty data folder creates a platform token. At a terminal it
is shown once. Otherwise it is written to the file admin-token in the data folder.
SIGNAGE_ADMIN_TOKEN sets the token instead: mak_ and at least 24 letters and digits. When all copies
are lost, --new-admin-token creates another platform token.`,
  options: serveSettings,
  examples: [
    ['signage serve', 'reachable from this machine only, data in ./signage-data'],
    ['signage serve --demo', 'with sample data and simulated TVs'],
    [
      'signage serve --host 0.0.0.0 --tls-cert cert.pem --tls-key key.pem',
      'reachable from the network',
    ],
    [
      'SIGNAGE_ADMIN_TOKEN=mak_… signage serve --store memory',
      'keeps everything in memory; all is lost when it stops',
    ],
  ],
  effect: 'alone',
  run: async (call) => (await import('./run.ts')).runService(call, call.options),
});
