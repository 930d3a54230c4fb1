import { defineCommand } from '../command/spec.ts';
import * as option from '../options/option.ts';
import { usage } from '../options/settings.ts';

export const command = defineCommand({
  summary: 'Show what apply would change',
  description: `Lists every difference between the service and the site files, with both values.
Exit codes: 0 nothing differs, 9 something differs.`,
  options: {
    file: option.repeated('-f, --file <file>', 'a site file, YAML or JSON; - for stdin'),
    allowOutside: option.flag(
      '--allow-outside',
      'allow playlist files outside the folder of the site file',
    ),
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
  effect: 'reads',
  async run(call) {
    const { file: files, allowOutside, prune } = call.options;
    if (files.length === 0) throw usage('Give a site file with -f, or -f - for stdin.');
    const { showDifferences } = await import('../site/apply-site.ts');
    return showDifferences(call, { files, allowOutside, prune });
  },
});
