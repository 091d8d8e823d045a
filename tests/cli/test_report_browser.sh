#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The report's page in Chromium: its content is compared with the tables of the same run,
# on a phone's width and on a wide one.
. "$(dirname "$0")/common.sh"
. "$here/browser.sh"
make_clip clip.y4m 100 76 8 40
expect 0 -q clip.y4m --backend "$engine" -w 5 --report clip.html --report-pictures 8 -o clip
# The first field's overlays, which the page draws itself.
expect 0 -q clip.y4m --backend "$engine" -w 5 --frames 1 --overlay clip.cost.ppm --overlay-style cost
expect 0 -q clip.y4m --backend "$engine" -w 5 --frames 1 --overlay clip.arrows.ppm --scale 16 --overlay-key off
mkdir 'x<'
evil="x</script><script>document.title='owned'<!--\"&
$(printf '\377').y4m"
make_clip "$evil" 9 5 10 2
expect 0 -q "$evil" --backend "$engine" --report evil.html -o evil
make_clip none.y4m 16 16 8 2
expect 0 -q none.y4m --backend "$engine" --report none.html --report-pictures 0 -o none
# Equal frames, and frames that the search finds again without a difference.
printf 'YUV4MPEG2 W8 H8 F25:1 Cmono\n' >equal.y4m
for frame in 1 2 3; do
    printf 'FRAME\n' && printf '%064d' 7
done >>equal.y4m
expect 0 -q equal.y4m --backend "$engine" --report equal.html -o equal
{
    printf 'YUV4MPEG2 W16 H8 F25:1 Cmono\n'
    for line in 0000000000000000 0000000110000000 0000011000000000; do
        printf 'FRAME\n' && printf "$line%.0s" 1 2 3 4 5 6 7 8
    done
} >found.y4m
expect 0 -q found.y4m --backend "$engine" --report found.html -o found --start 2
make_clip long.y4m 16 8 8 10001
expect 0 -q long.y4m --backend "$engine" --report long.html -o long
expect 0 -q clip.y4m --backend "$engine" -w 5 --report parts.html -o parts -b 32..8+rect --partition --subpel 4 --lambda 8
expect 0 -q clip.y4m --backend "$engine" -w 5 --report trust.html -o trust --confidence --surface 60,30
expect 0 -q clip.y4m --backend "$engine" -w 5 --report several.html -o several --frames 6 --direction both --ref-distance 1,2 --best-reference --confidence
expect 0 -q clip.y4m --backend "$engine" -w 5 --report-dir folder --frames 6
expect 0 -q clip.y4m --backend "$engine" -w 5 -o folder --frames 6
expect 0 -q clip.y4m --backend "$engine" -w 2 --edge inside -o narrow
make_clip deep.y4m 100 76 10 4
expect 0 -q deep.y4m --backend "$engine" -w 4x3 -b 12 --edge inside --metric satd --report deep.html -o deep --surface 40,75
# Cells of a surface are squares of four displacements.
expect 0 -q clip.y4m --backend "$engine" -w 70x6 -b 8 --metric ssd --report wide.html -o wide --surface 99,2
# References two frames away, and references after the target.
expect 0 -q clip.y4m --backend "$engine" -w 5 --ref-distance 2 --start 3 --report far.html -o far
expect 0 -q clip.y4m --backend "$engine" -w 5 --direction future --report ahead.html -o ahead
# References on either side of each target. returns.csv says what the page should say of the reverse vectors.
expect 0 -q clip.y4m --backend "$engine" -w 5 --direction both --report both.html -o both
expect 0 -q clip.y4m --backend "$engine" -w 5 --direction both --confidence --vectors both/returns.csv
expect 0 -q clip.y4m --backend "$engine" -w 5 --direction both --ref-distance 2 --start 1 --frames 9 --surface 60,30 --report-dir apart -o apart
expect 0 -q clip.y4m --backend "$engine" -w 5 --direction both --ref-distance 2 --start 1 --frames 9 --confidence --vectors apart/returns.csv
# Vectors of a stream, for which nothing was searched.
if have ffmpeg && ffmpeg -nostdin -v error -i clip.y4m -pix_fmt yuv420p -c:v mpeg2video -q:v 9 stream.mkv; then
    expect 0 -q stream.mkv --from-stream -b 16 --report stream.html
fi
run compare -q clip narrow --report compared.html
run compare -q clip narrow --report seen.html --video clip.y4m
[ "$status" -eq 5 ] || fail "runs that differ: exit status $status"
"$python" -B "$here/report_browser.py" clip evil none long equal found parts trust several folder narrow deep wide far ahead || fail "see above"
