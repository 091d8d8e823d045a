#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Makes the pictures of README.md from a video: man/motion.jpg and man/gallery/*.jpg. The picture of
# the report needs chromium and is left alone without it.
# Usage: man/gallery.sh GPUME VIDEO [FRAME]
#   FRAME: the frame to show, counted from 0 (default: 30). README.md shows samples/bunny.mp4.
set -eu
usage="usage: man/gallery.sh GPUME VIDEO [FRAME]"
gpume=$(realpath "${1:?$usage}")
video=$(realpath "${2:?$usage}")
frame=${3:-30}
man=$(realpath "$(dirname "$0")")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

# estimate OPTION...: one frame pair, with the window that all pictures share.
estimate() {
    "$gpume" "$video" -w 24 --start "$frame" --frames 1 -q "$@"
}
for style in arrows flow cost blocks; do
    case $style in
    arrows) look='-b 16 --arrow-length true --dim 25' ;;
    flow) look='-b 8 --flow-max auto' ;;
    cost) look='-b 8' ;;
    blocks) look='-b 64..8+rect --partition --lambda 8' ;;
    esac
    # shellcheck disable=SC2086 # several options
    estimate $look --overlay "$style%d.png" --overlay-style $style
done
estimate -b 8 --difference difference%d.png --residual residual%d.png --gamma 1.5
ffmpeg -nostdin -v error -i "$video" -vf "select=eq(n\,$frame)" -frames:v 1 "frame$frame.png"

# Four pictures in a square, 1280 pixels wide.
ffmpeg -nostdin -v error -i "frame$frame.png" -i "arrows$frame.png" -i "difference$frame.png" \
    -i "residual$frame.png" -filter_complex "
        [0]scale=638:-2[a]; [1]scale=638:-2[b]; [2]scale=638:-2[c]; [3]scale=638:-2[d];
        [a]pad=iw+4:ih+4:0:0:white[a]; [b]pad=iw:ih+4:0:0:white[b]; [c]pad=iw+4:ih:0:0:white[c];
        [a][b]hstack[top]; [c][d]hstack[bottom]; [top][bottom]vstack" \
    -q:v 4 -y "$man/motion.jpg"
for style in flow cost blocks; do
    name=$style
    [ $style != blocks ] || name=partition
    ffmpeg -nostdin -v error -i "$style$frame.png" -vf scale=640:-2 -q:v 4 -y "$man/gallery/$name.jpg"
done

if command -v chromium >/dev/null 2>&1; then
    "$gpume" "$video" -b 8 -w 24 -q --report report.html
    chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=1100,1780 \
        --virtual-time-budget=5000 --screenshot=report.png "file://$scratch/report.html" >/dev/null 2>&1
    ffmpeg -nostdin -v error -i report.png -vf scale=800:-2 -q:v 4 -y "$man/gallery/report.jpg"
else
    echo "chromium is not installed: gallery/report.jpg is left as it was" >&2
fi
