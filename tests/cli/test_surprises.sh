#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What users try first and trip over: each time one line says what happens, or what to write instead.
. "$(dirname "$0")/common.sh"
make_clip clip.y4m 64 48 8 3

warns() {
    grep -qF "gpume: warning: $1" "$scratch/err" || fail "no warning: $1"
}

# Two videos.
refused 2 clip.y4m -- clip.y4m clip.y4m
refused 3 missing.y4m -- clip.y4m missing.y4m # both are opened before either is judged
# --pictures takes the first frame of each.
make_clip two.y4m 64 48 8 2
tail -n +2 two.y4m | head -c 3078 | tail -c 3072 >pixels # the first frame
{ head -1 two.y4m; echo FRAME; tr '\000-\377' '\001-\377\000' <pixels; echo FRAME; cat pixels; } >other.y4m
head -c "$(($(head -1 two.y4m | wc -c) + 3078))" two.y4m >first.y4m
head -c "$(($(head -1 other.y4m | wc -c) + 3078))" other.y4m >second.y4m
expect 0 first.y4m second.y4m --backend cpu --vectors stills.csv
expect 0 two.y4m other.y4m --pictures --backend cpu --vectors videos.csv
cmp stills.csv videos.csv || fail "not the first frames of two videos"
expect 0 first.y4m other.y4m --pictures --backend cpu --vectors mixed.csv
cmp stills.csv mixed.csv || fail "not the first frame of a video"
refused 2 --pictures -- two.y4m --pictures

# A pipe does not say how many frames it holds; it is read on.
mkfifo pipe
for inputs in "first.y4m pipe" "pipe first.y4m"; do
    cat two.y4m >pipe &
    # shellcheck disable=SC2086 # two names
    refused 2 pipe -- $inputs --backend cpu -o piped
    [ ! -e piped ] || fail "a folder was left behind"
    wait $!
    cat second.y4m >pipe &
    # shellcheck disable=SC2086 # two names
    expect 0 $inputs --backend cpu --vectors piped.csv -y
    wait $!
done
# What is nearly a command, a second value, a folder of results.
refused 2 device -- device
says "gpume devices"
refused 2 9 --window 7x9 -- clip.y4m --window 7 9
cp clip.y4m 9
refused 2 9 -- 9 clip.y4m # a file of that name is an input
expect 0 --backend cpu -b 16 -w 3 clip.y4m -o run
refused 3 run -- run
says "is the output folder of a run"
# "-" is standard input and output, never a file or a folder of that name.
mv run ./-
"$gpume" --backend cpu -b 16 -w 3 - -q -o piped <clip.y4m || fail "standard input is not read beside a folder -"
cmp piped/vectors.csv ./-/vectors.csv || fail "standard input gives other vectors"
rm -r ./- piped
refused 2 -o -- --backend cpu clip.y4m -o -
refused 2 -o -- merge run -o -
[ ! -e ./- ] || fail "a folder called -"
expect 0 --backend cpu -b 16 -w 3 clip.y4m -o run
# Files of vectors, which other commands read; by their bytes, and by their names where bytes do not tell.
for format in csv jsonl npy mvf csv.gz jsonl.zst extract_mvs mv-extractor flo npz hash; do
    name=results.$format
    expect 0 --backend cpu -q -b 16 -w 3 --frames 1 clip.y4m --vectors "$name" --format $format
    for command in "" luma vectors scenes "plan --chunks 2" "bench --seconds 0.1" "$name"; do
        # shellcheck disable=SC2086 # several words
        refused 3 "$name" "$format" -- $command "$name"
    done
    case $format in
    npz | hash) ! grep -q 'read it' "$scratch/err" || fail "$format: is read" ;;
    *) says "; gpume compare and gpume convert read it" ;;
    esac
done
refused 3 results.mvf mvf -- compare run run --video results.mvf --report page.html
cp clip.y4m results.csv.gz # a name proves nothing
expect 0 --backend cpu -q -b 16 -w 3 --frames 1 results.csv.gz --vectors -
cp results.mvf results
refused 3 results -- results
says "is a file of vectors (mvf)"
cp run/frames.csv results
refused 3 results -- results
says "is the table of a run's frame pairs"
refused 3 run/summary.json -- luma run/summary.json
for name in frames.csv summary.json; do
    refused 3 "run/$name" -- compare run run/$name
    refused 3 "run/$name" -- convert run/$name other.mvf
done
rm results results.*
# The file of --predictor is an input, too; without it no run could be resumed.
for output in "--vectors run/../run/vectors.csv" "-o run"; do
    # shellcheck disable=SC2086 # two words
    refused 2 vectors.csv -- clip.y4m --backend cpu -b 16 -w 3 --lambda 4 --predictor run/vectors.csv -y $output
done
# -.nut is video; a table is not.
echo 3 1 2 >integers
for command in "scenes clip.y4m" "complexity clip.y4m" "qpmap clip.y4m" "methods clip.y4m" "luma clip.y4m" "filter clip.y4m" "sort integers"; do
    # shellcheck disable=SC2086 # several words
    refused 2 -.nut -- $command -o -.nut
