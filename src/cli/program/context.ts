import type { CallArguments, ListId, ListItem } from '../../client/call.ts';
import type { SignageError } from '../../domain/error.ts';
import type { ForeignFile, Verdict } from '../../media/examination/verdict.ts';
import type { BeforeChange, CommandClient } from '../connection/client.ts';
import type { Profile } from '../connection/profile.ts';
import type { Flags } from '../input/settings.ts';
import type { CommonValues } from '../input/shared.ts';
import type { Results } from '../output/results.ts';
import type { ViewSource } from '../output/view.ts';
import type { ProgramEnvironment } from '../terminal/environment.ts';
import type { Prompter } from '../terminal/prompter.ts';

/** What a program that runs commands for somebody else adds to them. */
export interface CommandHooks {
  beforeChange?: BeforeChange;
  /** Throws if media must not be requested from an IP address. Default: each is allowed. */
  checkAddress?(address: string): void;
}

/** The parameter of a command's `run`: its input, its output and the service. */
// biome-ignore lint/suspicious/noExplicitAny: arguments and options of every command
export interface CommandContext<A = any, O = any>
  extends ProgramEnvironment,
    CommandClient,
    Pick<CommandHooks, 'checkAddress'> {
  args: A;
  options: O;
  common: CommonValues;
  /** The options as commander parsed them. */
  flags: Flags;
  results: Results;
  prompter: Prompter;
  /** Returns the service and the credentials. The first call reads the saved contexts. */
  profile(): Promise<Profile>;
  /**
   * Requests a list, and prints it as the result of the command. Stops at `--limit` items, if
   * given. Returns whether there was a record.
   */
  list<I extends ListId>(
    id: I,
    view: ViewSource<ListItem<I>>,
    ...input: CallArguments<I>
  ): Promise<boolean>;
  /**
   * Replaces the members named in an error of the service by flags of the command. JSON output
   * keeps the error as received.
   */
  shownError(error: SignageError): SignageError;
  /** Examines a media file in a thread of its own. Throws `interrupted` on a signal. */
  examine(file: ForeignFile): Promise<Verdict>;
  /**
   * Prints a message to `stderr`, with control characters escaped, and wrapped at a terminal.
   * Silent with `--quiet`.
   */
  note(text: string): void;
  /**
   * Asks before something is destroyed. Does not ask with `--yes` or `--dry-run`. Throws `declined`
   * when the answer is no, and `usage` when it cannot ask.
   */
  confirmDestruction(question: string): Promise<void>;
  /**
   * Like `confirmDestruction`, for a change that destroys nothing. Continues when it cannot ask.
   */
  confirmChange(question: string): Promise<void>;
}
