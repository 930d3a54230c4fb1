import { type CommandTree, defineCommand, one, some } from '../command/spec.ts';
import type { CompletionContext, Offer } from '../completion/complete.ts';
import { completionScripts, type Shell, shells } from '../completion/scripts.ts';
import { usage } from '../options/settings.ts';

const shellArgument = {
  ...one(`${shells.slice(0, -1).join(', ')} or ${shells.at(-1)}`),
  choices: shells,
};

const isShell = (text: string): text is Shell => shells.some((one) => one === text);
const lines = (texts: readonly string[]) => texts.map((text) => `${text}\n`).join('');
/**
 * A line with a single tab asks the shell to complete file names. Such a line is never a candidate.
 */
const filesWanted = '\t\n';

/**
 * Completes for zsh and fish. These shells pass separate words and quote inserted text themselves.
 */
async function offerText(words: readonly string[], context: CompletionContext): Promise<string> {
  const { completeWords } = await import('../completion/complete.ts');
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
    import('../completion/bash-words.ts'),
    import('../completion/complete.ts'),
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
      if (!isShell(shell))
        throw usage(
          `Completion does not support "${shell}".`,
          `Supported shells: ${shells.join(', ')}.`,
        );
      const [line] = words;
      if (line === undefined) call.io.stdout.write(completionScripts[shell]);
      else
        call.io.stdout.write(
          await (shell === 'bash'
            ? offerBash(line, { ...call, tree })
            : offerText(words, { ...call, tree })),
        );
    },
  });