done
# A folder as the name of a file.
refused 2 run/ run/vectors.csv -- clip.y4m --vectors run/
refused 2 run run/vectors.csv -- clip.y4m --vectors run
refused 2 run -- convert run run
refused 2 run run/report.html -- clip.y4m --report run
refused 2 run run/name%05d.png -- clip.y4m --overlay run
# A width that 32 bits do not hold.
sed '1s/W64/W4294967328/' clip.y4m >wide.y4m
refused 3 4294967328x48 -- wide.y4m

# The summary has units.
expect 0 --backend cpu -b 16 -w 3 clip.y4m -o run -y
grep -Eq '^mean SAD +[0-9]+\.[0-9]{3} +[0-9]+\.[0-9]{3}  per pixel, of 255$' "$scratch/out" || fail "no units"

# convert reads the folder of a run, and says what to do with a video.
expect 0 convert run run.jsonl
expect 0 convert run/vectors.csv file.jsonl
cmp run.jsonl file.jsonl || fail "the folder is not its vectors.csv"
mkdir empty
refused 3 empty vectors.csv -- convert empty x.jsonl
{ printf 'RIFF'; head -c 64 /dev/zero; } >video.avi
refused 3 video.avi -- convert video.avi x.jsonl

refused 2 --compat --edge -- clip.y4m --compat ffmpeg --edge extend

# Interlaced video, also as Y4M; a filter that makes whole frames ends the warning.
{ head -1 clip.y4m | sed 's/$/ It/'; tail -n +2 clip.y4m; } >fields.y4m
expect 0 fields.y4m --backend cpu -o fields -q
warns "fields.y4m: is interlaced"
grep -q 'fields.y4m: is interlaced.*--vf yadif.*--fields same' "$scratch/err" || fail "no remedy"
expect 0 firstpass fields.y4m --backend cpu --encoder x264 --bitrate 1M -o whole -q
warns "fields.y4m: is interlaced, and is encoded as progressive; --vf bwdif"
expect 0 fields.y4m --backend cpu -o fields -y -q --vf yadif
[ ! -s "$scratch/err" ] || fail "a warning about progressive frames"
for choice in same nearest; do
    expect 0 fields.y4m --backend cpu -o fields -y -q --fields "$choice"
    [ ! -s "$scratch/err" ] || fail "a warning about fields that are searched as such"
done
# What is marked as progressive has no fields; a filter may make some, and a file may be wrong.
cp clip.y4m whole.y4m
expect 0 whole.y4m --backend cpu -o fields -y --fields same
warns "whole.y4m: is marked as progressive"
[ "$(wc -l <"$scratch/err")" -eq 1 ] || fail "more than one line"
for quiet in "-q" "--vf setfield=tff"; do
    # shellcheck disable=SC2086 # several words
    expect 0 whole.y4m --backend cpu -o fields -y --fields nearest $quiet
    [ ! -s "$scratch/err" ] || fail "a warning with $quiet"
done
if have ffmpeg && ffmpeg -v error -i whole.y4m -c:v mpeg2video -q:v 2 whole.mkv 2>/dev/null; then
    expect 0 whole.mkv --backend cpu -o fields -y --fields same
    warns "whole.mkv: is marked as progressive"
fi
{ head -1 clip.y4m | sed 's/ Ip//'; tail -n +2 clip.y4m; } >silent.y4m
expect 0 silent.y4m --backend cpu -o fields -y --fields same
[ ! -s "$scratch/err" ] || fail "a warning about a clip that does not say what it is"
refused 2 --compat --fields -- clip.y4m --fields same --compat ffmpeg
refused 2 --ref-distance 512 --fields -- clip.y4m --fields same --ref-distance 1,513
refused 2 --fields -- first.y4m second.y4m --fields same
refused 2 --fields --against-stream -- clip.y4m --fields same --against-stream
expect 0 clip.y4m --backend cpu -o run -y -q
[ ! -s "$scratch/err" ] || fail "a warning about a progressive clip"

# Each field of the video is a frame: here the same fields in a file of their own, the upper ones first or last.
if have python3; then
    for order in t b; do
        sed "1s/ It/ I$order/" fields.y4m >ordered.y4m
        python3 -c '
