import type { CallArguments, ListId, ListItem } from '../../client/call.ts';
import type { ApiClient } from '../api/client.ts';
import type { Profile } from '../api/profile.ts';
import type { CommonValues } from '../options/shared.ts';
import type { Results } from '../output/results.ts';
import type { ViewSource } from '../output/view.ts';
import type { Prompter } from '../terminal/prompter.ts';
import type { Environment, Flags } from './environment.ts';

/** What a command is handed when it runs. */
// biome-ignore lint/suspicious/noExplicitAny: arguments and options of every command
export interface CommandContext<A = any, O = any> extends Environment, ApiClient {
  args: A;
  options: O;
  /** The shared options that commands may want to look at. */
  common: CommonValues;
  /** The options as commander has them. */
  flags: Flags;
  results: Results;
  prompter: Prompter;
  /** Which service is talked to, and as whom. Reads the saved contexts, at the first call. */
  profile(): Promise<Profile>;
  /** Shows a list of the service as the result: all pages, or `--limit`. */
  list<I extends ListId>(
    id: I,
    view: ViewSource<ListItem<I>>,
    ...input: CallArguments<I>
  ): Promise<void>;
  /** Says something beside the results, on `stderr`, unless `--quiet`. Text from elsewhere is shown escaped. */
  note(text: string): void;
  /** Asks before something is destroyed. Goes on with `--yes`, and under `--dry-run`; throws `usage` where there is nobody to ask, and `declined`. */
  confirmDestruction(question: string): Promise<void>;
}
