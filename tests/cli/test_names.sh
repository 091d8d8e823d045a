#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Hostile names: default outputs stay in the current folder, patterns accept only numbers, links
# planted in a shared folder are not followed, and no control sequence reaches the terminal.
. "$(dirname "$0")/common.sh"
make_clip clip.y4m 40 28 8 3
mkdir -p outside inside
cp clip.y4m outside/

# is_clean: the output contains no control characters except line ends: neither C0 nor, in UTF-8, C1.
is_clean() {
    [ -z "$(cat "$scratch/out" "$scratch/err" | tr -d '\n' | tr -dc '\001-\037\177')" ] ||
        fail "$1: control characters reach the terminal"
    ! cat "$scratch/out" "$scratch/err" | grep -q "$(printf '\302[\200-\237]')" ||
        fail "$1: control characters of two bytes reach the terminal"
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
    else # whatever it is called, it is here under its own name
        rm -rf ./*.gpume
        expect 0 --backend "$engine" -- "$name"
        [ "$(find . -maxdepth 1 -type d -name '?*.gpume' ! -name '..*' | wc -l)" -eq 1 ] ||
            fail "$name: its folder is not here"
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

# Every command, whether it succeeds or fails, with such names of its input, its outputs and what its options read.
evil=$(printf 'e\033[31m\302\233v\rl\nx')
cp clip.y4m "$evil.y4m"
for name in a b; do
    "$gpume" -q --backend cpu clip.y4m -w $((${#name} + 1)) -o "$evil$name" || fail "no runs"
done
"$gpume" -q --backend cpu clip.y4m -w 1 -o "${evil}b" -y || fail "no runs"
printf '1 2 1\n' >"$evil.kernel"
seq 9 >"$evil"
: >"$evil.html"
: >"$evil.csv"
prints() {
    run "$@"
    is_clean "$*"
}
for status in 2 0; do
    y=$([ $status -eq 2 ] || echo -y)
    for command in "" scenes complexity qpmap luma methods; do
        # shellcheck disable=SC2086 # none, or a word
        prints $command "$evil.y4m" -o "$evil.csv" $y
        [ -z "$command" ] || [ "$status" -eq $status ] || fail "$command: exit status $status"
    done
    prints filter "$evil.y4m" -o "$evil.filtered.y4m" $([ $status -eq 2 ] || echo -y) --backend cpu
    prints convert "${evil}a" "$evil.csv" $y -v
    prints compare "${evil}a" "${evil}b" --report "$evil.html" $y -v
    prints compare "${evil}a" "${evil}b" --csv
    prints sort "$evil" -o "$evil.csv" $y -v --backend cpu
    prints firstpass "$evil.y4m" --encoder x264 --bitrate 100k -o "$evil" $y -v --backend cpu
    prints firstpass "$evil.y4m" --encoder x265 --bitrate 100k -o "$evil" $y -v --backend cpu
    prints "$evil.y4m" --backend cpu -v --prefilter "kernel:$evil.kernel" --qp 20 --vectors "$evil.csv" $y \
        --predictor "${evil}a/vectors.csv" --report "$evil.html" --report-dir "$evil.page"
    prints "$evil.y4m" --backend cpu -v --vf "$evil" --vectors "$evil.csv" -y
    prints plan "$evil.y4m" --chunks 2
    prints bench "$evil.y4m" --seconds 0.1 --backend cpu
    prints bench "$evil.y4m" --decoders
    [ "$status" -eq 0 ] || fail "bench --decoders"
    prints merge "${evil}a" "${evil}b" -o "$evil.m" $y
    prints merge "${evil}a" -o "$evil.m" $y
done
for command in "" scenes luma plan sort compare convert merge vectors firstpass "$evil"; do
    prints $command "$evil.none" "$evil.none" "$evil" "--$evil" "-$evil"
    prints $command "$evil.none" --encoder "$evil" --backend "$evil" --device "$evil" --vf "$evil"
    prints $command "$evil.none" "${evil}a" -o x
done
rm -r "$evil"*

# Names of outputs are checked before any work: the input, which is not there, comes later. One that is a folder is none.
for kind in scenes:csv complexity:csv qpmap:roi luma:y4m methods:csv vectors:csv; do
    command=${kind%:*}
    mkdir folder.${kind#*:}
    echo old >old.${kind#*:}
    refused 2 old.${kind#*:} -- $command missing.mkv -o old.${kind#*:}
    refused 2 folder.${kind#*:} -- $command missing.mkv -o folder.${kind#*:} -y
    refused 3 missing.mkv -- $command missing.mkv -o old.${kind#*:} -y
    [ "$(cat old.${kind#*:})" = old ] || fail "an output was replaced by a run that failed"
    rm -r folder.* old.*
done

# Lines that print such names can be pasted into a shell that knows $'...', as POSIX has it.
if have bash && have ffmpeg; then
    for name in "$(printf 'a\033b\t')" "$(printf '\nb')" "$(printf '\tb')" ' b' "$(printf "q'\\\\\302\2330")"; do
        cp clip.y4m "$name.y4m"
        for encoder in x264 x265; do
            ffmpeg -v error -f lavfi -i color=s=64x64:d=0.1 -c:v lib$encoder -f null - </dev/null 2>/dev/null || continue
            # The file is in a list of one, so that its name stands in the line.
            expect 0 firstpass "$name.y4m" --encoder $encoder --bitrate 100k --backend cpu --vf scale=64:64 \
                --output="$name"
            is_clean "$name"
            sed -n '2s/OUTPUT$/encoded.mp4/p' "$scratch/out" >line
            rm -f encoded.mp4
            bash line >"$scratch/err" 2>&1 </dev/null || fail "$name: the line for ffmpeg with lib$encoder fails"
            [ -s encoded.mp4 ] || fail "$name: nothing was encoded"
            rm -f "$name"-* "$name.json" encoded.mp4
        done
        rm "./$name.y4m"
    done
fi

# An input that is called like the word for the output is not that word in the command lines.
cp clip.y4m OUTPUT
for encoder in x264 x265; do
    expect 0 firstpass OUTPUT --encoder $encoder --bitrate 100k --backend cpu -o word -y --vf scale=64:64
    grep -o '"OUTPUT"' word.json | wc -l >"$scratch/words"
    [ "$(cat "$scratch/words")" -eq 2 ] || fail "OUTPUT stands $(cat "$scratch/words") times in word.json, not twice"
    [ "$(grep -c '"./OUTPUT"' word.json)" -eq 2 ] || fail "the input is not ./OUTPUT in word.json"
done
rm -r OUTPUT word*

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
# A folder that is named like a file: the option for that file was meant, unless there is such a folder.
for name in v.csv v.csv.gz v.NPY v.jsonl page.html film.mkv; do
    expect 2 clip.y4m --backend "$engine" -o "$name"
    says "$name"
    [ ! -e "$name" ] || fail "$name was made"
done
says --overlay
expect 2 merge trap -o all.csv
says '--vectors all.csv'
mkdir v.csv
expect 0 clip.y4m --backend "$engine" -o v.csv
[ -f v.csv/vectors.csv ] || fail "a folder that is there was not taken"
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
