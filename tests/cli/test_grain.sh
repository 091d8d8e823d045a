#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# gpume grain: grain that libaom and dav1d make from a known table is found again, with and without the filtered video;
# encoders take the table; segments; and what is refused.
. "$(dirname "$0")/common.sh"

have ffmpeg || skip "no ffmpeg"

# numbers NAME FILE: the values of a row of a table with one segment.
numbers() {
    sed -n "s/^[[:blank:]]$1 *//p" "$2" | head -1
}

# white_at PLANE INTENSITY FILE: the standard deviation of white noise there, before the autoregressive filter.
white_at() {
    echo "$(numbers p "$3") $(numbers "s$1" "$3")" | awk -v light="$2" '{
        n = $13
        y = light <= $14 ? $15 : $(13 + 2 * n)
        for (i = 0; i + 1 < n; i++) {
            x0 = $(14 + 2 * i); x1 = $(16 + 2 * i)
            if (light >= x0 && light < x1) y = $(15 + 2 * i) + (light - x0) * ($(17 + 2 * i) - $(15 + 2 * i)) / (x1 - x0)
        }
        printf "%f\n", y * 31.97 / 2 ^ ($4 + $3)
    }'
}

# gain_of FILE: of the autoregressive filter of luma, by its response to one sample.
gain_of() {
    echo "$(numbers p "$1") $(numbers cY "$1")" | awk '{
        n = 40; v[0, 20] = 1
        for (y = 0; y < n; y++) for (x = 0; x < n; x++) {
            s = v[y, x]
            for (i = 0; i < 24 && i < NF - 12; i++) s += $(13 + i) / 2 ^ $2 * v[y + int(i / 7) - 3, x + i % 7 - 3]
            v[y, x] = s; sum += s * s
        }
        printf "%f\n", sqrt(sum)
    }'
}

# agrees KNOWN FOUND: coefficients within 0.1; luma's strength, and chroma's without the filter, within 10 %.
agrees() {
    for row in cY cCb cCr; do
        echo "$(numbers p "$1") $(numbers p "$2") $(numbers $row "$1") $(numbers $row "$2")" | awk '{
            n = (NF - 24) / 2
            for (i = 1; i <= n; i++) {
                d = $(24 + i) / 2 ^ $2 - $(24 + n + i) / 2 ^ $14
                if (d > 0.1 || d < -0.1) exit 1
            }
            exit n < 24
        }' || fail "$2: $row: $(numbers $row "$2"), not $(numbers $row "$1") of $1"
    done
    for light in 70 100 130 160 190; do
        echo "$(white_at Y $light "$1") $(gain_of "$1") $(white_at Y $light "$2") $(gain_of "$2")" |
            awk '{ r = $3 * $4 / ($1 * $2); exit !(r > 0.9 && r < 1.1) }' || fail "$2: luma's strength at $light"
        for plane in Cb Cr; do
            echo "$(white_at $plane $light "$1") $(white_at $plane $light "$2")" |
                awk '{ exit !($2 / $1 > 0.9 && $2 / $1 < 1.1) }' || fail "$2: strength of $plane at $light"
        done
    done
}

ffmpeg -nostdin -v error -y -f lavfi -i "gradients=s=448x320:c0=0x303030:c1=0xd8d8d8:x0=0:y0=0:x1=447:y1=319:speed=0.00001:n=2:d=1:r=25" \
    -frames:v 10 -pix_fmt yuv420p base.y4m 2>"$scratch/err" || skip "this ffmpeg has no filter gradients"

# White noise of FFmpeg, whose standard deviation is that of the differences.
ffmpeg -nostdin -v error -y -i base.y4m -vf noise=c0s=12:c0f=t:all_seed=3 noisy.y4m
expect 0 grain noisy.y4m base.y4m -o white.tbl
[ "$(head -1 white.tbl)" = filmgrn1 ] || fail "no table: $(head -1 white.tbl)"
[ "$(grep -c '^E 0 9223372036854775807 1 ' white.tbl)" -eq 1 ] || fail "not one segment without an end"
[ "$(numbers sCb white.tbl)" = "0 " ] || fail "grain in chroma that has none"
for name in noisy base; do
    ffmpeg -nostdin -v error -y -i $name.y4m -vf extractplanes=y -frames:v 4 -f rawvideo - | od -An -v -tu1 -w1 >$name.txt
