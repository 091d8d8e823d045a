#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# --prefilter: every form, refusals, and which frames the search and the statistics use.
. "$(dirname "$0")/common.sh"
make_clip clip.y4m 70 46 8 4

engines=$engine
if [ -z "${GPUME_TEST_BACKEND:-}" ] && have_vulkan; then
    engines="cpu vulkan"
fi

# Wrong words: exit status 2.
for value in gauss gauss: gauss:-1 gauss:0 gauss:0.2 gauss:17 gauss:nan gauss:inf gauss:1e1 \
    gauss:1,2 gauss:. gauss:1.2.3 'gauss: 1' 'gauss:1 ' GAUSS:1 gaus:1 box: box:4 box:1 box:33 \
    box:3.0 box:3x3 box:-3 median:4 median:7 median:1 median: bilateral:1 bilateral:1, \
    bilateral:,5 bilateral:6,5 bilateral:1,0 bilateral:1,1001 bilateral:1,5,2 bilateral:1,nan \
    kernel kernel: nothing sharpen 3 gauss:99999999999999999999999999999999999999; do
    refused 2 --prefilter "$value" -- clip.y4m --prefilter "$value"
    expect 2 "--prefilter=$value" clip.y4m
done
refused 2 --prefilter -- clip.y4m --prefilter
expect 2 clip.y4m --prefilter ''
refused 2 --prefilter -- bench --prefilter gauss:1

# Unusable kernels: exit status 3, with the file's name, the line and what to do.
# kernel STATUS TEXT SAYS: runs with a kernel file of that text.
kernel() {
    printf "$2" >k.txt
    expect "$1" clip.y4m --prefilter kernel:k.txt --backend cpu --vectors - -q
    [ -z "${3:-}" ] || says "$3"
}
refused 3 missing.txt -- clip.y4m --prefilter kernel:missing.txt
expect 3 clip.y4m --prefilter kernel:.
says ".: "
kernel 3 '' 'k.txt: contains no numbers'
kernel 3 '# nothing\n \n' 'k.txt: contains no numbers'
kernel 3 '1 2 1\n2 4 2\n1 2\n' 'k.txt:3: has 2 numbers, but the rows above have 3; pad with 0'
kernel 3 '1 2 1\n# 2\n1\n' 'k.txt:3: has 1 number, but'
kernel 3 '1 2\n1 2\n' 'k.txt: has 2 rows of 2 numbers, but both must be odd'
kernel 3 '1 2 1\n1 2 1\n' 'add a row of 0'
kernel 3 '1 2\n' 'add a column of 0'
kernel 3 '1 2 1\n2 four 2\n1 2 1\n' "k.txt:2: 'four' is not a number"
kernel 3 '1 2 1x\n' "k.txt:1: '1x' is not a number"
kernel 3 '1 0x10 1\n' "k.txt:1: '0x10' is not a number"
kernel 3 '1 1e 1\n' "k.txt:1: '1e' is not a number"
for word in nan inf NAN -inf infinity; do
    kernel 3 "1 $word 1\n" "k.txt:1: '$word' is not a number"
done
kernel 3 '1\n2e9\n1\n' 'k.txt:2: 2e9: a weight must be 0, or have a magnitude from 1e-9 to 1e9'
kernel 3 '1 1e999 1\n' 'k.txt:1: 1e999: a weight must be'
kernel 3 '1 -1e-300 1\n' 'k.txt:1: -1e-300: a weight must be'
kernel 3 '1,,1\n' 'k.txt:1: a number is missing next to a comma'
kernel 3 '1,2,1,\n' 'k.txt:1: a number is missing next to a comma'
kernel 3 ',1\n' "k.txt:1: '' is not a number"
kernel 3 '0 0 0\n' 'k.txt: all numbers are 0'
kernel 3 '1e9 -1e9 0\n' 'filter weights of sum 0'
kernel 3 '1 \0001 1\n' 'k.txt:1: the line is too long'
{ for i in $(seq 32); do printf '1 '; done; echo; } >k.txt
refused 3 k.txt:1 31 -- clip.y4m --prefilter kernel:k.txt
{ for i in $(seq 33); do echo 1; done; } >k.txt
refused 3 k.txt:32 -- clip.y4m --prefilter kernel:k.txt
head -c 5000 /dev/zero | tr '\0' ' ' >k.txt
refused 3 k.txt:1 -- clip.y4m --prefilter kernel:k.txt
only . clip.y4m k.txt

# Valid kernels in every notation.
kernel 0 '# sharper\n 0 -1 0\n-1, 5 ,-1 # middle\r\n\n0,-1,0'
kernel 0 '+.5 -1e-1 0.5'
kernel 0 '1\n'

# Every kind: --check passes, every engine gives the same bytes, and statistics are of the original
# frames.
printf '0 -1 0\n-1 5 -1\n0 -1 0\n' >k.txt
for bits in 8 10; do
    make_clip clip.y4m 70 46 $bits 4
    expect 0 clip.y4m --backend cpu -y -o plain --predicted plain.y4m --difference plain-d.y4m
    for filter in gauss:1.5 box:5 median:3 median:5 bilateral:1.5,20 kernel:k.txt; do
        for one in $engines; do
            expect 0 clip.y4m --backend "$one" --prefilter "$filter" --check -y -o "$one" \
                --predicted "$one.y4m" --difference "$one-d.y4m"
            grep -q "\"prefilter\": \"$filter\"" "$one/summary.json" ||
                fail "summary.json does not have $filter"
            grep -q "^prefilter    $filter" "$scratch/err" "$scratch/out" ||
                fail "the closing summary does not have $filter"
            cmp cpu/vectors.csv "$one/vectors.csv" || fail "$filter: vectors.csv of $one"
            cmp cpu/frames.csv "$one/frames.csv" || fail "$filter: frames.csv of $one"
            cmp cpu.y4m "$one.y4m" || fail "$filter: predicted frames of $one"
            cmp plain-d.y4m "$one-d.y4m" || fail "$filter: differences of $one"
        done
        ! cmp -s plain/vectors.csv cpu/vectors.csv || fail "$filter changes nothing"
        for column in sad_before sse_before psnr_before; do
            for folder in plain cpu; do
                awk -F, -v name=$column 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i }
                    at { print $at }' $folder/frames.csv >$folder.column
            done
            [ -s cpu.column ] || fail "no $column"
            cmp plain.column cpu.column || fail "$filter: $column is not that of the original frames"
        done
    done
done
grep -q '"prefilter": null' plain/summary.json || fail "no prefilter in summary.json"

# A kernel of one number changes nothing.
echo 7 >k.txt
for one in $engines; do
    expect 0 clip.y4m --backend "$one" --prefilter kernel:k.txt -y -o same
    cmp plain/vectors.csv same/vectors.csv || fail "vectors.csv with a kernel of one number, $one"
    cmp plain/frames.csv same/frames.csv || fail "frames.csv with a kernel of one number, $one"
done

# The last option counts; `none` is valid.
expect 0 clip.y4m --prefilter box:3 --prefilter none --vectors - --backend cpu
cp "$scratch/out" without.csv
expect 0 clip.y4m --vectors - --backend cpu
cmp -s "$scratch/out" without.csv || fail "--prefilter none filters"
exit 0
