#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# No command replaces a file that it reads, or removes one as what a killed run has left, whatever the names of both:
# standard input, links, pictures, lists, files of options. And no two outputs are one file.
. "$(dirname "$0")/common.sh"
make_clip clip.y4m 64 64 8 6
"$gpume" clip.y4m --backend cpu -q --vectors v.csv -w 2 || fail "no vectors"
"$gpume" clip.y4m --backend cpu -q --predicted p%d.png || fail "no pictures"
ls p?.png >pictures
mkdir kept
cp clip.y4m v.csv p?.png kept/
ln clip.y4m hard.y4m
ln -s clip.y4m soft.y4m
mkdir folder
ln v.csv folder/vectors.csv

# unchanged WHAT: all inputs are.
unchanged() {
    for file in kept/*; do
        cmp "$file" "${file#kept/}" || fail "$1: ${file#kept/} was changed"
    done
}

# refused INPUT ARGUMENTS: of a command that reads INPUT from standard input.
refused() {
    from=$1
    shift
    "$gpume" "$@" -y <"$from" >"$scratch/out" 2>"$scratch/err"
    [ $? -eq 2 ] || fail "$* <$from: not refused"
    [ "$(wc -l <"$scratch/err")" -eq 1 ] || fail "$* <$from: not one line"
    says "is the input"
    [ ! -s "$scratch/out" ] || fail "$* <$from: wrote to standard output"
    unchanged "$*"
}

# Under any of its names.
for name in clip.y4m ./clip.y4m hard.y4m soft.y4m folder/../clip.y4m; do
    for input in - hard.y4m soft.y4m /dev/stdin; do
        refused clip.y4m "$input" --backend cpu --predicted "$name"
        refused clip.y4m scenes "$input" --backend cpu --format csv -o "$name"
        refused clip.y4m luma "$input" -o "$name"
    done
done
refused clip.y4m complexity - --format csv -o clip.y4m --backend cpu
ln clip.y4m clip.csv
ln clip.y4m clip
refused clip.y4m qpmap - -o clip --backend cpu
refused clip.y4m methods - -o clip.csv --backend cpu
rm clip.csv clip
refused clip.y4m - --overlay clip.y4m --backend cpu
refused clip.y4m vectors - --overlay clip.y4m
refused clip.y4m - --vectors clip.y4m --format csv --backend cpu
for name in v.csv folder/vectors.csv; do
    refused v.csv convert - "$name"
    refused v.csv convert folder "$name"
done
ln v.csv numbered7.flo
refused v.csv convert - numbered%d.flo -b 8
rm numbered7.flo
# But for its tables, a run's folder may be written to.
expect 0 convert folder folder/new.mvf -q
expect 0 convert folder folder/new.mvf -qy
expect 0 compare folder v.csv -q --report folder/page.html
expect 0 compare folder v.csv -qy --report folder/page.html
# Standard output may be the input, too.
"$gpume" convert v.csv - >>v.csv 2>"$scratch/err"
[ $? -eq 2 ] || fail "a file that is read is appended to itself"
says "standard output: is the input"
unchanged "convert >>"
# gpume sort has read everything before it writes, so it sorts in place, as sort -o does.
seq 9 -1 1 >numbers
"$gpume" sort - -o numbers -y -q --backend cpu <numbers || fail "sort in place"
seq 9 | cmp - numbers || fail "sort in place: other integers"

# Pictures of the input under other names; files that options read; files of a list.
ln -s p3.png q3.png
refused /dev/null p%d.png --predicted q%d.png --backend cpu
refused /dev/null p1.png p2.png --predicted p1.png --backend cpu
refused /dev/null clip.y4m --backend cpu -w 2 --predictor v.csv --qp 20 --vectors folder/vectors.csv
printf '1 2 1\n' >kernel
refused /dev/null clip.y4m --backend cpu --prefilter kernel:kernel --vectors kernel --format csv
[ "$(cat kernel)" = "1 2 1" ] || fail "the file of --prefilter was replaced"
refused /dev/null compare v.csv v.csv --video clip.y4m --map soft.y4m
printf 'ffconcat version 1.0\n  file kept/clip.y4m\nfile '"'so'ft.y4m"'\n' >list.ffconcat
for name in clip.y4m hard.y4m; do
    refused /dev/null list.ffconcat --allow-files --backend cpu --predicted $name
    refused /dev/null scenes list.ffconcat --allow-files --backend cpu --format csv -o $name
    refused /dev/null scenes list.ffconcat --allow-files --backend cpu --format csv -o list.ffconcat
done

# Files that a graph of filters opens, which are known once there is a graph.
cp clip.y4m small.y4m
printf '0.0 hue h 1;\n' >commands
for graph in 'movie=p3.png[a];[in][a]overlay' "movie=filename=file\\\\:p%d.png,hflip[a];[in][a]overlay" \
    'split[a][b];movie=q3.png,nullsink;[a][b]overlay'; do
    refused /dev/null small.y4m --vf "$graph" --backend cpu --vectors p3.png --format csv
    refused /dev/null scenes small.y4m --vf "$graph" --backend cpu --format csv -o q3.png
done
refused /dev/null luma small.y4m --vf 'movie=soft.y4m[a];[in][a]overlay' -o clip.y4m
refused /dev/null small.y4m --vf sendcmd=f=commands,hue --backend cpu --vectors commands --format csv
[ "$(cat commands)" = '0.0 hue h 1;' ] || fail "the file of a filter was replaced"
"$gpume" small.y4m --vf 'movie=p3.png[a];[in][a]overlay' --backend cpu --predicted p%d.png -y 2>"$scratch/err" &&
    fail "a picture that a graph reads is an output"
cmp kept/p3.png p3.png || fail "a picture that a graph reads was replaced"
cp kept/p?.png .
# Defaults are not names of files: the x of overlay is 0.
touch 0
expect 0 small.y4m --vf 'movie=p3.png[a];[in][a]overlay' --backend cpu -qy --vectors 0 --format csv
rm 0
expect 0 luma small.y4m --vf 'movie=p3.png[a];[in][a]overlay,drawbox=t=3' -qy -o new.y4m
rm new.y4m

# A file that a run leaves if it is interrupted, and removes if it is not.
cp clip.y4m next.y4m.partial
refused /dev/null next.y4m.partial --predicted next.y4m --backend cpu
cmp next.y4m.partial clip.y4m || fail "a partial result that is the input is gone"

# What a killed run has left, as the input.
left() {
    cp "$1" ".$2.gpume-1-0.tmp"
    cp "$1" ".$2.gpume-1-1.tmp"
    kind=$1
    output=$2
    shift 2
    "$gpume" "$@" >"$scratch/out" 2>"$scratch/err" <".$output.gpume-1-0.tmp" || fail "$*: failed"
    cmp "$kind" ".$output.gpume-1-0.tmp" || fail "$*: its input is gone"
    [ ! -e ".$output.gpume-1-1.tmp" ] || fail "$*: what a killed run has left is not removed"
    rm ".$output.gpume-1-0.tmp"
}
for input in - .new.y4m.gpume-1-0.tmp; do
    left clip.y4m new.y4m "$input" --predicted new.y4m -y --backend cpu
    left clip.y4m new.y4m luma "$input" -o new.y4m -y
    left clip.y4m new.y4m scenes "$input" --format csv -o new.y4m -y --backend cpu
done
for input in - .new.mvf.gpume-1-0.tmp; do
    left v.csv new.mvf convert "$input" new.mvf -y
done
left numbers new sort .new.gpume-1-0.tmp -o new -y --backend cpu
left numbers new sort -o new -y --backend cpu

# Two outputs: by a link, and by a link that leads to no file yet.
twice() {
    expect 2 "$@"
    says "named for two outputs"
}
ln -s late.csv other.csv
twice clip.y4m --backend cpu --vectors late.csv --report other.csv -y
ln -s page.html table
twice methods clip.y4m --backend cpu -o table --report page.html -y
for map in two.mkv ./two.mkv two.html; do # no name suits both
    expect 2 compare v.csv v.csv --map $map --report two.${map##*.}
    names "two.${map##*.}"
done
ln -s page.html map.mkv
twice compare v.csv v.csv --map map.mkv --report page.html -y
[ ! -e late.csv ] && [ ! -e page.html ] && [ ! -e two.html ] && [ ! -e two.mkv ] || fail "two outputs: something was written"
[ "$(ls -A | grep -c gpume-)" -eq 0 ] || fail "a refused run has left something: $(ls -A)"

# The folder of a report's pictures is no link, and neither are the files in it: nothing outside changes.
mkdir outside page
echo mine >outside/3.js
ln -s ../outside page/frames
expect 2 clip.y4m --backend cpu --report-dir page -y
names page/frames
only outside 3.js
rm page/frames
mkdir page/frames
ln -s ../../outside/3.js page/frames/3.js
touch page/frames/.3.js.gpume-1-0.tmp
expect 0 -q clip.y4m --backend cpu --report-dir page -y
[ "$(cat outside/3.js)" = mine ] || fail "a link in the folder of pictures was followed"
[ -f page/frames/3.js ] && [ ! -L page/frames/3.js ] || fail "the picture is a link"
[ ! -e page/frames/.3.js.gpume-1-0.tmp ] || fail "what a killed report has left is not removed"
expect 2 clip.y4m --backend cpu --report-dir -
names --report-dir
[ ! -e ./- ] || fail "a folder is called -"
unchanged "in the end"
exit 0
