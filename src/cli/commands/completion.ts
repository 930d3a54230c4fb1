import type { Environment } from '../command/environment.ts';
import { defineCommand, one, some } from '../command/spec.ts';
import type { Offer } from '../completion/candidate.ts';
import type { ChosenArgument } from '../completion/complete.ts';
import { completionScripts, type Shell, shells } from '../completion/scripts.ts';
import { usage } from '../options/settings.ts';

const shellArgument: ChosenArgument & { form: 'one' } = {
  ...one(`${shells.slice(0, -1).join(', ')} or ${shells.at(-1)}`),
  choices: shells,
};

const isShell = (text: string): text is Shell => shells.some((one) => one === text);
const lines = (texts: readonly string[]) => texts.map((text) => `${text}\n`).join('');
/** A tab alone, which no candidate is. */
const filesWanted = '\t\n';

/** zsh and fish say the words; they quote what they insert themselves. */
async function offerText(words: readonly string[], context: Environment): Promise<string> {
  const { completeWords } = await import('../completion/complete.ts');
  const offer: Offer = await completeWords(words, context);
  return offer === 'files'
    ? filesWanted
    : lines(
        offer.map(({ text, description }) => `${text}\t${description.replaceAll(/\s+/g, ' ')}`),
      );
}

/** bash says the line, for it takes words apart at `=` and `:`; it inserts what it is given as it is. */
async function offerBash(line: string, context: Environment): Promise<string> {
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

export const command = defineCommand({
  summary: 'Print the completion script of a shell',
  description: `The script completes commands, options and their values, and the names of venues, screens, tenants, tokens and contexts, for which it
asks the service. Put it where the shell finds it:

  bash   signage completion bash > ~/.local/share/bash-completion/completions/signage
  zsh    signage completion zsh > a folder of $fpath, as the file _signage
  fish   signage completion fish > ~/.config/fish/completions/signage.fish

With words after --, it prints what could come next: the scripts ask that.`,
  arguments: {
    shell: shellArgument,
    words: some('what is typed so far; the scripts pass it after --'),
  },
  examples: [
    ['source <(signage completion bash)', 'for this session of bash'],
    [
      'signage completion fish > ~/.config/fish/completions/signage.fish',
      'for every session of fish',
    ],
  ],
  effect: 'alone',
  async run(call) {
    const { shell, words } = call.args;
    if (!isShell(shell))
      throw usage(
        `There is no completion for "${shell}".`,
        `There is one for ${shells.join(', ')}.`,
      );
    const [line] = words;
    if (line === undefined) call.io.stdout.write(completionScripts[shell]);
    else
      call.io.stdout.write(
        await (shell === 'bash' ? offerBash(line, call) : offerText(words, call)),
      );
  },
});
