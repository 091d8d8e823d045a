# Completion of gpume in fish, made by 'gpume --completion fish'.
set -g __gpume_commands
set -g __gpume_valued

function __gpume_devices
    set -l words (commandline -opc)
    $words[1] devices 2>/dev/null | sed -n 's/^ *\([0-9][0-9]*\)  .*/\1/p'
end

function __gpume_command
    set -l skip
    for word in (commandline -opc)[2..-1]
        if test -n "$skip"
            set skip
        else if contains -- $word $__gpume_valued
            set skip 1
        else if contains -- $word $__gpume_commands
            echo $word
            return
        else if not string match -qr '^-.' -- $word
            echo estimate
            return
        end
    end
end

function __gpume_for
    set -l command (__gpume_command)
    test -n "$command"; or set command estimate
    contains -- $command $argv
end

complete -c gpume -n '__gpume_for devices help' -f
for __gpume_row in (string split \n -- '@TABLE@')
    set -l field (string split -m 5 '|' -- $__gpume_row)
    if test -z "$field[2]"
        set -a __gpume_commands $field[1]
        complete -c gpume -n 'contains -- "$(__gpume_command)" "" help' -a $field[1] -d $field[6]
        continue
    end
    set -l option -n "__gpume_for $field[1]" -l (string sub -s 3 -- $field[2]) -d $field[6]
    set -l names $field[2]
    if test -n "$field[3]"
        set -a option -s (string sub -s 2 -- $field[3])
        set -a names $field[3]
    end
    test $field[4] = flag; or set -a __gpume_valued $names
    switch $field[4]
        case value
            set -a option -x
        case words
            set -a option -x -a $field[5]
        case file
            set -a option -r -F
        case device
            set -a option -x -a "$field[5] (__gpume_devices)"
    end
    complete -c gpume $option
end
