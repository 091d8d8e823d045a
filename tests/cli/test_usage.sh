#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Every kind of wrong command line: exit status 2, one line that names option and value.
. "$(dirname "$0")/common.sh"
make_clip clip.y4m 32 24 8 3

# refused OPTION VALUE
refused() {
    expect 2 clip.y4m "$1" "$2"
    says "$1 $2: must be"
}
for value in 7 0 -8 3 132 130 8.0 8x7 8x 0x8 1e1 8, ,8 8..16 64..24 64..8+ 64..8+rec 8+rect 4,8,12,16,20,24,28,32,36,40,44,48,52,56,60,64,68,72,76,80,84,88,92,96,100,104,108,112,116,120,124,128,4x8 '8 ' ' 8' +8 99999999999999999999 eight; do
    refused --block "$value"
done
says "multiples of 4 from 4 to 128, e.g. 8"
for value in -1 513 9999 7x 'x7' 7x7x7 7X7 7x-1 18446744073709551616 7,7; do
    refused --window "$value"
done
for value in EXTEND ext inside,extend none; do
    refused --edge "$value"
done
refused --metric mse
for value in 0 1025 -1 two 1, 1,0 ,1 1..3 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17; do refused --ref-distance "$value"; done
for value in -1 4294967296 1.5; do refused --start "$value"; done
for value in 0 -1 4294967296; do refused --frames "$value"; done
for value in -1 65536 v:0; do refused --stream "$value"; done
for value in 0 1025 all; do refused --threads "$value"; done
for value in 0 -1 1e3 nan inf 65536 1.2.3 . 0x1 1,5; do
    refused --gain "$value"
    refused --gamma "$value"
done
for value in 0 3 8 1/4; do refused --subpel "$value"; done
for value in -1 1001 1e2; do refused --lambda "$value"; done
for value in -1 72; do refused --qp "$value"; done
for value in 0 9; do refused --passes "$value" && refused --candidates "$value"; done
refused --interpolation h265
refused --subpel-search none
refused --backend cuda
refused --residual-mode sign
refused --search fast
says "plain or"
# The other way of writing it.
for both in --block=7 --window=7x '--edge=inside,extend' --metric=mse --ref-distance=0 --start=-1 --frames=1.5 \
    --stream=v:0 --threads=all --gain=nan --gamma=1e3 --backend=cuda --residual-mode=sign --search=fast; do
    expect 2 $both clip.y4m
    says "${both%%=*} ${both#*=}: must be"
done
for backend in cpu vulkan; do
    wrong=plain
    [ $backend = vulkan ] || wrong=int
    expect 2 clip.y4m --backend $backend --search $wrong
    says "--search $wrong: must be"
done
# A search of the CPU engine makes options of GPUs useless.
for option in "--device 0" --validate; do
    # shellcheck disable=SC2086 # several words
    expect 2 clip.y4m --search plain $option
    says "${option% *}: has no effect with --search plain; leave one of them out"
done
for name in vf hwaccel output vectors predicted residual difference device search; do
    expect 2 clip.y4m --$name=
    says "--$name: its value is empty"
done