import sys
head, *frames = open("ordered.y4m", "rb").read().split(b"FRAME\n")
out = open("separate.y4m", "wb")
out.write(head.replace(b"H48", b"H24").replace(b" I" + sys.argv[1].encode(), b" Ip"))
for frame in frames:
    rows = [frame[at:at + 64] for at in range(0, len(frame), 64)]
    fields = rows[0::2], rows[1::2]
    for field in fields if sys.argv[1] == "t" else fields[::-1]:
        out.write(b"FRAME\n" + b"".join(field))' "$order" || fail "python3"
        for case in "same:2:1" "nearest:1:1" "same:2,4:1,2"; do
            expect 0 separate.y4m --backend cpu --vectors wanted.csv -y -q --ref-distance "$(echo "$case" | cut -d: -f2)"
            expect 0 ordered.y4m --backend cpu --vectors got.csv -y -q --fields "${case%%:*}" \
                --ref-distance "${case##*:}"
            cmp wanted.csv got.csv || fail "--fields ${case%%:*} of $order"
        done
    done
    expect 0 ordered.y4m --backend cpu --vectors got.csv -y -q --fields same --vf hflip
    expect 0 separate.y4m --backend cpu --vectors wanted.csv -y -q --ref-distance 2 --vf hflip
    cmp wanted.csv got.csv || fail "--fields after --vf"
    expect 0 ordered.y4m --backend cpu --vectors got.csv -y -q --fields same --vf crop=64:47:0:0:exact=1
    expect 0 ordered.y4m --backend cpu --vectors wanted.csv -y -q --fields same --vf crop=64:46:0:0
    cmp wanted.csv got.csv || fail "--fields of an odd height does not leave out the last line"
fi

# The reader of standard output has gone: no word, and the status of SIGPIPE. The rows are more than a pipe holds.
make_clip long.y4m 640 480 8 9
ends_with_reader() {
    { "$gpume" "$@" 2>"$scratch/err"; echo $? >status; } | head -1 >/dev/null
    [ ! -s "$scratch/err" ] || fail "gpume $*: a message about a reader that has gone"
    [ "$(cat status)" -eq 141 ] || fail "gpume $*: status $(cat status)"
}
awk 'BEGIN { for (i = 0; i < 60000; i++) print i }' >integers
ends_with_reader long.y4m --backend cpu -b 4 -w 1 --vectors -
ends_with_reader luma long.y4m
ends_with_reader filter long.y4m --backend cpu -w 1 --noise 3
ends_with_reader long.y4m --backend cpu -w 1 --predicted -
ends_with_reader sort integers --backend cpu
! have ffmpeg || ends_with_reader long.y4m --backend cpu -w 1 --overlay -

# The size of a long run's CSV, which is said before the run: here of a file that has a hole after its first two frames.
if have truncate; then
    printf 'YUV4MPEG2 W1920 H1080 F25:1 C420jpeg\n' >large.y4m
    for frame in 1 2; do
        printf 'FRAME\n' >>large.y4m
        head -c 3110400 /dev/zero >>large.y4m
    done
    truncate -s 40G large.y4m 2>/dev/null && {
        "$gpume" large.y4m --backend cpu -w 1 -q -o large 2>"$scratch/err"
        warns "large/vectors.csv: will take about"
        "$gpume" large.y4m --backend cpu -w 1 --vectors large.mvf -q 2>"$scratch/err"
        ! grep -q 'will take' "$scratch/err" || fail "a warning about .mvf"
    }
fi

# A software driver that nobody asked for.
if have_vulkan && ! "$gpume" devices --json | grep -Eq '"type": "(discrete|integrated|virtual|other)"'; then
    expect 0 clip.y4m --search quads -w 1 -o soft -q
    warns "no GPU found: --search quads runs on the software driver"
    expect 0 clip.y4m --search quads --backend vulkan -w 1 -o soft -y -q
    [ ! -s "$scratch/err" ] || fail "a warning although Vulkan was asked for"
fi

# One frame, one frame pair and one block are not "1 frames".
mkdir one && cd one || exit 1
make_clip one.y4m 16 16 8 1
make_clip two.y4m 16 16 8 2
singular() {
    run "$@"
    ! cat "$scratch/out" "$scratch/err" | grep -E '(^|[ (])1 (more |other |key )*(frame|frame pair|block|vector|candidate|row|pixel|scene|rung|part|thread|processor|range|encode)s( |$|[,;:.)])' >said ||
        fail "gpume $*: says $(head -1 said)"
}
for command in "two.y4m -b 16 -o run -vy" "two.y4m -b 16 -o run -vy --lambda 1 --predictor median --passes 1" "scenes one.y4m -o s.csv" \
    "complexity one.y4m -o c.csv" "ladder one.y4m" "ladder one.y4m --rungs 1 --max-bitrate 90M" "filter one.y4m -o f.y4m -v" \
    "qpmap one.y4m -o q.roi" "luma one.y4m -o l.y4m" "methods two.y4m -b 16" "grain one.y4m" "flow two.y4m -o f%d.flo" \
    "flow one.y4m -o g%d.flo" "firstpass one.y4m --encoder x264 --crf 20 -o p -v" "two.y4m -o run2 --duration 0.02s" \
    "scenes two.y4m --format av1an --encoder svt-av1 --target-psnr 60 -o s.json"; do
    # shellcheck disable=SC2086 # several words
    singular $command --backend cpu --threads 1
done
for command in "plan one.y4m --chunks 3" "plan two.y4m --chunks 3" "convert run run.npy" "compare run run" "merge run -o merged" \
    "devices"; do
    # shellcheck disable=SC2086 # several words
    singular $command
done
singular bench --size 16x16 -b 16 --seconds 0.01 --backend cpu --threads 1
