import type { CommandContext } from '../command/context.ts';
import { member, type View } from '../output/view.ts';
import { type Assignment, type ConfigTree, listAssignments } from './path.ts';

const assignmentView: View<Assignment> = {
  columns: [member('key'), member('value')],
  nameOf: ({ key }) => key,
};
/** Needed by `--fields` only, which has its own columns. */
const configView: View<ConfigTree> = { columns: [], nameOf: () => '' };

/** Prints a config: for people a line for each key, as `config set` takes it, else the config. */
export async function showConfig(
  { common, results }: CommandContext,
  config: ConfigTree,
): Promise<void> {
  const { output, jq, fields } = common;
  const asData =
    jq !== undefined || fields !== undefined || ['json', 'ndjson', 'yaml'].includes(output ?? '');
  if (asData) return results.record(config, configView);
  await results.list([listAssignments(config)], assignmentView);
}
