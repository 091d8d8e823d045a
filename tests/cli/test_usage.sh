#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Every kind of wrong command line: exit status 2, one line that names option and value.
. "$(dirname "$0")/common.sh"
make_clip clip.y4m 32 24 8 3

# wrong OPTION VALUE
wrong() {
    refused 2 "$1" "$2" -- clip.y4m "$1" "$2"
}
for value in 7 0 -8 3 132 130 8.0 8x7 8x 0x8 1e1 8, ,8 8..16 64..24 64..8+ 64..8+rec 8+rect 4,8,12,16,20,24,28,32,36,40,44,48,52,56,60,64,68,72,76,80,84,88,92,96,100,104,108,112,116,120,124,128,4x8 '8 ' ' 8' +8 99999999999999999999 eight; do
    wrong --block "$value"
done
names 4 128 8
for value in -1 513 9999 7x 'x7' 7x7x7 7X7 7x-1 18446744073709551616 7,7; do
    wrong --window "$value"
done
for value in EXTEND ext inside,extend none; do
    wrong --edge "$value"
done
wrong --metric mse
for value in 0 1025 -1 two 1, 1,0 ,1 1..3 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17; do wrong --ref-distance "$value"; done
for value in -1 4294967296 1.5; do wrong --start "$value"; done
for value in 0 -1 4294967296; do wrong --frames "$value"; done
for value in -1 65536 v:0; do wrong --stream "$value"; done
for value in 0 1025 all; do wrong --threads "$value"; done
for value in 0 -1 1e3 nan inf 65536 1.2.3 . 0x1 1,5; do
    wrong --gain "$value"
    wrong --gamma "$value"
done
for value in 0 3 8 1/4; do wrong --subpel "$value"; done
for value in -1 1001 1e2; do wrong --lambda "$value"; done
for value in -1 72; do wrong --qp "$value"; done
for value in 0 9; do wrong --passes "$value" && wrong --candidates "$value"; done
wrong --interpolation h265
wrong --subpel-search none
wrong --backend cuda
wrong --residual-mode sign
wrong --search fast
says plain
# The other way of writing it.
for both in --block=7 --window=7x '--edge=inside,extend' --metric=mse --ref-distance=0 --start=-1 --frames=1.5 \
    --stream=v:0 --threads=all --gain=nan --gamma=1e3 --backend=cuda --residual-mode=sign --search=fast; do
    refused 2 "${both%%=*}" "${both#*=}" -- $both clip.y4m
done
for backend in cpu vulkan; do
    wrong=plain
    [ $backend = vulkan ] || wrong=int
    refused 2 --search "$wrong" -- clip.y4m --backend $backend --search $wrong
done
# A search of the CPU engine makes options of GPUs useless.
for option in "--device 0" --validate; do
    # shellcheck disable=SC2086 # several words
    refused 2 "${option% *}" --search -- clip.y4m --search plain $option
done
for name in vf hwaccel output vectors predicted residual difference device search; do
    refused 2 "--$name" -- clip.y4m --$name=
done

