# bash completion of signage. For this session: source <(signage completion bash)
_signage_candidates() {
  local called=${COMP_WORDS[0]} typed=${COMP_LINE:0:COMP_POINT}
  # The text of an alias is a command line of its own.
  if [[ -n ${BASH_ALIASES[$called]} ]]; then
    eval "${BASH_ALIASES[$called]} completion bash -- \"\$typed\""
  else
    command "${called/#~/"$HOME"}" completion bash -- "$typed"
  fi
}
_signage() {
  local IFS=$'\n' line
  COMPREPLY=()
  while read -r line; do
    if [[ $line == $'\t' ]]; then
      compopt -o default
    elif [[ -n $line ]]; then
      COMPREPLY+=("$line")
    fi
  done < <(_signage_candidates 2>/dev/null)
  if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[/=] ]]; then
    compopt -o nospace
  fi
}
complete -F _signage signage signage.js