done
paste noisy.txt base.txt | awk '{ d = $1 - $2; s += d * d } END { printf "%f\n", sqrt(s / NR - 1 / 12) }' >wanted
echo "$(cat wanted) $(white_at Y 128 white.tbl) $(gain_of white.tbl)" | awk '{ r = $2 * $3 / $1; exit !(r > 0.97 && r < 1.03) }' ||
    fail "white noise of $(cat wanted): $(white_at Y 128 white.tbl) times $(gain_of white.tbl)"

# The same bytes from any number of threads and every engine.
for threads in 1 3; do
    expect 0 grain noisy.y4m base.y4m --threads $threads -q
    cmp -s "$scratch/out" white.tbl || fail "threads change the table"
done
expect 0 grain noisy.y4m -o alone.tbl --backend cpu
expect 0 grain noisy.y4m -o alone3.tbl --backend cpu --threads 3
cmp -s alone.tbl alone3.tbl || fail "threads change the table of one video"
if [ "$engine" = cpu ] && have_vulkan; then
    expect 0 grain noisy.y4m -o vulkan.tbl --backend vulkan
    cmp -s alone.tbl vulkan.tbl || fail "engines differ"
fi
echo "$(cat wanted) $(white_at Y 128 alone.tbl) $(gain_of alone.tbl)" | awk '{ r = $2 * $3 / $1; exit !(r > 0.9 && r < 1.1) }' ||
    fail "one video: white noise of $(cat wanted): $(white_at Y 128 alone.tbl) times $(gain_of alone.tbl)"

# All formats; small pictures have no whole block.
for format in gray yuv422p yuv444p yuv420p10le yuv420p12le gray16le; do
    ffmpeg -nostdin -v error -y -i base.y4m -frames:v 4 -vf format=yuv444p,noise=alls=12:allf=t:all_seed=3,format=$format -c:v ffv1 n.mkv
    ffmpeg -nostdin -v error -y -i base.y4m -frames:v 4 -vf format=yuv444p,format=$format -c:v ffv1 c.mkv
    expect 0 grain n.mkv c.mkv -o format.tbl -y
    echo "$(white_at Y 128 format.tbl) $(gain_of format.tbl)" | awk '{ v = $1 * $2; exit !(v > 3 && v < 12) }' ||
        fail "$format: $(white_at Y 128 format.tbl)"
done
ffmpeg -nostdin -v error -y -i noisy.y4m -vf crop=31:40 -frames:v 3 tiny.y4m
expect 0 grain tiny.y4m -o tiny.tbl
says "no grain"
ffmpeg -nostdin -v error -y -i noisy.y4m -vf crop=96:96 -frames:v 2 few.y4m
ffmpeg -nostdin -v error -y -i base.y4m -vf crop=96:96 -frames:v 2 few.clean.y4m
expect 0 grain few.y4m few.clean.y4m -o few.tbl
says "only 18 flat blocks"
[ "$(numbers sY tiny.tbl)" = "0 " ] || fail "grain of a picture without a block"
! grep -q "comes first" "$scratch/err" || fail "an order of one input"
expect 0 grain base.y4m noisy.y4m -o none.tbl
says "no grain was found, so the table adds none; INPUT comes first"

ffmpeg -nostdin -v error -y -i base.y4m -vf lutyuv=y=255-val foreign.y4m
expect 0 grain base.y4m foreign.y4m -o foreign.tbl
says "is it the same video"

# A part of the video, whose filtered frames begin there, too.
expect 0 filter noisy.y4m --start 3 --frames 5 -o part.y4m --noise 6 --strength 2 --backend "$engine"
expect 0 grain noisy.y4m part.y4m --start 3 --frames 5 -o part.tbl
refused 3 part.y4m --frames -- grain noisy.y4m part.y4m --start 3 -o x.tbl

# Grain that changes begins a segment at its time.
ffmpeg -nostdin -v error -y -i base.y4m -vf "crop=256:192,loop=59:10,trim=end_frame=50,setpts=N/25/TB" flat.y4m
ffmpeg -nostdin -v error -y -i flat.y4m -vf "noise=c0s=8:c0f=t:all_seed=3:enable=lt(n\,24),noise=c0s=30:c0f=t:all_seed=4:enable=gte(n\,24)" \
    two.y4m
expect 0 grain two.y4m flat.y4m -o two.tbl
grep '^E ' two.tbl | cut -d ' ' -f 2,3 >times
printf '0 9600000\n9600000 9223372036854775807\n' | cmp -s - times || fail "segments: $(cat times)"
expect 0 grain two.y4m flat.y4m --single -o one.tbl
[ "$(grep -c '^E ' one.tbl)" -eq 1 ] || fail "--single: more than one segment"

