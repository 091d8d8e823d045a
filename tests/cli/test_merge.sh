#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# gpume plan and gpume merge: one to seven parts with random cuts give the files of one run, byte for byte; parts that
# do not belong together are refused by name. $GPUME_SEED chooses other cuts.
. "$(dirname "$0")/common.sh"
seed=${GPUME_SEED:-1}
frames=20
make_clip clip.y4m 64 48 8 $frames

# A summary without what differs between two runs of the same.
facts() {
    grep -Ev '"(seconds|fields_per_second|busy|dropped_by_.*|compared|candidates|host_bytes|device_bytes)"' "$1"
}

# same FOLDER FOLDER: their files are the same.
same() {
    only "$2" $(ls -A "$1")
    for file in $(ls -A "$1"); do
        if [ "$file" = summary.json ] || [ "$file" = r.json ]; then
            facts "$1/$file" >facts_1
            facts "$2/$file" >facts_2
            cmp -s facts_1 facts_2 || fail "$2/summary.json: $(diff facts_1 facts_2 | head -4)"
        else
            cmp -s "$1/$file" "$2/$file" || fail "$2/$file is not that of one run"
        fi
    done
}

# part FOLDER ARGUMENTS: a run into the folder, with the outputs that $outputs names.
part() {
    folder=$1
    shift
    named=
    for output in $outputs; do
        named="$named --${output%%=*} $folder/${output#*=}"
    done
    expect 0 -q clip.y4m --backend "$engine" -o "$folder" $named "$@"
}

# merges PARTS FIRST OPTIONS: as many parts, the first of which begins with that target.
merges() {
    parts=$1
    first=$2
    shift 2
    rm -rf one all part_*
    part one "$@"
    seed=$((seed + 1))
    cuts=$(awk -v n=$((parts - 1)) -v from=$((first + 1)) -v to=$((frames - 3)) -v seed=$seed 'BEGIN {
        srand(seed)
        while (n > 0) {
            cut = from + int(rand() * (to - from + 1))
            if (!(cut in chosen)) { chosen[cut]; n-- }
        }
        for (cut = from; cut <= to; cut++) if (cut in chosen) print cut }')
    start=0
    begin=$first
    for cut in $cuts; do
        part part_$begin --start $start --frames $((cut - begin)) "$@"
        start=$cut
        begin=$cut
    done
    part part_$begin --start $start "$@"
    names=
    for output in $outputs; do
        names="$names --${output%%=*} ${output#*=}"
    done
    expect 0 merge part_* -o all --whole $names
    same one all
}

outputs="vectors=v.csv.gz"
merges 3 1 -b 8
outputs="vectors=v.jsonl.zst"
merges 5 0 -b 16 --direction both --confidence
outputs="vectors=v.mvf predicted=p%02d.png residual=r.y4m"
merges 1 1 -b 16
merges 4 1 -b 16
expect 0 convert all/v.mvf merged.npz -q
expect 0 -q clip.y4m --backend "$engine" -b 16 --vectors whole.npz
cmp -s whole.npz merged.npz || fail "merged .mvf as .npz: not that of one run"
outputs="vectors=v.npy report=r.csv"
merges 7 0 -b 16 --direction both --confidence
outputs="vectors=v.hash report=r.json"
merges 3 0 -b 16 --direction future --ref-distance 1,3
outputs="vectors=v.jsonl predicted=p.y4m"
merges 2 2 -b 16x8,8 --ref-distance 2,5 --best-reference --subpel 2
outputs="vectors=f%d-%d.flo"
merges 5 0 -b 16 --compat ffmpeg
outputs=
merges 3 2 -b 16 --fields same
merges 3 1 -b 16 --fields nearest
outputs="overlay=o%d.png vectors=v.csv"
merges 6 1 -b 32..8 --partition --lambda 3

