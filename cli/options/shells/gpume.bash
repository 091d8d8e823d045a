# Completion of gpume in bash, made by 'gpume --completion bash'.
_gpume_table='@TABLE@'

_gpume_files() {
    local IFS=$'\n'
    compopt -o filenames 2>/dev/null
    COMPREPLY+=($(compgen -f -- "$current"))
}

_gpume() {
    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    local command= commands= owner name letter kind list help key word i
    local -A kinds lists options
    COMPREPLY=()
    while IFS='|' read -r owner name letter kind list help; do
        [[ $name ]] || commands+="$owner "
        options[$owner]+=" $name"
        for key in $name $letter; do
            kinds[$key]=$kind
            lists[$owner$key]=$list
        done
    done <<<"$_gpume_table"
    # bash takes --edge=inside for three words.
    if [[ $current == = ]]; then
        current=
    elif [[ $before == = ]] && ((COMP_CWORD > 2)); then
        before=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    for ((i = 1; i < COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if [[ $word != -?* ]]; then
            command=$word
            break
        elif [[ ${kinds[$word]:-flag} != flag ]]; then
            [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
            ((i++))
        fi
    done
    kind= owner=$command
    [[ " $commands" == *" $command "* ]] || owner=estimate
    [[ $before == -?* ]] && kind=${kinds[$before]}
    case $kind in
    value) return ;;
    file) _gpume_files && return ;;
    words) list=${lists[$owner$before]} ;;
    device) list="${lists[$owner$before]} "$("${COMP_WORDS[0]}" devices 2>/dev/null | sed -n 's/^ *\([0-9][0-9]*\)  .*/\1/p') ;;
    *)
        list=
        if [[ $current == -* ]]; then
            [[ " $commands" == *" $command "* ]] || command=estimate
            list=${options[$command]}
        elif [[ ! $command || $command == help ]]; then
            list=$commands
        fi
        ;;
    esac
    COMPREPLY=($(compgen -W "$list" -- "$current"))
    [[ $kind == words || $kind == device || $current == -* || $command == devices || $command == help ]] ||
        _gpume_files
}
complete -F _gpume gpume
