#compdef signage signage.js
# zsh completion of signage. For this session: source <(signage completion zsh)
_signage() {
  local line
  local -a typed texts shown
  typed=("${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}")
  while IFS= read -r line; do
    if [[ $line == $'\t' ]]; then
      _files
      return
    fi
    texts+=("${line%%$'\t'*}")
    if [[ -n ${line#*$'\t'} ]]; then
      shown+=("${line%%$'\t'*}  -- ${line#*$'\t'}")
    else
      shown+=("${line%%$'\t'*}")
    fi
  done < <(command "${(Q)words[1]}" completion zsh -- "${typed[@]}" 2>/dev/null)
  (( ${#texts} )) || return 1
  if [[ ${#texts} -eq 1 && ${texts[1]} == *[/=] ]]; then
    compadd -U -S '' -l -d shown -a texts
  else
    compadd -U -l -d shown -a texts
  fi
}
if [[ ${funcstack[1]} == _signage ]]; then
  _signage "$@"
else
  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
  compdef _signage signage signage.js
fi