# Parts made by the plan, named by other names of the input, and by standard output of plan.
outputs=
rm -rf one all part_*
expect 0 plan clip.y4m --chunks 3
cp "$scratch/out" lines
[ "$(wc -l <lines)" -eq 3 ] || fail "not three ranges"
printf -- '--start 0 --frames 6\n' | cmp -s - "$scratch/out" && fail "one range only"
cp clip.y4m copy.y4m
number=0
while read -r line; do
    expect 0 -q copy.y4m --backend "$engine" $line -o part_$number
    number=$((number + 1))
done <lines
mv copy.y4m moved.y4m
expect 0 -q moved.y4m --backend "$engine" $(sed -n 2p lines) -o part_1 -y
mv moved.y4m copy.y4m
expect 0 -q copy.y4m --backend "$engine" -o one
expect 0 merge part_2 part_0 part_1 -o all --whole
same one all
refused 2 all/vectors.csv -- merge part_2 part_0 part_1 -o all --whole
expect 0 merge part_2 part_0 part_1 -o all --whole -y -q
[ ! -s "$scratch/out" ] || fail "-q, and yet a summary"
same one all
# A last part that was to have more frames than there are ends with the input, too.
start=$(sed -n 's/--start \([0-9]*\).*/\1/p' lines | tail -1)
expect 0 -q copy.y4m --backend "$engine" --start "$start" --frames 1000 -o part_2 -y
expect 0 merge part_2 part_0 part_1 -o all --whole -y -q
same one all
# What a merge that was killed has left is removed.
: >all/.vectors.csv.gpume-4194999-0.tmp
: >all/.summary.json.gpume-4194999-0.tmp
expect 0 merge part_2 part_0 part_1 -o all --whole -y -q
[ -z "$(ls -A all | grep '^\.')" ] || fail "left: $(ls -A all)"
expect 0 plan clip.y4m --chunks 3 --format json
[ "$(grep -c '"start"' "$scratch/out")" -eq 3 ] || fail "JSON has not three ranges"
grep -q '"frames": null' "$scratch/out" || fail "the last range has an end"

# refuses WORD... -- merge PARTS: the merge names each word and leaves nothing.
refuses() {
    refused 3 "$@" -o none
    [ ! -e none ] || fail "a refused merge left its folder"
}
refuses part_2 13 part_0 6 7 -- merge part_0 part_2
refuses part_1 -- merge part_0 part_1 part_1 part_2
refuses --whole part_1 7 -- merge part_1 part_2 --whole
refuses --whole part_1 12 -- merge part_0 part_1 --whole
expect 0 merge part_0 part_1 -o none -q
expect 0 -q copy.y4m --backend "$engine" -o first --frames 12
same first none
rm -r none
refuses absent -- merge part_0 absent
mkdir empty
refuses empty -- merge part_0 empty
cp -r part_1 partial
mv partial/summary.json partial/summary.json.partial
refuses partial -- merge part_0 partial part_2
expect 0 -q copy.y4m --backend "$engine" $(sed -n 2p lines) -w 8 -o other
refuses other part_0 --window 8x8 7x7 -- merge part_0 other part_2
rm -r other
tail -c 100 copy.y4m | tr '\000-\377' '\001-\377\000' >end
head -c -100 copy.y4m | cat - end >changed.y4m
expect 0 -q changed.y4m --backend "$engine" $(sed -n 2p lines) -o other
refuses other part_0 -- merge part_0 other part_2
cp -r part_1 cut
head -c -5 part_1/vectors.csv >cut/vectors.csv
refuses cut/vectors.csv -- merge part_0 cut part_2
sed '$d' part_1/vectors.csv >cut/vectors.csv
refuses cut/vectors.csv "$(($(wc -l <cut/vectors.csv) - 1))" "$(wc -l <cut/vectors.csv)" -- merge part_0 cut part_2
rm cut/vectors.csv
refuses cut/vectors.csv -- merge part_0 cut part_2
cp part_1/vectors.csv cut
sed '$d' part_1/frames.csv >cut/frames.csv
refuses cut/frames.csv cut/summary.json -- merge part_0 cut part_2
sed 's/"format": 1/"format": 2/' part_1/summary.json >cut/summary.json
refuses cut/summary.json -- merge part_0 cut part_2
# Compressed by gpume, by others, and damaged.
for format in csv.gz csv.zst; do
    for number in 0 1; do
        expect 0 -q copy.y4m --backend "$engine" $(sed -n $((number + 1))p lines) -o part_$number -y --vectors part_$number/v.$format
    done
    "$gpume" convert part_1/v.$format v.csv -q -y
    expect 0 merge part_0 part_1 -o none --vectors v.$format -q
    rm -r none part_1/v.$format
    case $format in
    csv.gz) gzip -c v.csv >part_1/v.$format ;;
    csv.zst) "$gpume" convert part_1/vectors.csv part_1/v.csv.gz -q && mv part_1/v.csv.gz part_1/v.$format ;;
    esac
    case $format in
    csv.gz) refuses part_1/v.csv.gz -- merge part_0 part_1 --vectors v.$format ;;
    csv.zst) refuses part_1/v.csv.zst part_0/v.csv.zst -- merge part_0 part_1 --vectors v.$format ;;
    esac
    rm part_[01]/v.$format
