#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# gpume firstpass --verify at a constant quality: what it prints is what FFmpeg's filters say of the very file that the printed command
# line wrote; programs that are missing, fail, or write other frames; signals; and no file is left behind.
. "$(dirname "$0")/common.sh"
have ffmpeg || skip "no ffmpeg"
have x264 || have x265 || skip "neither x264 nor x265"
ffmpeg -nostdin -v error -f lavfi -i testsrc2=s=178x100:r=25,noise=alls=12:allf=t -frames:v 12 -pix_fmt yuv420p clip.mkv &&
    ffmpeg -nostdin -v error -i clip.mkv clip.y4m &&
    ffmpeg -nostdin -v error -i clip.mkv -vf format=yuv420p10le,noise=alls=40:allf=t -c:v ffv1 deep.mkv &&
    ffmpeg -nostdin -v error -i clip.mkv -vf scale=out_range=pc,format=yuvj420p -c:v ffv1 full.mkv || fail "no clips"
path=$PATH
mkdir bin "$scratch/kept"

# wraps PROGRAM [LINES]: a program of this name first in PATH: the real one, whose output, $out, is kept after the lines.
wraps() {
    cat >"bin/$1" <<END
#!/bin/sh
out= before=
for argument; do [ "\$before" != -o ] || out=\$argument; before=\$argument; done
PATH='$path' $1 "\$@" || exit
${2:-}
cp "\$out" '$scratch/kept/encoded'
END
    chmod +x "bin/$1"
}

# replaces PROGRAM LINES: another program of this name.
replaces() {
    printf '#!/bin/sh\n%s\n' "$2" >"bin/$1"
    chmod +x "bin/$1"
}

# clean: only what was there before, and the files of the second pass.
clean() {
    [ -z "$(find . -mindepth 1 -type d ! -name bin)" ] || fail "a folder is left behind: $(find . -mindepth 1 -type d)"
    [ -z "$(ls -A | grep -vxE 'clip.mkv|clip.y4m|deep.mkv|full.mkv|bin|long.y4m|(a|v:w)[-.].*')" ] || fail "left behind: $(ls -A)"
}

# measures WORDS OF LAVFI: what the filter says of luma of the kept file.
measures() {
    ffmpeg -nostdin -hide_banner -i decoded.y4m -i source.y4m -lavfi "$1" -f null - 2>&1 | sed -n "s/.*$2\([0-9.inf]*\).*/\1/p" | tail -1
}

# verified ARGUMENTS: --verify prints what the filters measure in the kept file.
checks=0
verified() {
    rm -f "$scratch/kept/encoded" a-* a.json
    PATH=$(pwd)/bin:$path
    export PATH
    expect 0 firstpass "$@" --backend cpu -o a --verify
    PATH=$path
    clean
    row=$(awk '/^# luma of / { wanted = /^# luma of [0-9]+x[0-9]+, (crf|qp) [0-9.]+, 12 frames; / } /^#   x26[45] / && wanted' "$scratch/out")
    set -- $(echo "$row" | awk '$4 == "kbit/s" && $6 == "%" && $8 == "dB" && $11 == "dB" { print $3, $5, $7, $9, $10 }')
    [ $# -eq 5 ] || fail "not one row: $row"
    # What the encoder got: its own input, or what feeds it.
    line=$(grep -E '(\| |^)x26[45] ' "$scratch/out" | tail -1)
    case $line in
    *' | '*) sh -c "${line% | *} >source.y4m" || fail "${line% | *}" ;;
    *) cp clip.y4m source.y4m ;;
    esac
    format=$(ffprobe -v error -show_entries stream=pix_fmt -of csv=p=0 source.y4m)
    ffmpeg -nostdin -v error -i "$scratch/kept/encoded" -vf 'setpts=N/25/TB,fps=25' -pix_fmt "$format" -strict -1 -y decoded.y4m ||
        fail "no decoded video"
    expected=$(awk -v kbits="$1" -v off="$2" '/expected to take/ { sub(/.*expected to take /, "")
        print (kbits / (1 + off / 100) - $1) ^ 2 < ($1 * 0.002 + 0.6) ^ 2 }' "$scratch/out")
    [ "$expected" = 1 ] || fail "expected rate: $1 kbit/s, $2 %"
    stat -c %s "$scratch/kept/encoded" | awk -v kbits="$1" '{ exit ($1 * 8 * 25 / 12 / 1000 - kbits) ^ 2 > 0.06 ^ 2 }' || fail "rate: $1"
    measures psnr 'PSNR y:' | awk -v found="$3" '{ exit ($1 - found) ^ 2 > 0.0006 ^ 2 }' || fail "PSNR: $3, not $(measures psnr 'PSNR y:')"
    measures ssim 'SSIM Y:' | awk -v found="$4" '{ exit ($1 - found) ^ 2 > 0.00006 ^ 2 }' || fail "SSIM: $4, not $(measures ssim 'SSIM Y:')"
    # FFmpeg 7.1's filter reads other samples where rows of more than 8 bits are padded, as these are.
    if [ "$format" != "${format%p}" ] && ffmpeg -hide_banner -filters 2>/dev/null | grep -q ' xpsnr '; then
        ffmpeg -nostdin -hide_banner -i source.y4m -i decoded.y4m -lavfi xpsnr -f null - 2>&1 | sed -n 's/.*XPSNR *y: *\([0-9.]*\).*/\1/p' |
            awk -v found="$5" '{ exit ($1 - found) ^ 2 > 0.0006 ^ 2 }' || fail "XPSNR: $5"
    fi
    rm -f source.y4m decoded.y4m
    checks=$((checks + 1))
}

