import { readAsset } from '../../../package/assets.ts';
import { type CommandTree, defineCommand, one, some } from '../../program/spec.ts';
import type { CompletionContext, Offer } from './complete.ts';

const shells = ['bash', 'zsh', 'fish'] as const;

const shellArgument = {
  ...one(`${shells.slice(0, -1).join(', ')} or ${shells.at(-1)}`),
  choices: shells,
};

const lines = (texts: readonly string[]) => texts.map((text) => `${text}\n`).join('');
/** A line with a single tab, which is no candidate: the script completes file names. */
const filesWanted = '\t\n';

/**
 * Completes for zsh and fish. These shells pass separate words and quote inserted text themselves.
 */
async function offerText(words: readonly string[], context: CompletionContext): Promise<string> {
  const { completeWords } = await import('./complete.ts');
  const offer: Offer = await completeWords(words, context);
  return offer === 'files'
    ? filesWanted
    : lines(
        offer.map(({ text, description }) => `${text}\t${description.replaceAll(/\s+/g, ' ')}`),
      );
}

/**
 * Completes for bash. The script passes the whole line, because bash splits words at `=` and `:`.
 * The candidates are quoted here, because bash inserts them unchanged.
 */
async function offerBash(line: string, context: CompletionContext): Promise<string> {
  const [{ bashWords, bashRest }, { completeWords }] = await Promise.all([
    import('./bash-words.ts'),
    import('./complete.ts'),
  ]);
  const words = bashWords(line).slice(1);
  const last = words.at(-1);
  if (!last) return '';
  const offer = await completeWords(
    words.map(({ text }) => text),
    context,
  );
  return offer === 'files'
    ? filesWanted
    : lines(offer.flatMap(({ text }) => bashRest(text, last) ?? []));
}

/** Makes the command `completion`, which completes the commands of `tree`. */
export const completionOf = (tree: CommandTree) =>
  defineCommand({
    summary: 'Print the completion script of a shell',
    description: `The script completes commands, options and their values, and the names of saved
contexts. It asks the service for the names of venues, screens, tenants and tokens. Install it where
the shell finds it:

  bash   signage completion bash > ~/.local/share/bash-completion/completions/signage
  zsh    signage completion zsh > a folder of $fpath, as the file _signage
  fish   signage completion fish > ~/.config/fish/completions/signage.fish

With words after --, the command prints candidates for the last word. The scripts use this.`,
    arguments: {
      shell: shellArgument,
      words: some('the words typed so far; used by the scripts, after --'),
    },
    examples: [
      ['source <(signage completion bash)', 'for this bash session only'],
      [
        'signage completion fish > ~/.config/fish/completions/signage.fish',
        'for every fish session',
      ],
    ],
    effect: 'alone',
    async run(call) {
      const { shell, words } = call.args;
      const context = { ...call, tree };
      const [line] = words;
      const text = () => {
        // The scripts never evaluate text from the server: bash would, with `compgen -W`.
        if (line === undefined) return readAsset('completion', `signage.${shell}`).toString();
        return shell === 'bash' ? offerBash(line, context) : offerText(words, context);
      };
      call.io.stdout.write(await text());
    },
  });
