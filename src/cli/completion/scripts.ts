export const shells = ['bash', 'zsh', 'fish'] as const;
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