for encoder in x264 x265; do
    have $encoder || continue
    wraps $encoder
    verified clip.mkv --encoder $encoder --crf 24
    verified clip.y4m --encoder $encoder --qp 30
    verified clip.mkv --encoder $encoder --crf 30 --size 96x80 --vf '[in]hflip[out] '
    verified full.mkv --encoder $encoder --crf 24
    if [ $encoder = x264 ] || x265 --help 2>/dev/null | grep -qF -- '--output-depth 8|10'; then
        verified clip.mkv --encoder $encoder --crf 24 --output-depth 10
        verified deep.mkv --encoder $encoder --crf 24
        verified deep.mkv --encoder $encoder --crf 24 --output-depth 8
    fi
    rm bin/$encoder
done

# Two qualities and a name like a protocol's; a bitrate beside them.
encoder=x264
have x264 || encoder=x265
rm -f a-* a.json
expect 0 firstpass clip.mkv --backend cpu --encoder $encoder --crf 24 --crf 34 -o v:w --verify
[ "$(grep -c "^#   $encoder " "$scratch/out")" -eq 2 ] || fail "not two rows"
clean
rm -f v:*
if ffmpeg -hide_banner -encoders 2>/dev/null | grep -q " lib$encoder "; then
    expect 0 firstpass clip.mkv --backend cpu --encoder $encoder --crf 24 --bitrate 200k -o a --verify
    [ "$(grep -cE "^#   ($encoder|own two passes|with gpume) " "$scratch/out")" -eq 3 ] || fail "not three rows"
    clean
    rm -f a-* a.json
fi

# What is said of the video is said once, however often it is read; a full standard output is not blamed on a missing -q.
ffmpeg -nostdin -v error -i clip.mkv -c:v mjpeg -pix_fmt yuvj420p -f mjpeg a-1.mjpeg &&
    ffmpeg -nostdin -v error -i clip.mkv -s 96x80 -c:v mjpeg -pix_fmt yuvj420p -f mjpeg a-2.mjpeg &&
    cat a-1.mjpeg a-2.mjpeg >a-3.mjpeg && ffmpeg -nostdin -v error -framerate 25 -f mjpeg -i a-3.mjpeg -c copy a-3.mkv || fail "no clip of two sizes"
bitrate=
! ffmpeg -hide_banner -encoders 2>/dev/null | grep -q " lib$encoder " || bitrate='--bitrate 300k'
# shellcheck disable=SC2086 # two words
expect 0 firstpass a-3.mkv --backend cpu --encoder $encoder --target-psnr 35 $bitrate --probes 1 --verify -o a
[ "$(grep -c 'a-3.mkv: frame 12' "$scratch/err")" -eq 1 ] || fail "not one warning of a size that changes"
if [ -w /dev/full ]; then
    "$gpume" firstpass clip.mkv --backend cpu --encoder $encoder --crf 24 -o a --verify -q -y >/dev/full 2>"$scratch/err" && fail "/dev/full taken for success"
    ! grep -qe -q "$scratch/err" || fail "-q is given already"
fi
rm -f a-* a.json
# Pictures that the program does not read are refused before the analysis, not after it.
if have x265; then
    ffmpeg -nostdin -v error -i clip.mkv -s 24x24 -y long.y4m || fail "no small clip"
    refused 2 --verify x265 24x24 -- firstpass long.y4m --backend cpu --encoder x265 --crf 24 --verify -o a
    refused 2 --probes x265 24x24 -- firstpass long.y4m --backend cpu --encoder x265 --target-psnr 40 --probes 1 -o a
    rm long.y4m
    clean
fi

# One line for what goes wrong, and the files stay.
task="firstpass clip.mkv --backend cpu --encoder $encoder --crf 24 -o a --verify -q"
others=:$path # folders of programs
# fails STATUS WORD...
fails() {
    wanted=$1
    shift
    PATH=$(pwd)/bin$others
    export PATH
    run $task
    PATH=$path
    [ "$status" -eq "$wanted" ] || fail "exit status $status, not $wanted"
    [ "$(wc -l <"$scratch/err")" -eq 1 ] || fail "not one line"
    [ ! -s "$scratch/out" ] || fail "a row of a trial that failed"
    for word in --verify "$@"; do
        grep -qF -- "$word" "$scratch/err" || fail "the line does not name '$word'"
    done
    [ "$wanted" -eq 2 ] || [ -e a.json ] || fail "the files are lost"
    clean
    rm -f a-* a.json
}
replaces $encoder 'printf "one\ntwo\nthree\n  the reason\n\n" >&2; exit 3'
fails 1 $encoder 'status 3' 'two;three;  the reason'
grep -q 'one' "$scratch/err" && fail "more than the last lines"
if env --ignore-signal=CHLD true 2>/dev/null; then # GNU's; shells do not ignore it
    PATH=$(pwd)/bin:$path env --ignore-signal=CHLD "$gpume" $task >"$scratch/out" 2>"$scratch/err" </dev/null
    grep -qF 'status 3' "$scratch/err" || fail "the exit status is lost where SIGCHLD is ignored"
    rm -f a-* a.json
fi
replaces $encoder 'kill -9 $$'
fails 1 $encoder 'signal 9'
replaces $encoder 'cat >/dev/null'
fails 1 $encoder nothing
wraps $encoder 'echo no video >"$out"'
fails 1 a-178x100-crf24
wraps $encoder 'cat "$out" "$out" >twice; cat twice >"$out"; rm twice'
fails 1 $encoder more clip.mkv 12
replaces $encoder "PATH='$path' exec $encoder \"\$@\" --frames 7"
fails 1 $encoder fewer clip.mkv 7
replaces $encoder "PATH='$path' exec $encoder \"\$@\""
replaces ffmpeg 'echo no frames >&2; exit 4'
fails 1 ffmpeg 'status 4' 'no frames'
rm bin/*
others=
fails 2 $encoder
replaces $encoder 'exit 0'
fails 1 ffmpeg installed

rm bin/*

# A disk that is full, or a limit on the size of files, is named as the reason; the encoders do not say it, and x265 does not even fail.
# room PAGES ARGUMENTS --verify|--probes N: the files of the second pass leave PAGES pages of 4 KiB free on the disk.
cat >"$scratch/room" <<'END'
mount -t tmpfs -o size=$(($1 * 4))k none disk || exit 99
shift
"$@"
status=$?
[ -z "$(ls -A disk | grep -v '^a[-.]')" ] && [ -z "$(find disk -mindepth 1 -type d)" ] && [ -e disk/a.json ] || exit 98
exit $status
END
room() {
    left=$1
    shift
    expect 0 firstpass clip.mkv --backend cpu --encoder $encoder -q -o disk/a "$1" "$2"
    pages=$(stat -c %s disk/* | awk -v left="$left" '{ left += int(($1 + 4095) / 4096) } END { print left }')
    rm disk/*
    unshare --mount --map-root-user sh "$scratch/room" "$pages" "$gpume" firstpass clip.mkv --backend cpu --encoder $encoder -q -o disk/a "$@" \
        >"$scratch/out" 2>"$scratch/err" </dev/null
    status=$?
    if [ $status -eq 99 ] || grep -q '^unshare: ' "$scratch/err"; then return 1; fi
    [ $status -eq 1 ] || fail "a full disk: exit status $status: $*"
    grep -q '^gpume: --[a-z]*: disk/[^:]*: .*No space left on device' "$scratch/err" || fail "a full disk: no word of it: $*"
    [ "$(grep -vc '^gpume: warning: ' "$scratch/err")" -eq 1 ] || fail "a full disk: not one line: $*"
}
mkdir disk
for encoder in x264 x265; do
    have $encoder || continue
    if ! room 2 --crf 2 --verify || ! room 2 --target-psnr 58 --probes 2; then
        echo "not tried: a full disk, since no tmpfs may be mounted here"
        break
    fi
    ! ffmpeg -hide_banner -encoders 2>/dev/null | grep -q " lib$encoder " || room 0 --bitrate 200k --verify
done
rmdir disk
encoder=x264
have x264 || encoder=x265
(ulimit -f 40 && "$gpume" firstpass clip.mkv --backend cpu --encoder $encoder --crf 2 -o a --verify -q) 2>"$scratch/err"
[ $? -eq 1 ] || fail "a limit on the size of files: no exit status 1"
says "ulimit -f"
[ "$(wc -l <"$scratch/err")" -eq 1 ] || fail "a limit on the size of files: not one line"
clean
rm -f a-* a.json
# A limit that a complete file leaves room under, though less than what is tried: no failure. Blocks are of 512 bytes, as in POSIX.
wraps $encoder
(PATH=$(pwd)/bin:$path && "$gpume" firstpass clip.mkv --backend cpu --encoder $encoder --crf 2 -o a --verify -q -y >/dev/null) || fail "no encode at CRF 2"
blocks=$(($(stat -c %s "$scratch/kept/encoded") / 512 + 1))
(ulimit -f $blocks && "$gpume" firstpass clip.mkv --backend cpu --encoder $encoder --crf 2 -o a --verify -q -y) >"$scratch/out" 2>"$scratch/err" ||
    fail "a limit of $blocks blocks on the size of files: $(cat "$scratch/err")"
clean
rm -f a-* a.json bin/*

# A signal and --timeout end the programs, also those that do not want to; the second signal does so at once.
# interrupted SIGNALS LINES: the encoder is these lines.
interrupted() {
    replaces $encoder "echo \$\$ >'$scratch/pid'; $2"
    rm -f "$scratch/pid"
    PATH=$(pwd)/bin:$path "$gpume" $task >"$scratch/out" 2>"$scratch/err" </dev/null &
    feeder=$!
    while [ ! -s "$scratch/pid" ] && kill -0 $feeder 2>/dev/null; do sleep 0.1; done
    [ -s "$scratch/pid" ] || fail "the encoder is not started"
    sent=0
    while kill -0 $feeder 2>/dev/null; do
        if [ $sent -lt "$1" ]; then
            kill -TERM $feeder 2>/dev/null
            sent=$((sent + 1))
        fi
        sleep 0.5
    done
    wait $feeder
    status=$?
    feeder=
    [ "$status" -eq 1 ] || fail "exit status $status after $1 signals"
    # An encoder that goes on hangs the test; one that nobody waits for any more may stay as a zombie.
    while ps -o stat= -p "$(cat "$scratch/pid")" | grep -qv '^Z'; do sleep 0.1; done
    [ "$(wc -l <"$scratch/err")" -eq 1 ] || fail "not one line after a signal"
    [ -e a.json ] || fail "the files are lost"
    ! grep -q 'output is not complete' "$scratch/err" || fail "files that are complete are called incomplete"
    clean
    rm -f a-* a.json
}
interrupted 1 'exec sleep 1000'
interrupted 1 'trap "" TERM; while :; do sleep 1; done'
interrupted 9 'trap "" TERM; while :; do sleep 1; done'
task="$task --timeout 5"
interrupted 0 'exec sleep 1000'
grep -qF -- '--timeout 5' "$scratch/err" || fail "the option that ended the run is not named"
# At a bitrate the encoder is a library: a signal and --timeout end the run within a call that does not return, with one line.
cat >"$scratch/stuck.c" <<'END'
#include <fcntl.h>
#include <unistd.h>
int avcodec_send_frame(void *context, const void *frame);
int avcodec_send_frame(void *context, const void *frame)
{
    (void)context;
    (void)frame;
    (void)open("stuck", O_CREAT | O_WRONLY, 0600);
    for (;;) {
        pause();
    }
}
END
if ! checked && ffmpeg -hide_banner -encoders 2>/dev/null | grep -q " lib$encoder " && ldd "$gpume" 2>/dev/null | grep -q libavcodec &&
    ${CC:-cc} -shared -fPIC -o "$scratch/stuck.so" "$scratch/stuck.c" 2>/dev/null; then
    for limit in '' '--timeout 5'; do
        rm -f stuck
        # shellcheck disable=SC2086 # two words
        LD_PRELOAD=$scratch/stuck.so "$gpume" firstpass clip.mkv --backend cpu --encoder $encoder --bitrate 200k --verify -q -o a $limit \
            >"$scratch/out" 2>"$scratch/err" </dev/null &
        feeder=$!
        while [ ! -e stuck ] && kill -0 $feeder 2>/dev/null; do sleep 0.1; done
        [ -e stuck ] || fail "the encoder is not reached"
        rm -f stuck
        [ -n "$limit" ] || kill -TERM $feeder
        wait $feeder
        status=$?
        feeder=
        [ $status -eq 1 ] || fail "a stuck encoder: exit status $status"
        [ "$(grep -vc '^gpume: warning: ' "$scratch/err")" -eq 1 ] || fail "a stuck encoder: not one line"
        [ -z "$limit" ] || names "$limit"
        [ -e a.json ] || fail "a stuck encoder: the files are lost"
        clean
        rm -f a-* a.json
    done
fi

# --probes: after at most two encodes, the CRF gives what was asked for; new files stand under the old names, and nothing else is left.
if have x265; then
    ffmpeg -nostdin -v error -y -f lavfi -i mandelbrot=s=176x144:r=25:start_scale=0.6:end_scale=0.2:end_pts=50 -vf noise=alls=6:allf=t \
        -frames:v 40 -pix_fmt yuv420p clip.y4m || fail "no clip to probe"
    for goal in psnr=38 xpsnr=36 ssim=0.95; do
        rm -f a-* a.json
        expect 0 firstpass clip.y4m --backend cpu --encoder x265 --rung 176x144:$goal --bitrate 100k --probes 2 --verify -o a
        clean
        awk -v goal=$goal '/^#   x265 / { measured = goal ~ /^psnr/ ? $7 : goal ~ /^x/ ? $10 : $9 } END { split(goal, of, "=")
            exit !((measured - of[2]) ^ 2 < (goal ~ /psnr/ ? 0.15 : 0.003) ^ 2) }' "$scratch/out" || fail "$goal: $(grep '^#   x265 ' "$scratch/out")"
        python3 -c "
import json
run = next(r for r in json.load(open('a.json'))['runs'] if 'crf' in r)
key, value = '$goal'.split('=')
assert run['target_' + key] == float(value) and abs(run['expected_' + key] - float(value)) < (0.02 if 'psnr' in key else 0.001), run
command = run['commands']['x265']
assert float(command[command.index('--crf') + 1]) == run['crf'], run" || fail "a.json after probes"
    done
    # The statistics are those of the CRF that is named.
    crf=$(python3 -c "import json; print(next(r['crf'] for r in json.load(open('a.json'))['runs'] if 'crf' in r))")
    mv a-176x144-ssim0.95.log "$scratch/kept/probed"
    rm -f a-* a.json
    expect 0 firstpass clip.y4m --backend cpu --encoder x265 --crf "$crf" --bitrate 100k -o a
    cmp a-176x144-crf"$crf".log "$scratch/kept/probed" || fail "the statistics are not those of CRF $crf"
    rm -f a-* a.json
    expect 0 firstpass clip.y4m --backend cpu --encoder x265 --target-psnr 38 --target-psnr 41 --target-ssim 0.95 --probes 3 --overwrite -o a
    [ "$(grep -c -e 'to have a PSNR of' -e 'to have an SSIM of' "$scratch/out")" = 3 ] || fail "three targets in one run"
    rm -f a-* a.json
    status=0
    env PATH="$(pwd)/none" "$gpume" firstpass clip.y4m --backend cpu --encoder x265 --target-psnr 40 --probes 1 -o a 2>"$scratch/err" || status=$?
    { [ $status -eq 2 ] && grep -q 'probes.*x265' "$scratch/err"; } || fail "no word of the missing program"
    # a probe that fails: the files are kept, and named, with exit status 1
    replaces x265 'echo broken >&2; exit 3'
    PATH=$(pwd)/bin:$path
    run firstpass clip.y4m --backend cpu --encoder x265 --target-psnr 40 --crf 24 --target-ssim 0.9 --probes 2 -o a
    PATH=$path
    rm bin/x265
    [ "$status" -eq 1 ] || fail "a probe that fails: exit status $status"
    grep -q '^gpume: --probes: x265 failed with status 3; .*broken' "$scratch/err" || fail "no word of the failed probe"
    grep -q '^gpume: warning: a-176x144-psnr40, a-176x144-ssim0.9: ' "$scratch/err" || fail "no word of the files that are not corrected"
    { [ -s a.json ] && [ -s a-176x144-psnr40.log ] && [ -s a-176x144-ssim0.9.log.cutree ]; } || fail "a probe that fails: files are lost"
    rm -f a-* a.json
    clean
fi
expect 2 firstpass clip.y4m --backend cpu --encoder x264 --crf 24 --probes 1 -o a
grep -q -e '--probes' "$scratch/err" || fail "no word of --probes"
expect 2 firstpass - --backend cpu --encoder x264 --target-psnr 40 --probes 1 -o a <clip.y4m
grep -q -e '--probes' "$scratch/err" || fail "no word of --probes"
echo "$checks encodes measured"
