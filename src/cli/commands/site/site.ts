import * as option from '../../input/option.ts';
import { usage } from '../../input/settings.ts';
import { makeResults } from '../../output/results.ts';
import { defineCommand } from '../../program/spec.ts';
import { isData } from '../../terminal/format.ts';

const fileOptions = {
  file: option.repeated('-f, --file <file>', 'a site file, YAML, JSON or CSV; - for stdin'),
  allowOutside: option.flag(
    '--allow-outside',
    'allow playlist and media files outside the folder of the file that names them',
  ),
};

export const apply = defineCommand({
  summary: 'Apply site files to a service',
  description: `Site files describe venues and screens with their labels, configs and playlists;
docs/site-files.md has the format. CSV has one line for each screen, with the columns venue, name,
address, timezone, hours, labels, label.KEY, config.KEY and playlist. The hours are those of the
screen; in a line without a name, those of the venue. Records that already match are not changed.
Run the same command again at any time; after an interruption it continues. Files, and for at most
3 seconds the URLs of new playlists and schedules, are examined first; if one would show nothing,
nothing is changed. Records that the files do not name are kept unless you give --prune. One failed record does
not stop the others; the exit code is then 9.`,
  options: {
    ...fileOptions,
    prune: option.flag(
      '--prune',
      'delete screens that the files do not name; also venues, if the files have a `tenant` entry',
    ),
    force: option.flag('--force', 'with --prune: also delete active screens'),
    unexamined: option.flag(
      '--unexamined',
      'also if no TV shows it: a cut file, a URL that answers with an error, a page that forbids frames',
    ),
  },
  examples: [
    ['signage apply -f site.yaml', 'creates what is missing and updates what differs'],
    ['signage apply -f screens.csv', 'screens from a spreadsheet'],
    [
      'signage screen list --venue Lobby -o csv | signage apply -f - --context staging',
      'the screens of a venue on another service',
    ],
    ['signage apply -f site.yaml --dry-run', 'shows the changes without making them'],
    ['signage apply -f playlists.yaml -f venues.yaml', 'several files, read as one'],
    [
      'signage apply -f site.yaml --prune --yes',
      'for scripts: deletes what is not in the file, without asking',
    ],
  ],
  effect: 'destroys',
  async run(call) {
    const { file: files, allowOutside, prune, force } = call.options;
    if (files.length === 0) throw usage('Give a site file with -f, or -f - for stdin.');
    if (force && !prune) throw usage('--force works only together with --prune.');
    const { applySite } = await import('./apply-site.ts');
    return applySite(call, { files, allowOutside, prune, force });
  },
});

export const diff = defineCommand({
  summary: 'Show what apply would change',
  description: `Lists every difference between the service and the site files, with both values.
Exit codes: 0 nothing differs, 9 something differs.`,
  options: {
    ...fileOptions,
    prune: option.flag('--prune', 'also show what apply --prune would delete'),
  },
  examples: [
    ['signage diff -f site.yaml', 'what apply would change'],
    ['signage diff -f site.yaml --prune', 'also what it would delete'],
    [
      'signage diff -f site.yaml --quiet > /dev/null && echo "as described"',
      'for scripts: check the exit code',
    ],
  ],
  async run(call) {
    const { file: files, allowOutside, prune } = call.options;
    if (files.length === 0) throw usage('Give a site file with -f, or -f - for stdin.');
    const { showDifferences } = await import('./apply-site.ts');
    return showDifferences(call, { files, allowOutside, prune });
  },
});

export const exportCommand = defineCommand({
  summary: 'Export a service as a site file',
  description: `Prints the whole tenant, or the chosen venues, as one document for signage apply.
Default format: YAML. Devices, codes, tokens and expired playlists are left out.`,
  options: { venue: option.repeated('--venue <venue>', 'only this venue, by id or name', 'venue') },
  examples: [
    ['signage export > site.yaml', 'the whole tenant'],
    ['signage export --venue Lobby > lobby.yaml', 'one venue'],
    ['signage export | signage apply -f - --context staging', 'copies it to another service'],
  ],
  async run(call) {
    const { output, jq } = call.common;
    const format = output ?? (jq === undefined ? 'yaml' : 'json');
    if (!isData(format)) throw usage(`Export supports yaml and json, not ${format}.`);
    const { exportSite } = await import('./export-site.ts');
    const site = await exportSite(call, call.options.venue);
    await makeResults(call, { ...call.common, output: format }).record(site, {
      columns: [],
      nameOf: () => '',
    });
  },
});