done
refused 2 part_1 -- merge part_0 part_1 -o part_1 -y
refused 2 r.mkv .mkv -- merge part_0 -o none --residual r.mkv
refused 2 o.MP4 .MP4 .y4m -- merge part_0 -o none --overlay o.MP4
refused 2 r.html .html .csv .json -- merge part_0 -o none --report r.html
refused 2 v.npz .npz .mvf -- merge part_0 -o none --vectors v.npz
expect 2 merge part_0 -o none --report-dir d
for option in --vectors --report; do
    refused 2 summary.json -- merge part_0 -o none $option summary.json
done
refuses part_0/p1.png -- merge part_0 --predicted p%d.png
refused 2 -o -- merge part_0
expect 2 merge -o none
# Ranges of fields: the plan's runs, merged, are one run.
for fields in same nearest; do
    rm -rf one all part_*
    expect 0 plan clip.y4m --chunks 3 --fields $fields --ref-distance 1,3
    cp "$scratch/out" lines
    [ "$(wc -l <lines)" -eq 3 ] || fail "--fields $fields: not three ranges"
    awk '$4 > 15 { exit 1 }' lines || fail "--fields $fields: unequal ranges: $(cat lines)"
    number=0
    while read -r line; do
        # shellcheck disable=SC2086 # several words
        expect 0 -q clip.y4m --backend "$engine" -b 16 --fields $fields --ref-distance 1,3 $line -o part_$number
        number=$((number + 1))
    done <lines
    expect 0 -q clip.y4m --backend "$engine" -b 16 --fields $fields --ref-distance 1,3 -o one
    expect 0 merge part_* -o all --whole
    same one all
done
refused 2 --chunks -- plan clip.y4m
expect 3 plan absent.mkv --chunks 2
expect 2 plan clip.y4m --chunks 0

# The script passes on what decides where ranges begin.
plans() {
    wanted=$1
    shift
    rm -rf ranges
    GPUME=$gpume sh "$here/../../samples/cluster/plan.sh" clip.y4m 3 ranges "$@" >last || fail "plan.sh $*"
    [ "$(cat last)" = 2 ] || fail "plan.sh $*: the number of the last range"
    # shellcheck disable=SC2086 # several words
    expect 0 plan clip.y4m --chunks 3 $wanted
    cmp -s ranges/plan "$scratch/out" || fail "plan.sh $*: not the ranges of $wanted"
}
plans "" -b 16 --vectors PART/v.mvf
plans "--fields same" --fields same --vf null
plans "--ref-distance 2,5" -b 16 --ref-distance=2,5
for option in "--direction both" --direction=both --bidirectional "--compat ffmpeg" --compat=ffmpeg; do
    # shellcheck disable=SC2086 # two words
    plans "--direction both" $option
done

# Damaged reports.
expect 0 -q clip.y4m --backend "$engine" -b 16 -o reported --report reported/r.json
cp reported/r.json whole.json
while read -r damage; do
    awk "$damage 1" whole.json >reported/r.json
    cmp -s whole.json reported/r.json && fail "$damage: changes nothing"
    refuses reported/r.json -- merge reported --report r.json
