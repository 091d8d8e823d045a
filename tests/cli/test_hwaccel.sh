#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# --hwaccel: with any hardware or none, the vectors are those of software decoding, and one warning
# names a type that cannot decode the input. With $GPUME_FAKE_CUDA (tests/support/fake_cuda.c)
# frames pass through FFmpeg's CUDA code on any machine.
. "$(dirname "$0")/common.sh"
# The decoder's device stands for a GPU: with such a variable, the command does not look for one in /dev.
export VK_INSTANCE_LAYERS="${VK_INSTANCE_LAYERS-}"
make_clip clip.y4m 90 58 8 8

# Wrong types: the message lists the valid ones.
for value in cud CUDA none:0 auto:1 cuda: :0 '' ' '; do
    refused 2 --hwaccel -- clip.y4m --hwaccel "$value" -o wrong
done
refused 2 --hwaccel nonsense -- clip.y4m --hwaccel nonsense
refused 2 --hwaccel nonsense -- missing.y4m --hwaccel nonsense

# Nothing to decode: no message.
expect 0 -q clip.y4m -o y4m --backend "$engine"
for type in none auto cuda vaapi vulkan; do
    "$gpume" --hwaccel nonsense clip.y4m 2>&1 | grep -q "[ ,]$type[,;]" || continue
    expect 0 -qy clip.y4m -o again --hwaccel $type --backend "$engine"
    [ ! -s "$scratch/err" ] || fail "y4m with --hwaccel $type: words on standard error"
    cmp y4m/vectors.csv again/vectors.csv || fail "y4m with --hwaccel $type"
done

have ffmpeg || { echo "ffmpeg is not here: only y4m was tested"; exit 0; }
encode() { ffmpeg -v error -y "$@" </dev/null 2>/dev/null; }

# same TYPE CLIP OPTION...: the vectors of software decoding.
same() {
    type=$1
    clip=$2
    shift 2
    expect 0 -qy "$clip" -o software --backend "$engine" "$@"
    expect 0 -qy "$clip" -o hardware --backend "$engine" --hwaccel $type "$@"
    cmp software/vectors.csv hardware/vectors.csv || fail "$clip with --hwaccel $type: vectors"
    cmp software/frames.csv hardware/frames.csv || fail "$clip with --hwaccel $type: figures"
}
# warned COUNT: standard error holds exactly COUNT lines, all of them warnings.
warned() {
    [ "$(grep -c '^gpume: warning: ' "$scratch/err")" -eq "$1" ] &&
        [ "$(wc -l <"$scratch/err")" -eq "$1" ] || fail "not $1 warnings alone"
}
decoder() {
    grep -q "\"decoder\": \"$1\"," hardware/summary.json || fail "the decoder is not $1"
}

encode -i clip.y4m -pix_fmt yuv420p -c:v libx264 -bf 0 -g 4 h264.mp4 ||
    { echo "ffmpeg has no libx264: only y4m was tested"; exit 0; }
encode -i clip.y4m -pix_fmt yuv420p10le -c:v libx265 -x265-params bframes=0:log-level=none \
    hevc10.mkv || rm -f hevc10.mkv
clips="h264.mp4 $(ls hevc10.mkv 2>/dev/null)"

# This machine's own devices.
for clip in $clips; do
    same auto $clip
    warned 0
    for type in cuda vaapi vulkan cuda:99; do
        same $type $clip
        if grep -q '"decoder": ".* on ' hardware/summary.json; then warned 0; else warned 1; fi
    done
done
same cuda h264.mp4 --vf hflip,format=gray
expect 0 h264.mp4 -y -v -o hardware --backend "$engine" --hwaccel auto
grep -q '^gpume: h264.mp4: decoder .*, [0-9]* thread' "$scratch/err" || fail "-v names no decoder"
encode -i h264.mp4 -frames:v 2 still%d.png
expect 0 -qy still1.png still2.png -o hardware --backend "$engine" --hwaccel cuda
warned 1

[ -d "${GPUME_FAKE_CUDA:-}" ] || { echo "no fake device: only this machine's were tested"; exit 0; }
"$gpume" --hwaccel nonsense clip.y4m 2>&1 | grep -q ' cuda[,;]' ||
    { echo "this FFmpeg has no CUDA: the fake device is not tested"; exit 0; }
