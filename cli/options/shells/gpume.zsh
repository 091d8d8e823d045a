#compdef gpume
# Completion of gpume in zsh, made by 'gpume --completion zsh'.
_gpume_table='@TABLE@'

_gpume_devices() {
    compadd -- "$@" $(${words[1]} devices 2>/dev/null | sed -n 's/^ *\([0-9][0-9]*\)  .*/\1/p')
}

# names: an array of _gpume.
_gpume_first() {
    _describe -t commands command names
    _files
}

_gpume() {
    local command=estimate commands= owner name letter kind list help word plus equals action i
    local -a options names
    local -A kinds
    while IFS='|' read -r owner name letter kind list help; do
        if [[ -z $name ]]; then
            commands+="$owner "
            names+=("$owner:$help")
        else
            kinds[$name]=$kind
            [[ -z $letter ]] || kinds[$letter]=$kind
        fi
    done <<<$_gpume_table
    for ((i = 2; i < CURRENT; i++)); do
        word=$words[i]
        if [[ $word == -?* ]]; then
            [[ ${kinds[$word]:-flag} == flag ]] || ((i++))
        else
            [[ " $commands" != *" $word "* ]] || command=$word
            break
        fi
    done
    while IFS='|' read -r owner name letter kind list help; do
        [[ $owner == $command && -n $name ]] || continue
        plus=+ equals== action=
        case $kind in
        flag) plus= equals= ;;
        value) action=" " ;;
        words) action="(${list//:/\\:})" ;;
        file) action=_files ;;
        device) action="{_gpume_devices $list}" ;;
        esac
        action="[$help]${action:+:${name#--}:$action}"
        if [[ -n $letter ]]; then
            options+=("($letter $name)$letter$plus$action" "($letter $name)$name$equals$action")
        else
            options+=("$name$equals$action")
        fi
    done <<<$_gpume_table
    if [[ $command == devices ]]; then
        _arguments -s : $options '1: :_gpume_first'
    elif [[ $command == help ]]; then
        _arguments -s : $options '1: :_gpume_first' '2: :_gpume_first'
    else
        _arguments -s : $options '1: :_gpume_first' '*:file:_files'
    fi
}
if [[ $funcstack[1] == _gpume ]]; then
    _gpume "$@"
else
    compdef _gpume gpume
fi
