#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Completion in bash, zsh and fish offers what --help lists and the parser accepts.
. "$(dirname "$0")/common.sh"

for shell in bash zsh fish; do
    expect 0 --completion $shell
    cp "$scratch/out" "gpume.$shell"
done
expect 2 --completion
expect 2 --completion csh
says "bash"
commands=$("$gpume" --help all | sed -n 's/^-- gpume \([a-z]*\): .*/\1/p' | tr '\n' ' ')
commands=${commands% }
"$gpume" --help all | sed -n 's/^ \{2,6\}\(-[a-zA-Z], \)*\(--[a-z-]*\).*/\2/p' | sort -u >listed
[ -s listed ] || fail "no options in --help all"
touch 'a file.mp4' sorted.txt
searches=$("$gpume" devices | sed -n '/^search /,$s/^\([a-z][a-z0-9]*\)  *\(cpu\|vulkan\) .*/\1/p' | sort | tr '\n' ' ')
devices=$("$gpume" devices --json | sed -n 's/.*"index": \([0-9]*\).*/\1/p' | tr '\n' ' ')
[ "$searches" ] || fail "no searches in 'gpume devices'"

# accepted COMMAND: every option offered for it is known to the parser of that command.
accepted() {
    while IFS= read -r option; do
        run $1 "$option=" x y z
        ! grep -q "is not an option of\|unknown option" "$scratch/err" ||
            fail "$1 does not take $option"
    done
}

if have bash; then
    # offers WORD...: prints the completions of the last word, one per line.
    offers() {
        bash -c '. ./gpume.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _gpume
            ((${#COMPREPLY[@]})) && printf "%s\n" "${COMPREPLY[@]}"' bash "$@" | sort
    }
    # gives WANTED WORD...
    gives() {
        wanted=$1
        shift
        found=$(offers "$@" | tr '\n' ' ')
        [ "$found" = "$wanted" ] || fail "bash: '$*' gives '$found', not '$wanted'"
    }
    : >offered
    for command in "" $commands; do
        offers gpume $command -- >one
        [ -s one ] || fail "bash: no options of '$command'"
        cat one >>offered
        accepted "$command" <one
        "$gpume" help "${command:-all}" >help 2>/dev/null
        sed -n '/^-- /q; s/^ \{2,6\}\(-[a-zA-Z], \)*\(--[a-z-]*\).*/\2/p' help | sort | cmp - one ||
            fail "bash: other options than those of '$command --help'"
    done
    sort -u offered | cmp - listed || fail "bash: other options than --help all"
    gives 'extend inside ' gpume --edge ''
    gives 'extend ' gpume --edge = ex
    gives 'extend inside ' gpume clip.mp4 --edge =
    gives '--edge ' gpume clip.mp4 --edg
    gives '--descending ' gpume sort --desc
    gives '' gpume clip.mp4 --desc
    gives '' gpume -b ''
    gives '' gpume devices ''
    gives 'a file.mp4 ' gpume a
    gives "$searches" gpume --search ''
    gives 'plain ' gpume clip.mp4 --search pl
    gives "${devices}all cpu " "$gpume" --device ''
    gives "${devices}all cpu " "$gpume" bench --device ''
    gives "$devices" "$gpume" sort --device ''
    gives 'crop= ' gpume --vf cr
    gives 'auto off on ' gpume --overlay-key ''
    gives 'sort sorted.txt ' gpume so
    gives 'sorted.txt ' gpume sort so
    gives 'sorted.txt ' gpume clip.mp4 -o so
    gives 'compare complexity ' gpume comp
    gives 'sort ' gpume help so
    # A value is no command.
    gives '--edge ' gpume -o sort --edg
else
    echo "bash is not here: its completion is not tested"
fi

if have fish; then
    fish -c 'source gpume.fish; complete -C "gpume --edge "' >offered || fail "fish"
    [ "$(cut -f 1 offered | sort | tr '\n' ' ')" = "extend inside " ] || fail "fish: --edge"
    for option in search device; do
        PATH=$(dirname "$gpume"):$PATH fish -c "source gpume.fish; complete -C 'gpume --$option '" >offered || fail "fish: --$option"
        wanted=$searches
        [ $option = search ] || wanted="${devices}all cpu "
        [ "$(cut -f 1 offered | sort | tr '\n' ' ')" = "$wanted" ] || fail "fish: --$option"
    done
    fish -c 'source gpume.fish; for c in "" '"$commands"'; complete -C "gpume $c --"; end' |
        cut -f 1 | sort -u | cmp - listed || fail "fish: other options than --help"
    fish -c 'source gpume.fish; complete -C "gpume comp"' | grep -q '^compare' || fail "fish: commands"
    fish -c 'source gpume.fish; complete -C "gpume -o sort --desc"' >offered
    [ ! -s offered ] || fail "fish takes a value for a command"
else
    echo "fish is not here: its completion is not tested"
fi

if have zsh; then
    zsh -fc 'compdef() { }; . ./gpume.zsh
        _arguments() { print -l -- "$@" }
        for command in "" '"$commands"'; do
            words=(gpume $command --); CURRENT=$#words; _gpume
        done' >specs || fail "zsh"
    sed -n "s/^\((-[a-zA-Z] --[a-z-]*)\)*\(--[a-z-]*\)[=[].*/\2/p" specs | sort -u | cmp - listed ||
        fail "zsh: other options than --help"
    grep -qF -- '--edge=[' specs || fail "zsh: --edge"
    grep -qF -- "--search=[" specs || fail "zsh: --search"
    [ "$(sed -n 's/^--search=.*:(\(.*\))$/\1/p' specs | tr ' ' '\n' | sort -u | tr '\n' ' ')" = "$searches" ] ||
        fail "zsh: searches"
    found=$(zsh -fc 'compdef() { }; . ./gpume.zsh
        compadd() { shift; [ $# -eq 0 ] || print -l -- "$@" }
        words=('"'$gpume'"'); _gpume_devices all cpu' | tr '\n' ' ')
    [ "$found" = "all cpu $devices" ] || fail "zsh: devices"
    grep -q -- '--device=.*:{_gpume_devices all cpu}$' specs || fail "zsh: --device"
else
    echo "zsh is not here: its completion is not tested"
fi
exit 0