# What is refused.
refused 2 --strength -- grain noisy.y4m --strength 3 -o x.tbl
refused 2 - -- grain - - -o x.tbl
refused 2 --noise -- grain noisy.y4m base.y4m --noise 3 -o x.tbl
refused 2 --radius -- grain noisy.y4m base.y4m --radius 3 -o x.tbl
refused 2 noisy.y4m -- grain noisy.y4m base.y4m -o noisy.y4m -y
refused 2 base.y4m -- grain noisy.y4m base.y4m -o base.y4m -y
refused 2 white.tbl -- grain noisy.y4m base.y4m -o white.tbl
refused 3 absent.y4m -- grain noisy.y4m absent.y4m -o x.tbl
refused 3 flat.y4m -- grain noisy.y4m flat.y4m -o x.tbl
ffmpeg -nostdin -v error -y -i base.y4m -pix_fmt yuv444p other.y4m
refused 3 other.y4m -- grain noisy.y4m other.y4m -o x.tbl
ffmpeg -nostdin -v error -y -i base.y4m -frames:v 5 short.y4m
refused 3 short.y4m -- grain noisy.y4m short.y4m -o x.tbl
refused 3 base.y4m short.y4m -- grain short.y4m base.y4m -o x.tbl
ffmpeg -nostdin -v error -y -i base.y4m -vf format=gbrp -c:v ffv1 rgb.mkv
refused 3 rgb.mkv -- grain rgb.mkv rgb.mkv -o x.tbl
[ ! -e x.tbl ] || fail "a refused run left a file"

# Grain of AV1: coded by aomenc, which takes a table, and decoded without and with it.
have aomenc && have dav1d || skip "no aomenc and dav1d, for grain of a known table"
# apply TABLE NAME [OPTIONS]: NAME.clean.y4m and NAME.grain.y4m.
apply() {
    table=$1 name=$2
    shift 2
    aomenc --cpu-used=6 --film-grain-table="$table" --end-usage=q --cq-level=10 --ivf -o $name.ivf "$@" 2>"$scratch/err" ||
        fail "aomenc does not take $table"
    dav1d -q -i $name.ivf -o $name.clean.y4m --filmgrain 0 && dav1d -q -i $name.ivf -o $name.grain.y4m --filmgrain 1 ||
        fail "dav1d: $name"
}

# known NAME AR_SHIFT GRAIN_SHIFT SCALING_SHIFT Y CB CR: a table; coefficients on standard input.
known() {
    printf 'filmgrn1\nE 0 9223372036854775807 1 7391 1\n\tp 3 %s %s %s 0 1 128 192 256 128 192 256\n' "$2" "$3" "$4"
    printf '\tsY %s\n\tsCb %s\n\tsCr %s\n' "$5" "$6" "$7"
    while read -r row; do printf '\t%s\n' "$row"; done
}
known ramp 7 0 8 "3  0 20 128 90 255 40" "2  0 20 255 50" "1  0 40" >known.tbl <<EOF
cY 0 0 0 0 0 0 0 0 0 -2 6 -3 0 0 0 2 -9 22 -8 3 0 1 -10 50
cCb 0 0 0 0 0 0 0 0 0 -1 3 -1 0 0 0 1 -4 11 -4 1 0 0 -5 25 30
cCr 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 10 0 0 0 0 0 12 -20
EOF
cp known.tbl ramp.tbl
known coarse 7 1 8 "2  0 40 255 60" "1  0 40" "1  0 30" >known.tbl <<EOF
cY 0 0 1 2 1 0 0 0 2 -5 8 -4 1 0 1 -8 -10 60 -12 2 0 2 -25 88
cCb 0 0 0 0 0 0 0 0 0 0 10 0 0 0 0 0 0 40 0 0 0 0 0 50 0
cCr 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
EOF
cp known.tbl coarse.tbl
for name in ramp coarse; do
    apply $name.tbl $name base.y4m
    expect 0 grain $name.grain.y4m $name.clean.y4m -o found.tbl -y
    agrees $name.tbl found.tbl
    # Grain of this video alone, which the filter finds itself.
    expect 0 grain $name.grain.y4m -o found.tbl -y --backend "$engine"
    agrees $name.tbl found.tbl
    # An encoder takes what was found.
    apply found.tbl again base.y4m
done
apply ramp.tbl deep base.y4m -b 10
expect 0 grain deep.grain.y4m deep.clean.y4m -o found.tbl -y
agrees ramp.tbl found.tbl
apply two.tbl two flat.y4m
apply none.tbl none base.y4m
cmp -s none.clean.y4m none.grain.y4m || fail "a table without grain makes some"
[ -z "$(ls -A | grep tmp)" ] || fail "temporary files are left"
