import { type CommandTree, defineCommand, one, some } from '../../program/spec.ts';
import type { CompletionContext, Offer } from './complete.ts';

const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

// The scripts never evaluate text from the server. So they avoid `compgen -W` of bash, which would
// run commands in that text. A line with a single tab tells the script to complete file names.
const bash = `# bash completion of signage. For this session: source <(signage completion bash)
_signage_candidates() {
  local called=\${COMP_WORDS[0]} typed=\${COMP_LINE:0:COMP_POINT}
  # The text of an alias is a command line of its own.
  if [[ -n \${BASH_ALIASES[$called]} ]]; then
    eval "\${BASH_ALIASES[$called]} completion bash -- \\"\\$typed\\""
  else
    command "\${called/#~/"$HOME"}" completion bash -- "$typed"
  fi
}
_signage() {
  local IFS=$'\\n' line
  COMPREPLY=()
  while read -r line; do
    if [[ $line == $'\\t' ]]; then
      compopt -o default
    elif [[ -n $line ]]; then
      COMPREPLY+=("$line")
    fi
  done < <(_signage_candidates 2>/dev/null)
  if [[ \${#COMPREPLY[@]} -eq 1 && \${COMPREPLY[0]} == *[/=] ]]; then
    compopt -o nospace
  fi
}
complete -F _signage signage signage.js
`;

const zsh = `#compdef signage signage.js
# zsh completion of signage. For this session: source <(signage completion zsh)
_signage() {
  local line
  local -a typed texts shown
  typed=("\${(@Q)words[2,CURRENT-1]}" "\${(Q)PREFIX}")
  while IFS= read -r line; do
    if [[ $line == $'\\t' ]]; then
      _files
      return
    fi
    texts+=("\${line%%$'\\t'*}")
    if [[ -n \${line#*$'\\t'} ]]; then
      shown+=("\${line%%$'\\t'*}  -- \${line#*$'\\t'}")
    else
      shown+=("\${line%%$'\\t'*}")
    fi
  done < <(command "\${(Q)words[1]}" completion zsh -- "\${typed[@]}" 2>/dev/null)
  (( \${#texts} )) || return 1
  if [[ \${#texts} -eq 1 && \${texts[1]} == *[/=] ]]; then
    compadd -U -S '' -l -d shown -a texts
  else
    compadd -U -l -d shown -a texts
  fi
}
if [[ \${funcstack[1]} == _signage ]]; then
  _signage "$@"
else
  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
  compdef _signage signage signage.js
fi
`;

const fish = `# fish completion of signage. For this session: signage completion fish | source
function __signage_complete
    set -l current (commandline -ct)
    # An open quote cannot be taken back; what follows it can.
    set -l last (string unescape -- "$current"; or string replace -r '^["\\']' '' -- "$current")
    set -l typed (commandline -opc) "$last"
    for line in ($typed[1] completion fish -- $typed[2..-1] 2>/dev/null)
        if test "$line" = \\t
            __fish_complete_path (commandline -ct)
        else
            printf '%s\\n' $line
        end
    end
end
complete -c signage -f -a '(__signage_complete)'
`;

/** The completion scripts. They call signage for each completion. */
export const completionScripts: Readonly<Record<Shell, string>> = { bash, zsh, fish };

const shellArgument = {
  ...one(`${shells.slice(0, -1).join(', ')} or ${shells.at(-1)}`),
  choices: shells,
};

const lines = (texts: readonly string[]) => texts.map((text) => `${text}\n`).join('');
/**
 * A line with a single tab asks the shell to complete file names. Such a line is never a candidate.
 */
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
      let text: string = completionScripts[shell as Shell];
      if (line !== undefined)
        text = await (shell === 'bash' ? offerBash(line, context) : offerText(words, context));
      call.io.stdout.write(text);
    },
  });