# A value that was forgotten, so that an option stands in its place; "=" leaves no doubt.
for line in "--lambda L; --vectors x.npy" "--lambda L; --vectors=x.npy" "--block LIST; -q" "-w N|XxY; -b 8" "--frames N; -yq" "-o DIR; -q" "--vectors FILE; --quiet" "--vf GRAPH; --" \
    "--output DIR; --vectors=x.npy"; do
    option=${line%% *}
    # shellcheck disable=SC2086 # several words
    expect 2 clip.y4m "$option" ${line#*; }
    next=${line#*; }
    names "$option" "${line%%;*}" "${next%% *}"
done
refused 2 --lambda --vectors -- clip.y4m --lambda=--vectors
refused 2 -o=x -o --output=x -- clip.y4m -o=x
refused 2 -o -- clip.y4m -o=
! grep -q ': write' "$scratch/err" || fail "-o= is answered by options without a value"
refused 2 -o -- convert clip.y4m -o x.csv # its output is the last argument: the others' -o is no way out
! grep -q sort "$scratch/err" || fail "convert -o: names commands that have it"
refused 2 --output -- convert clip.y4m --output=x.csv
refused 2 -b=8 -b --block=8 -- clip.y4m -qb=8
refused 2 --lambda --nothing -- clip.y4m --lambda --nothing

# Short options.
refused 2 -b 7 -- clip.y4m -b7
refused 2 -b 7 -- clip.y4m -b 7
refused 2 -b 7 -- clip.y4m -yb7
cp clip.y4m ./-x.y4m
cp clip.y4m ./--long.y4m
for name in -x.y4m --long.y4m; do
    refused 2 "$name" "./$name" -- $name
done
expect 0 -q ./-x.y4m --backend cpu -o named
rm -r ./-x.y4m ./--long.y4m named
refused 2 -z -- clip.y4m -z
refused 2 -z -- clip.y4m -yz
for name in preset hwaccel output bitrate=1M; do
    refused 2 "-${name%=*}" "--${name%=*}" -- firstpass clip.y4m -$name x
done
refused 2 --no-mbtree --mbtree 0 -- firstpass clip.y4m -no-mbtree

# Without a value, or with one too many.
for name in -b -w -o --block --window --edge --vectors --gain --vf; do
    refused 2 "$name" -- clip.y4m $name
    names --help
done
refused 2 --check -- clip.y4m --check=yes

# Options of the search that do not go together.
refused 2 --qp --lambda -- clip.y4m --lambda 4 --qp 20
refused 2 --predictor --lambda --qp -- clip.y4m --predictor median
refused 2 --partition --lambda 0 -- clip.y4m --partition --block 16,8
refused 2 --partition --lambda 0 -- clip.y4m --partition --block 16,8 --lambda 0
refused 2 --partition --block -- clip.y4m \
    --partition --block 32,8 --lambda 4
refused 2 --block 16x8 -- clip.y4m --block 16x8,8,16x8
refused 2 --ref-distance 2 -- clip.y4m --ref-distance 2,1,2
refused 2 --interpolation h265 h264 -- clip.y4m --subpel 2 --interpolation h265
refused 2 --edge -- clip.y4m --edge wrap
refused 2 --passes --predictor -- clip.y4m --lambda 4 --passes 3
refused 2 --passes --predictor -- clip.y4m --lambda 4 --predictor zero --passes 2
refused 2 --interpolation --subpel 2 4 -- clip.y4m --interpolation hevc
refused 2 --subpel-search --subpel 2 4 -- clip.y4m --subpel 1 --subpel-search full
refused 2 --refine-metric -- clip.y4m --subpel 4 --refine-metric sse
refused 2 --refine-metric --subpel 2 4 -- clip.y4m --refine-metric satd
refused 2 --refine-metric --subpel-search refine -- clip.y4m \
    --subpel 4 --subpel-search full --refine-metric satd
refused 2 --best-reference --ref-distance --direction -- clip.y4m \
    --best-reference --ref-distance 2
refused 2 --bidirectional -- clip.y4m --bidirectional --direction past
refused 2 --bidirectional --candidates 1 -- clip.y4m --bidirectional --candidates 2
refused 2 --bidirectional --confidence -- clip.y4m --bidirectional --confidence
refused 2 --bidirectional -- clip.y4m clip.y4m --bidirectional
refused 2 --ref-distance --predicted -- clip.y4m \
    --ref-distance 1,2 --predicted p.y4m

make_clip deep.y4m 16 16 16 2
refused 2 deep.y4m 16 --interpolation 12 h264 -- deep.y4m --subpel 2 --interpolation hevc
refused 2 8x8 274869518400 4294967295 -- deep.y4m --metric ssd -b 8
refused 2 --refine-metric 8x8 274869518400 4294967295 -- deep.y4m --subpel 2 --refine-metric ssd -b 8
rm deep.y4m
make_clip deep.y4m 16 16 12 2
refused 2 4294967295 -- deep.y4m --metric ssd -b 32
rm deep.y4m

# Unknown options, abbreviations, and what is not built.
refused 2 --block -- clip.y4m --blocks 8
refused 2 --window -- clip.y4m --windw=8
refused 2 --overwrite -- clip.y4m --overwrit
refused 2 --nonsense --help -- clip.y4m --nonsense
expect 2 clip.y4m --=8
expect 2 clip.y4m "--$(printf 'two\nlines')"

# Inputs.
refused 2 clip.y4m -- clip.y4m clip.y4m clip.y4m
expect 2 - -
expect 2 ''

# Options that need another.
refused 2 --gain -- clip.y4m --gain 2
refused 2 --gamma -- clip.y4m --gamma 2
refused 2 --residual -- clip.y4m --residual-mode signed

# A mode takes the options that have a meaning beside it, and refuses every other one, also those that will be added
# later. mode ACCEPTED ARGUMENTS: of the switches in the table for shells, only those accepted; `needs` has its own line.
mode() {
    accepted=" $1 "
    shift
    "$gpume" --completion bash | sed -n 's/.*estimate|--\([a-z-]*\)|[^|]*|flag|.*/\1/p' >"$scratch/switches"
    [ "$(wc -l <"$scratch/switches")" -gt 15 ] || fail "the switches cannot be listed"
    while read -r switch; do
        case "$accepted" in
            *" $switch "*) ;;
            *) refused 2 "--$switch" -- clip.y4m "$@" "--$switch" ;;
        esac
    done <"$scratch/switches"
}
mode "from-stream overwrite allow-network allow-files quiet verbose progress no-progress help version" \
    --from-stream --vectors v.csv
