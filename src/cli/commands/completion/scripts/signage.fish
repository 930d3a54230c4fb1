# fish completion of signage. For this session: signage completion fish | source
function __signage_complete
    set -l current (commandline -ct)
    # An open quote cannot be taken back; what follows it can.
    set -l last (string unescape -- "$current"; or string replace -r '^["\']' '' -- "$current")
    set -l typed (commandline -opc) "$last"
    for line in ($typed[1] completion fish -- $typed[2..-1] 2>/dev/null)
        if test "$line" = \t
            __fish_complete_path (commandline -ct)
        else
            printf '%s\n' $line
        end
    end
end
complete -c signage -f -a '(__signage_complete)'
