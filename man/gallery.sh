#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Makes the pictures of README.md anew: a clip out of FFmpeg's own sources, which turns while an object
# crosses it, and what gpume shows of it. The report's picture needs chromium.
# Usage: man/gallery.sh GPUME, from the top folder.
set -eu
gpume=$(cd "$(dirname "${1:?usage: man/gallery.sh GPUME}")" && pwd)/$(basename "$1")
gallery=$(cd man/gallery && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

set_of_mandelbrot="mandelbrot=size=1600x1600:start_scale=0.02:maxiter=900:inner=convergence"
set_of_mandelbrot="$set_of_mandelbrot:outer=normalized_iteration_count:start_x=-0.7436:start_y=-0.1318"
ffmpeg -nostdin -v error -f lavfi -i "$set_of_mandelbrot" -frames:v 1 -vf gblur=1.2 texture.png
ffmpeg -nostdin -v error -loop 1 -framerate 25 -i texture.png -f lavfi -i testsrc2=size=170x130:rate=25 \
    -filter_complex "[0]rotate='0.035*n':ow=960:oh=540[turning];
        [turning][1]overlay=x='80+14*n':y='330-9*n'" \
    -frames:v 24 -c:v libx264 -crf 12 -pix_fmt yuv420p turn.mp4

# picture NAME OPTION...: the overlay of frame 10.
picture() {
    name=$1
    shift
    "$gpume" turn.mp4 -w 24 --start 10 --frames 1 -q --overlay "$name%d.png" "$@"
    ffmpeg -nostdin -v error -y -i "${name}10.png" -vf scale=720:-1 -q:v 5 "$gallery/$name.jpg"
}
picture arrows -b 16
picture flow -b 8 --overlay-style flow
picture cost -b 8 --overlay-style cost
picture blocks -b 16 --overlay-style blocks

if command -v chromium >/dev/null 2>&1; then
    "$gpume" turn.mp4 -b 16 -w 24 -q --report turn.html
    chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=1100,1500 \
        --virtual-time-budget=5000 --screenshot=report.png "file://$scratch/turn.html" >/dev/null 2>&1
    ffmpeg -nostdin -v error -y -i report.png -vf scale=720:-1 -q:v 5 "$gallery/report.jpg"
fi