mode "against-stream overwrite allow-network allow-files no-elimination validate quiet verbose progress no-progress help version" \
    --against-stream
refused 2 --predicted -- clip.y4m --from-stream --vectors v.csv --predicted p.y4m
refused 2 --vf -- clip.y4m --against-stream --vf crop=8:8
refused 2 --hwaccel -- clip.y4m --from-stream --vectors v.csv --hwaccel none
refused 2 --decoders -- clip.y4m --against-stream --decoders 2

only . clip.y4m

# And what is right: before and after the input, repeated, joined.
expect 0 -b16 -w 3 clip.y4m --window=2x1 --backend "$engine" -yq --block 8 --edge inside -o out
only out vectors.csv frames.csv summary.json
grep -q '"block": 8,' out/summary.json || fail "the last --block does not count"
grep -q '"window": "2x1",' out/summary.json || fail "the last --window does not count"

# The library names its parameters; the user reads options and commands.
VK_DRIVER_FILES=/none VK_ICD_FILENAMES=/none
export VK_DRIVER_FILES VK_ICD_FILENAMES
refused 4 --backend -- clip.y4m --backend vulkan
echo 1 >number
refused 4 --backend -- sort number --backend vulkan

# libavfilter, which brings many libraries, is loaded only for filters.
ldd "$gpume" 2>/dev/null | grep -q libavfilter && fail "libavfilter is always loaded"

# A command that was misspelt is no video: letters are swapped, missing or wrong, or it is the beginning of a name.
for word in flwo:flow lader:ladder filtre:filter firstpas:firstpass complexty:complexity dev:devices lum:luma; do
    refused 2 ${word%:*} "'gpume ${word#*:}'" -- ${word%:*} clip.y4m
    refused 2 ${word%:*} "'gpume help ${word#*:}'" -- help ${word%:*}
    cp clip.y4m ${word%:*}
    refused 2 --output -- ${word%:*} --output
    rm ${word%:*}
done
refused 3 clip -- clip
refused 2 --bakcend --backend -- clip.y4m --bakcend cpu

# What is written would not be what the name says.
for name in x.mp4 x.json x.csv.gz; do
    for command in luma qpmap grain methods; do
        refused 2 --output $name -- $command clip.y4m -o $name
    done
done
refused 2 --output x.html --report -- methods clip.y4m -o x.html

# A second file for one output would take the place of the first, which nobody wants.
refused 2 two.mkv one.mkv -- clip.y4m --backend cpu --overlay one.mkv --overlay two.mkv
[ ! -e one.mkv ] && [ ! -e two.mkv ] || fail "an output of a refused line"

# Where no GPU has a file, drivers are not even looked for. The loader says what it looks for.
if ! ls /dev | grep -qE '^(dri|nvidia|nvhost|nvgpu|nvmap|dxg|kgsl|mali|pvr|goldfish)'; then
    unset VK_DRIVER_FILES VK_ICD_FILENAMES VK_ADD_DRIVER_FILES VK_INSTANCE_LAYERS VK_LOADER_LAYERS_ENABLE
    export VK_LOADER_DEBUG=all
    "$gpume" -q clip.y4m -o asked --backend vulkan 2>asked.err || :
    "$gpume" -q clip.y4m -o unasked 2>unasked.err || fail "auto needs a GPU"
    if grep -q manifest asked.err; then
        grep -q manifest unasked.err && fail "drivers are looked for"
    fi
fi
exit 0
