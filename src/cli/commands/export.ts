import { defineCommand } from '../command/spec.ts';
import * as option from '../options/option.ts';
import { usage } from '../options/settings.ts';
import { makeResults } from '../output/results.ts';

export const command = defineCommand({
  summary: 'Write what a service has as files that apply reads',
  description:
    'The whole tenant, or some of its venues, as one document on stdout, in YAML unless -o says json. Devices, codes and tokens are no part of it, nor are playlists past their end.',
  options: { venue: option.repeated('--venue <venue>', 'this venue only, by id or name', 'venue') },
  examples: [
    ['signage export > site.yaml', 'all there is'],
    ['signage export --venue Lobby > lobby.yaml', 'one venue'],
    ['signage export | signage apply -f - --context staging', 'takes it to another service'],
  ],
  effect: 'reads',
  async run(call) {
    const { output, jq } = call.common;
    const format = output ?? (jq === undefined ? 'yaml' : 'json');
    if (!['yaml', 'json', 'ndjson'].includes(format))
      throw usage(`A site is written as yaml or json, not as ${format}.`);
    const { exportSite } = await import('../site/export-site.ts');
    const site = await exportSite(call, call.options.venue);
    await makeResults(call.io, { ...call.common, output: format }).record(site, {
      columns: [],
      nameOf: () => '',
    });
  },
});