# A value that was forgotten, so that an option stands in its place; "=" leaves no doubt.
for line in "--lambda L; --vectors x.npy" "--lambda L; --vectors=x.npy" "--block LIST; -q" "-w N|XxY; -b 8" "--frames N; -yq"; do
    option=${line%% *}
    # shellcheck disable=SC2086 # several words
    expect 2 clip.y4m "$option" ${line#*; }
    next=${line#*; }
    says "$option needs a value: ${line%%;*}; it is followed by the option ${next%% *}"
done
expect 2 clip.y4m --lambda=--vectors
says "--lambda --vectors: must be"
expect 2 clip.y4m --lambda --nothing
says "--lambda --nothing: must be"

# Short options.
expect 2 clip.y4m -b7
says "-b 7: must be"
expect 2 clip.y4m -b 7
says "-b 7: must be"
expect 2 clip.y4m -yb7
says "-b 7: must be"
cp clip.y4m ./-x.y4m
cp clip.y4m ./--long.y4m
for name in -x.y4m --long.y4m; do
    expect 2 $name
    says "unknown option $name; if the file is meant, give it as ./$name"
done
expect 0 -q ./-x.y4m --backend cpu -o named
rm -r ./-x.y4m ./--long.y4m named
expect 2 clip.y4m -z
says "unknown option -z"
expect 2 clip.y4m -yz
says "unknown option -z"
for name in preset hwaccel output bitrate=1M; do
    expect 2 firstpass clip.y4m -$name x
    says "unknown option -${name%=*}; did you mean --${name%=*}?"
done
expect 2 firstpass clip.y4m -no-mbtree
says "unknown option --no-mbtree; give --mbtree 0"

# Without a value, or with one too many.
for name in -b -w -o --block --window --edge --vectors --gain --vf; do
    expect 2 clip.y4m $name
    says "$name needs a value"
    says "see 'gpume --help all'"
done
expect 2 clip.y4m --check=yes
says "--check: takes no value"

# Options of the search that do not go together.
# refuses TEXT ARGUMENT...
refuses() {
    text=$1
    shift
    expect 2 clip.y4m "$@"
    says "gpume: $text"
}
refuses "--qp: cannot be combined with --lambda; leave one of them out" --lambda 4 --qp 20
refuses "--predictor: needs --lambda L or --qp Q" --predictor median
refuses "--partition: needs --lambda above 0 or --qp" --partition --block 16,8
refuses "--partition: needs --lambda above 0 or --qp" --partition --block 16,8 --lambda 0
refuses "--partition: needs a list of squares by halves in --block, e.g. -b 64..8 or -b 64..8+rect" \
    --partition --block 32,8 --lambda 4
refuses "--block: lists 16x8 twice" --block 16x8,8,16x8
refuses "--ref-distance: lists 2 twice" --ref-distance 2,1,2
refuses "--interpolation h265: must be h264, hevc or bilinear" --subpel 2 --interpolation h265
refuses "--edge wrap: must be extend or inside" --edge wrap
refuses "--passes: needs --predictor median" --lambda 4 --passes 3
refuses "--passes: needs --predictor median" --lambda 4 --predictor zero --passes 2
refuses "--interpolation: needs --subpel 2 or 4" --interpolation hevc
refuses "--subpel-search: needs --subpel 2 or 4" --subpel 1 --subpel-search full
refuses "--refine-metric sse: must be sad, satd or ssd" --subpel 4 --refine-metric sse
refuses "--refine-metric: needs --subpel 2 or 4 and --subpel-search refine" --refine-metric satd
refuses "--refine-metric: needs --subpel 2 or 4 and --subpel-search refine" \
    --subpel 4 --subpel-search full --refine-metric satd
refuses "--best-reference: needs several references; list distances in --ref-distance, or add --direction both" \
    --best-reference --ref-distance 2
refuses "--bidirectional: needs past and future references" --bidirectional --direction past
refuses "--bidirectional: cannot be combined with --candidates above 1" --bidirectional --candidates 2
refuses "--bidirectional: cannot be combined with --confidence" --bidirectional --confidence
refuses "--bidirectional: needs a video" clip.y4m --bidirectional
refuses "--ref-distance with a list: searches several references per frame, but --predicted" \
    --ref-distance 1,2 --predicted p.y4m

make_clip deep.y4m 16 16 16 2
expect 2 deep.y4m --subpel 2 --interpolation hevc
says "deep.y4m: has 16 bits per sample, but --interpolation hevc supports at most 12; use h264 or bilinear"
expect 2 deep.y4m --metric ssd -b 8
says "a block of 8x8 could cost 274869518400, more than 4294967295; use another metric"
expect 2 deep.y4m --subpel 2 --refine-metric ssd -b 8
says "--refine-metric: a block of 8x8 could cost 274869518400, more than 4294967295; use another metric"
rm deep.y4m
make_clip deep.y4m 16 16 12 2
expect 2 deep.y4m --metric ssd -b 32
says "more than 4294967295; use smaller blocks or another metric"
rm deep.y4m

# Unknown options, abbreviations, and what is not built.
expect 2 clip.y4m --blocks 8
says "did you mean --block?"
expect 2 clip.y4m --windw=8
says "did you mean --window?"
expect 2 clip.y4m --overwrit
says "did you mean --overwrite?"
expect 2 clip.y4m --nonsense
says "unknown option --nonsense; 'gpume --help all' lists all"
expect 2 clip.y4m --=8
expect 2 clip.y4m "--$(printf 'two\nlines')"

# Inputs.
expect 2 clip.y4m clip.y4m clip.y4m
says "too many inputs"
expect 2 - -
expect 2 ''

# Options that need another.
expect 2 clip.y4m --gain 2
says "--gain"
expect 2 clip.y4m --gamma 2
says "--gamma"
expect 2 clip.y4m --residual-mode signed
says "--residual FILE"

only . clip.y4m

# And what is right: before and after the input, repeated, joined.
expect 0 -b16 -w 3 clip.y4m --window=2x1 --backend "$engine" -yq --block 8 --edge inside -o out
only out vectors.csv frames.csv summary.json
grep -q '"block": 8,' out/summary.json || fail "the last --block does not count"
grep -q '"window": "2x1",' out/summary.json || fail "the last --window does not count"

# The library names its parameters; the user reads options and commands.
VK_DRIVER_FILES=/none VK_ICD_FILENAMES=/none
export VK_DRIVER_FILES VK_ICD_FILENAMES
expect 4 clip.y4m --backend vulkan
says "use --backend cpu"
echo 1 >number
expect 4 sort number --backend vulkan
says "use --backend cpu"
exit 0
