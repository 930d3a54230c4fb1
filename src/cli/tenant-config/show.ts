import type { CommandContext } from '../command/context.ts';
import { member, type View } from '../output/view.ts';
import { type Assignment, type ConfigTree, listSettings } from './path.ts';

const assignmentView: View<Assignment> = {
  columns: [member('key'), member('value')],
  nameOf: ({ key }) => key,
};
/** Never used but for `--fields`, which brings its own columns. */
const configView: View<ConfigTree> = { columns: [], nameOf: () => '' };

/** Shows a config: to people a line for each setting, as `config set` takes it; as data the config itself. */
export async function showConfig(
  { common, results }: CommandContext,
  config: ConfigTree,
): Promise<void> {
  const { output, jq, fields } = common;
  const asData =
    jq !== undefined || fields !== undefined || ['json', 'ndjson', 'yaml'].includes(output ?? '');
  if (asData) return results.record(config, configView);
  async function* lines() {
    yield listSettings(config);
  }
  await results.list(lines(), assignmentView);
}
