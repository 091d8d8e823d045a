#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Hostile names: default outputs stay in the current folder, patterns accept only numbers, links
# planted in a shared folder are not followed, and no control sequence reaches the terminal.
. "$(dirname "$0")/common.sh"
make_clip clip.y4m 40 28 8 3
mkdir -p outside inside
cp clip.y4m outside/

# is_clean: the output contains no control characters except line ends.
is_clean() {
    [ -z "$(cat "$scratch/out" "$scratch/err" | tr -d '\n' | tr -dc '\001-\037\177')" ] ||
        fail "$1: control characters reach the terminal"
}

# stays INPUT FOLDER: the default output folder is FOLDER, below the current one, and nothing else
# is created.
stays() {
    rm -rf ./*.gpume
    expect 0 --backend "$engine" -- "$1"
    is_clean "$1"
    [ -f "$2/summary.json" ] || fail "$1: its folder is not $2 but $(ls -d ./*.gpume)"
    [ ! -L "$2" ] || fail "$1: its folder is a link"
    rm -r "./$2"
    [ "$(find .. -name summary.json | wc -l)" -eq 0 ] || fail "$1: written elsewhere"
}
cd inside || exit 1
newline=$(printf 'a\nb')
escape=$(printf 'a\033]0;owned\007b')
for name in clip.y4m ...y4m ..y4m -o.y4m -- '~.y4m' '$(touch owned).y4m' "$newline.y4m" "$escape.y4m" \
    '%d.y4m' '%s%n.y4m' 'a?b=..#c.y4m' 'a&b;c|d.y4m' ' .y4m' 'http:.y4m' 'file:x.y4m'; do
    cp ../clip.y4m "./$name"
    case $name in
    ...y4m | ..y4m | ' .y4m' | '%d.y4m' | --) folder= ;;
    "$newline.y4m") folder=a_b.gpume ;;
    "$escape.y4m") folder='a_]0;owned_b.gpume' ;;
    *) folder=${name%.y4m}.gpume ;;
    esac
    if [ -n "$folder" ]; then
        stays "$name" "$folder"
    else # whatever it is called, it is here, and has a name of its own
        rm -rf ./*.gpume
        expect 0 --backend "$engine" -- "$name"
        [ "$(find . -maxdepth 1 -type d -name '?*.gpume' ! -name '..*' | wc -l)" -eq 1 ] ||
            fail "$name: no folder of its own here"
    fi
    rm -rf ./*.gpume "./$name"
done
[ ! -e owned ] || fail "a name was run"
stays ../clip.y4m clip.gpume
stays "$scratch/work/outside/../clip.y4m" clip.gpume
expect 3 --backend "$engine" ..
expect 3 --backend "$engine" ../..
expect 3 --backend "$engine" /
[ -z "$(ls -A .)" ] || fail "something was left behind: $(ls -A .)"
expect 3 --backend "$engine" -- "missing$escape"
is_clean "a missing file"
cd ..

# Patterns: one number, in the last part of the name.
for pattern in 'a%s.png' 'a%n.png' 'a%x.png' 'a%1$d.png' 'a%*d.png' 'a%ld.png' 'a%d%d.png' 'a%d/b.png' \
    'a%d%s.png' 'a%.9d.png' 'a%99999999d.png' 'a%-3d.png' 'a%099999d.png'; do
    for option in --predicted --overlay; do
        expect 2 clip.y4m --backend "$engine" "$option" "$pattern"
    done
done
expect 0 -q clip.y4m --backend "$engine" --predicted 'inside/%%s%d.png'
[ -f 'inside/%s1.png' ] && [ -f 'inside/%s2.png' ] || fail "%%%% is no percent sign"

# Planted links: temporary names that an attacker could predict.
echo precious >victim
for i in 0 1 2; do
    rm -rf trap
    mkdir trap
    sh -c 'ln -s ../victim "trap/.vectors.csv.gpume-$$-0.tmp"
        ln -s ../absent "trap/.frames.csv.gpume-$$-0.tmp"
        exec "$@"' sh "$gpume" -q clip.y4m --backend "$engine" -o trap || fail "a link stops the run"
    [ "$(cat victim)" = precious ] || fail "a link under a temporary name was followed"
    [ ! -e absent ] || fail "a dangling link under a temporary name was followed"
    [ -f trap/vectors.csv ] && [ ! -L trap/vectors.csv ] || fail "the output is a link"
done
# Final names: existing files are refused, even a dangling link.
rm -rf trap
mkdir trap
ln -s ../victim trap/vectors.csv
expect 2 clip.y4m --backend "$engine" -o trap
ln -sf ../absent trap/vectors.csv
expect 2 clip.y4m --backend "$engine" -o trap
says vectors.csv
[ ! -e absent ] || fail "a dangling link was followed"
ln -s absent.png p1.png
expect 2 clip.y4m --backend "$engine" --predicted p%d.png
ln -s absent.png film.mkv
expect 2 clip.y4m --backend "$engine" --predicted film.mkv
seq 3 >numbers
expect 2 sort numbers --backend cpu -o film.mkv
[ ! -e absent.png ] || fail "a dangling link was followed"
expect 0 sort numbers --backend cpu -o film.mkv -y # as was asked for
[ -e absent.png ] && [ -L film.mkv ] || fail "-y does not follow a link"
[ "$(cat victim)" = precious ] || fail "a link was followed"
echo ok
