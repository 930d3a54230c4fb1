import { defineCommand } from '../command/spec.ts';
import { serveSettings } from '../serve/options.ts';

export const command = defineCommand({
  summary: 'Run the service',
  description: `The first start on an empty folder makes a platform token. A terminal shows it; otherwise it is written to the file
admin-token in the data folder. SIGNAGE_ADMIN_TOKEN sets it instead (mak_ and at least 24 letters and digits).`,
  options: serveSettings,
  examples: [
    ['signage serve', 'on this machine only, data in ./signage-data'],
    ['signage serve --demo', 'with something to look at'],
    ['signage serve --host 0.0.0.0 --tls-cert cert.pem --tls-key key.pem', 'for the network'],
    ['SIGNAGE_ADMIN_TOKEN=mak_… signage serve --store memory', 'forgets everything at the end'],
  ],
  effect: 'alone',
  run: async (call) => (await import('../serve/run.ts')).runService(call, call.flags),
});