done <<'END'
after { $0 = " "; after = 0 } /"counts"/ { after = 1 }
after { sub(/-?[0-9]/, "9999&"); after = 0 } /"counts"/ { after = 1 }
/"cut"/ && !n++ { sub(/"cut"/, "\"cut_\"") }
/"cut"/ && !n++ { sub(/"time"/, sprintf("%3000s", "") "&") }
END

# damage HOW FILE: prints the file, cut or with more than it had.
damage() {
    size=$(($(wc -c <"$2")))
    case $1 in
    half) head -c $((size / 2)) "$2" ;;
    short) head -c $((size - 1)) "$2" ;;
    row) sed '$d' "$2" ;;
    long) cat "$2" && printf '\0' ;;
    line) cat "$2" && echo ;;
    twice) cat "$2" && tail -c $((size / 3)) "$2" ;;
    esac
}

# Files of every kind: whole, and damaged in every way. %d is frame 2.
while read -r option name more; do
    rm -rf whole cut all
    expect 0 -q clip.y4m --backend "$engine" -b 16 --frames 4 -o whole $more $option whole/"$name"
    expect 0 merge whole -o all $option "$name" -q
    rm -r all
    cp -r whole cut
    file=$(echo "$name" | sed 's/%d/2/')
    cmp -s whole/"$file" cut/"$file" || fail "$name: not written"
    hows="half short long line twice"
    case $file in
    *.csv | *.jsonl | *.hash) hows="$hows row" ;;
    esac
    for how in $hows; do
        damage $how whole/"$file" >cut/"$file"
        refuses "cut/$file" -- merge cut $option "$name"
    done
done <<'END'
--vectors v.csv
--vectors v.csv -b 32..8 --partition --lambda 3
--vectors v.csv --candidates 3
--vectors v.csv --format extract_mvs
--vectors v.jsonl
--vectors v.hash
--vectors v.npy
--vectors v.npy --candidates 8
--vectors v.mvf
--vectors v.mvf --candidates 2
--vectors v.csv.gz
--vectors v.jsonl.zst
--vectors v%d.npy --format mv-extractor
--vectors v%d.flo
--predicted p.y4m
--predicted p%d.png
--predicted p%d.pgm
--predicted p%d.bmp
--predicted p%d.jpg
--overlay o.y4m
--overlay o%d.ppm
--report r.csv
--report r.json
END

# Half of the body of an .npy, or none, whose head says all.
expect 0 -q clip.y4m --backend "$engine" -b 16 --frames 4 -o whole -y --vectors whole/v.npy
rm -rf cut
cp -r whole cut
for rows in 24 0; do
    head -c $((256 + 44 * rows)) whole/v.npy >cut/v.npy
    refuses cut/v.npy -- merge cut --vectors v.npy
done
# A whole file of another run.
expect 0 -q clip.y4m --backend "$engine" -b 16 --frames 3 --vectors short.npy
mv short.npy cut/v.npy
refuses cut/v.npy 36 48 -- merge cut --vectors v.npy
# How many candidates a block has may not be known before: as long as all blocks are there.
for format in csv jsonl.gz npy mvf; do
    rm -rf whole all
    expect 0 -q clip.y4m --backend "$engine" -b 16 --frames 4 -w 1 --candidates 8 --edge inside -o whole --vectors whole/v.$format
    expect 0 merge whole -o all --vectors v.$format -q
    same whole all
    rm -r all
    "$gpume" clip.y4m -q --backend "$engine" -b 16 --frames 3 -w 1 --candidates 8 --edge inside --vectors whole/v.$format -y
    refuses "whole/v.$format" -- merge whole --vectors v.$format
