import { defineCommand } from '../command/spec.ts';
import * as option from '../options/option.ts';
import { usage } from '../options/settings.ts';
import { makeResults } from '../output/results.ts';

export const command = defineCommand({
  summary: 'Export a service as a site file',
  description: `Prints the whole tenant, or the chosen venues, as one document for signage apply.
Default format: YAML. Devices, codes, tokens and expired playlists are left out.`,
  options: { venue: option.repeated('--venue <venue>', 'only this venue, by id or name', 'venue') },
  examples: [
    ['signage export > site.yaml', 'the whole tenant'],
    ['signage export --venue Lobby > lobby.yaml', 'one venue'],
    ['signage export | signage apply -f - --context staging', 'copies it to another service'],
  ],
  effect: 'reads',
  async run(call) {
    const { output, jq } = call.common;
    const format = output ?? (jq === undefined ? 'yaml' : 'json');
    if (!['yaml', 'json', 'ndjson'].includes(format))
      throw usage(`Export supports yaml and json, not ${format}.`);
    const { exportSite } = await import('../site/export-site.ts');
    const site = await exportSite(call, call.options.venue);
    await makeResults(call.io, { ...call.common, output: format }).record(site, {
      columns: [],
      nameOf: () => '',
    });
  },
});