LD_LIBRARY_PATH=$GPUME_FAKE_CUDA${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH

# The device opens, and the decoder refuses the stream: software starts over with its first packet.
for clip in $clips; do
    same cuda $clip
    warned 1
    says "--hwaccel cuda: "
    same auto $clip
    warned 0
    same cuda $clip --frames 2 --start 3 --threads 1
    warned 1
done
decoder hevc

# It decodes: NV12, and P010 with its bits moved down.
fake() {
    encode -i "$1" -f rawvideo -pix_fmt "$2" raw || fail "no raw pictures"
    GPUME_FAKE_NVDEC=raw:90:58
    export GPUME_FAKE_NVDEC
}
fake h264.mp4 nv12
for type in cuda auto cuda:0; do
    same $type h264.mp4
    warned 0
done
decoder "h264 on cuda:0"
same cuda h264.mp4 --vf hflip,format=yuvj444p
warned 0
same cuda h264.mp4 --start 3 --threads 1
decoder "h264 on cuda"
encode -i h264.mp4 -c copy -f mpegts - | "$gpume" -qy - -o piped --backend "$engine" --hwaccel cuda
expect 0 -qy h264.mp4 -o software --backend "$engine"
cmp software/vectors.csv piped/vectors.csv || fail "a pipe"

# Pictures that differ from the stream's: the search must use the device's.
tr '\000-\377' '\377\000-\376' <raw >other
GPUME_FAKE_NVDEC=other:90:58
expect 0 -qy h264.mp4 -o other.gpume --backend "$engine" --hwaccel cuda
cmp -s software/vectors.csv other.gpume/vectors.csv && fail "software decoded, unsaid"

# The stream changes to a size that the device does not support: software continues, with one
# warning (and another about the size).
encode -i h264.mp4 -c copy small.264
encode -i h264.mp4 -vf scale=180:116 -c:v libx264 -bf 0 large.264
cat small.264 large.264 >both.264
fake small.264 nv12
same cuda both.264
warned 2
says "--hwaccel cuda"

# The device fails in mid-stream: refused packets are counted, and no frame is invented.
head -c 30000 raw >short
GPUME_FAKE_NVDEC=short:90:58
expect 0 -qy h264.mp4 -o hardware --backend "$engine" --hwaccel cuda
says "refused"
says "--hwaccel none may decode more"

if [ -e hevc10.mkv ]; then
    fake hevc10.mkv p010le
    same cuda hevc10.mkv
    warned 0
    decoder "hevc on cuda"
    same cuda hevc10.mkv --vf hflip,format=yuv444p10le
    warned 0
fi

# Several decoders share the device, each for a part of the video.
encode -stream_loop 40 -i clip.y4m -frames:v 260 -pix_fmt yuv420p -c:v libx264 -bf 0 -g 70 \
    -x264-params open-gop=0 parts.mp4 || fail "no clip"
fake parts.mp4 nv12
expect 0 -qy parts.mp4 -o alone --backend "$engine" --decoders 1
rm -f raw.index
GPUME_FAKE_LEARN=1 "$gpume" -qy parts.mp4 -o hardware --backend "$engine" --hwaccel cuda \
    --decoders 1 || fail "no index"
cmp alone/vectors.csv hardware/vectors.csv || fail "one decoder"
[ "$(wc -c <raw.index)" -eq $((260 * 8)) ] || fail "the index has not 260 entries"
for decoders in 2 3 7; do
    expect 0 -vy parts.mp4 -o hardware --backend "$engine" --hwaccel cuda --decoders $decoders
    cmp alone/vectors.csv hardware/vectors.csv || fail "$decoders decoders"
    says "segments were decoded side by side by $decoders decoders"
done
decoder "h264 on cuda"
same cuda parts.mp4 --start 150 --decoders 3
warned 0

# With several GPUs that search, decoders take as many of CUDA's devices in turn, and the first where one is missing.
if have_vulkan; then
    GPUME_FAKE_CUDA_OPENED=opened
    export GPUME_FAKE_CUDA_OPENED GPUME_FAKE_CUDA_DEVICES
    for GPUME_FAKE_CUDA_DEVICES in 1 2; do
        rm -f opened
        expect 0 -qy parts.mp4 -o hardware --device 0,0 --hwaccel cuda --decoders 3
        cmp alone/vectors.csv hardware/vectors.csv || fail "of $GPUME_FAKE_CUDA_DEVICES devices"
        grep -qx 1 opened || fail "the second device is not used"
    done
    rm opened
    expect 0 -qy parts.mp4 -o hardware --device 0,0 --hwaccel cuda:0 --decoders 3
    [ "$(sort -u opened)" = 0 ] || fail "not the device that was named"
    unset GPUME_FAKE_CUDA_OPENED GPUME_FAKE_CUDA_DEVICES
fi

# All of them take the device's pictures.
tr '\000-\377' '\377\000-\376' <raw >other
cp raw.index other.index
GPUME_FAKE_NVDEC=other:90:58
for decoders in 1 3; do
    expect 0 -qy parts.mp4 -o other.$decoders --backend "$engine" --hwaccel cuda --decoders $decoders
    [ ! -s "$scratch/err" ] || fail "$decoders decoders with other pictures: words on standard error"
done
cmp other.1/vectors.csv other.3/vectors.csv || fail "several decoders with other pictures"
cmp -s alone/vectors.csv other.3/vectors.csv && fail "several decoders: software decoded, unsaid"

# The device has room for one decoder.
GPUME_FAKE_NVDEC=raw:90:58
GPUME_FAKE_SINGLE=1
export GPUME_FAKE_SINGLE
expect 0 -qy parts.mp4 -o hardware --backend "$engine" --hwaccel cuda --decoders 3
warned 1
says "one decoder takes all frames from 0 on: a decoder that begins with the next key frame delivers none"
cmp alone/vectors.csv hardware/vectors.csv || fail "a device with room for one decoder"
unset GPUME_FAKE_SINGLE

# Unless told how many, a decoder for each 600 frames that will be read.
encode -stream_loop 4 -i parts.mp4 -c copy long.mp4 || fail "no long clip"
fake long.mp4 nv12
rm -f raw.index
GPUME_FAKE_LEARN=1 "$gpume" scenes -qy long.mp4 -o software.csv --hwaccel cuda --decoders 1 ||
    fail "no index of the long clip"
for frames in 600:1 601:2 0:3; do
    limit="--frames ${frames%:*}"
    [ "$limit" != "--frames 0" ] || limit=
    expect 0 scenes -vy long.mp4 -o hardware.csv --hwaccel cuda $limit
    says "${frames#*:} decoder"
done
cmp software.csv hardware.csv || fail "decoders by the number of frames"