done
# Cut exactly between two candidates of the last block, of which no total tells: its window has room for another one.
for format in csv jsonl csv.gz; do
    for more in "--edge inside -w 3" "--edge extend -w 2 --subpel 4" "--edge inside -w 3 -b 16..8 --subpel 2 --subpel-search full"; do
        rm -rf whole all
        # shellcheck disable=SC2086 # several words
        expect 0 -q clip.y4m --backend "$engine" -b 16 --frames 4 --candidates 8 $more -o whole --vectors whole/v.$format
        expect 0 merge whole -o all --vectors v.$format -q
        same whole all
        rm -r all
        sed '$d' whole/vectors.csv >cut.csv
        tail -n 1 whole/vectors.csv | cut -d, -f"$(head -n 1 whole/vectors.csv | tr , '\n' | grep -n '^candidate$' | cut -d: -f1)" |
            grep -q '^[1-7]$' || fail "$more: the last row is not that of another candidate"
        case $format in
        csv) cp cut.csv whole/vectors.csv ;;
        *) "$gpume" convert cut.csv whole/v.$format -qy || fail "not converted" ;;
        esac
        case $format in
        csv) refuses whole/vectors.csv -- merge whole ;;
        *) refuses "whole/v.$format" -- merge whole --vectors v.$format ;;
        esac
    done
done
rm cut.csv
# Both matches of a block are rows of their own.
rm -rf whole all
expect 0 -q clip.y4m --backend "$engine" -b 16 -w 1 --frames 4 --bidirectional -o whole --vectors whole/v.csv --format extract_mvs
expect 0 merge whole -o all --vectors v.csv -q
same whole all
rm -r all
cp whole/v.csv uncut.csv
blocks=$(sed -n 's/^    "blocks": \([0-9]*\),$/\1/p' whole/summary.json | head -n 1)
last=$(tail -n 1 uncut.csv | cut -d, -f 1,3,4,7,8)
awk -F, -v last="$last" '$1 "," $3 "," $4 "," $7 "," $8 != last' uncut.csv >whole/v.csv
[ "$(($(wc -l <whole/v.csv) - 1))" -ge "$blocks" ] || fail "too few blocks have two matches"
refuses whole/v.csv "$((blocks - 1))" "$blocks" -- merge whole --vectors v.csv
awk -F, '$1 < 4' uncut.csv >cut.csv
mv cut.csv whole/v.csv
refuses whole/v.csv -- merge whole --vectors v.csv
# A window that no run can have: the report's histogram has no room for it.
rm -rf whole
expect 0 -q clip.y4m --backend "$engine" -b 16 --frames 4 -o whole --report whole/r.json
sed 's/"7x7"/"9999x9999"/' whole/summary.json >sum.json
mv sum.json whole/summary.json
refuses whole/summary.json -- merge whole --report r.json

# An output that is a file of a part under another name: by links of either kind, of any of its files and folders.
rm -rf part_* all whole cut
expect 0 -q clip.y4m --backend "$engine" -b 16 --frames 3 -o part_0 --predicted part_0/p%d.png
expect 0 -q clip.y4m --backend "$engine" -b 16 --start 4 --frames 3 -o part_1 --predicted part_1/p%d.png
cat part_0/* part_1/* | cksum >before
while read -r kind from to; do
    rm -rf all
    mkdir all
    case $kind in
    link) ln -s ../"$from" all/"$to" ;;
    hard) ln "$from" all/"$to" ;;
    far) ln -s "$PWD/$from" far && ln -s ../far all/"$to" ;;
    esac
    case $to in
    p*) output=all/p%d.png ;;
    *) output=all/$to ;;
    esac
    refused 2 "$output" -- merge part_0 part_1 -o all -y --predicted p%d.png
    cat part_0/* part_1/* | cksum | cmp -s - before || fail "$kind $from $to: a part is not what it was"
    only all "$to"
    rm -f far
done <<'END'
link part_0/vectors.csv vectors.csv
hard part_0/vectors.csv vectors.csv
far part_1/vectors.csv vectors.csv
link part_1/frames.csv vectors.csv
hard part_1/summary.json summary.json
link part_1/p5.png p2.png
hard part_0/p2.png p2.png
hard part_0/frames.csv p9.png
END
rm -rf all
ln -s part_1 all
refused 2 all -- merge part_0 part_1 -o all -y
rm all

# Without vectors.csv in all parts, there is none.
rm part_*/vectors.csv
expect 0 merge part_* -o none -q
only none frames.csv summary.json
exit 0
