#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# An input may open one file of this machine. Without --allow-network and --allow-files nothing on the network and no
# file that the input names is opened.
. "$(dirname "$0")/common.sh"
need_oracle
[ -n "${GPUME_LISTENER:-}" ] || skip "GPUME_LISTENER does not name the listener"
make_clip clip.y4m 64 48 8 4
expect 0 -q clip.y4m --backend "$engine" --predicted seg.mkv
expect 0 -q seg.mkv --backend "$engine" -o want
mkdir sub
cp seg.mkv sub/seg.mkv

mkfifo hold
"$GPUME_LISTENER" <hold >heard &
listener=$!
exec 9>hold
until [ -s heard ]; do
    kill -0 "$listener" 2>/dev/null || skip "no ports to listen on"
    sleep 0.05
done
port=$(head -1 heard)

# hls NAME SEGMENT
hls() {
    printf '#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\n%s\n#EXT-X-ENDLIST\n' "$2" >"$1"
}
hls files.m3u8 seg.mkv
hls net.m3u8 "http://127.0.0.1:$port/seg.ts"
hls nested.m3u8 files.m3u8
printf "ffconcat version 1.0\nfile seg.mkv\n" >files.ffconcat
printf "ffconcat version 1.0\nfile %s\n" "$scratch/work/sub/seg.mkv" >absolute.ffconcat
printf "ffconcat version 1.0\nfile 'http://127.0.0.1:%s/a.ts'\n" "$port" >net.ffconcat
printf "ffconcat version 1.0\nfile 'subfile,,start,0,end,0,,:seg.mkv'\n" >sub.ffconcat
printf "ffconcat version 1.0\nfile files.ffconcat\n" >nested.ffconcat
printf 'v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=video %s RTP/AVP 96\na=rtpmap:96 H264/90000\n' \
    "$port" >net.sdp
cat >files.mpd <<END
<?xml version="1.0"?>
<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT1S" minBufferTime="PT1S"
 profiles="urn:mpeg:dash:profile:isoff-on-demand:2011"><Period><AdaptationSet mimeType="video/mp4">
<Representation id="1" bandwidth="1000"><BaseURL>seg.mkv</BaseURL><SegmentBase/></Representation>
</AdaptationSet></Period></MPD>
END
sed "s|seg.mkv|http://127.0.0.1:$port/|" files.mpd >net.mpd

# closed WORD INPUT: refused in one line that names the input and an option or another word; no file stays.
closed() {
    word=$1
    shift
    before=$(ls -A)
    refused 3 "$word" -- "$@" --backend "$engine"
    [ "$(ls -A)" = "$before" ] || fail "$*: something was left behind"
}
for input in files.m3u8 nested.m3u8 files.ffconcat absolute.ffconcat sub.ffconcat nested.ffconcat; do
    closed --allow-files "$input"
    names "$input"
    closed --allow-files "$input" --allow-network
    cp "$input" innocent.mp4 # by content, whatever the name says
    "$gpume" innocent.mp4 --backend "$engine" -o never 2>"$scratch/err" >"$scratch/out" &&
        fail "$input was opened under another name"
    [ ! -e never ] || fail "$input: something was left behind"
done
for input in net.m3u8 net.ffconcat net.sdp "http://127.0.0.1:$port/a.mp4" "tcp://127.0.0.1:$port" \
    "udp://127.0.0.1:$port" "rtsp://127.0.0.1:$port/a" "rtmp://127.0.0.1:$port/a/b"; do
    closed --allow-network "$input"
    names "$input"
    closed --allow-network "$input" --allow-files
done
closed --allow-files concatf:names.txt
# The second of two still pictures is an input like others.
printf 'P5\n32 32\n255\n%01024d' 0 >still.pgm
closed --allow-files still.pgm files.m3u8
"$gpume" --backend "$engine" - <net.m3u8 >"$scratch/out" 2>"$scratch/err"
[ $? -eq 3 ] || fail "a playlist from standard input was opened"
# FFmpeg 7 knows playlists by their names alone, so no option would help.
[ "$(wc -l <"$scratch/err")" -eq 1 ] && grep -q '^gpume: standard input: ' "$scratch/err" ||
    fail "a playlist from standard input: not one line that names it"
for input in files.mpd net.mpd; do # not every FFmpeg knows them; none may open anything
    "$gpume" "$input" --backend "$engine" >"$scratch/out" 2>"$scratch/err" && fail "$input was opened"
done

# A file that the input names is not even opened: opening a FIFO without a writer would block.
mkfifo trap.mkv
hls trap.m3u8 trap.mkv
printf "ffconcat version 1.0\nfile trap.mkv\n" >trap.ffconcat
mkfifo trap.sub # beside VobSub's index
printf '# VobSub index file, v7\nsize: 720x480\nlangidx: 0\nid: en, index: 0\ntimestamp: 00:00:01:000, filepos: 000000000\n' >trap.idx
for input in trap.m3u8 trap.ffconcat trap.idx; do
    closed --allow-files "$input"
done

# With the options the named files are read.
for input in files.ffconcat absolute.ffconcat nested.ffconcat; do
    expect 0 -q "$input" --allow-files --backend "$engine" -o got -y
    cmp want/vectors.csv got/vectors.csv || fail "$input is not what it names"
done
printf "ffconcat version 1.0\nfile absent.mkv\n" >broken.ffconcat
refused 3 broken.ffconcat -- broken.ffconcat --allow-files
echo "file seg.mkv" >bare.txt
refused 3 bare.txt 'ffconcat version 1.0' -- bare.txt --allow-files
printf '\357\273\277# two files\r\n\r\nfile seg.mkv\n' >bare.txt
refused 3 bare.txt 'ffconcat version 1.0' -- bare.txt --allow-files
# A pipe has no folder for other files; for names that no option allows, the message names no option.
"$gpume" --backend "$engine" - --allow-files <files.ffconcat >"$scratch/out" 2>"$scratch/err"
[ $? -eq 3 ] || fail "a playlist from standard input: exit status"
[ "$(wc -l <"$scratch/err")" -eq 1 ] || fail "a playlist from standard input: not one line"
grep -q '^gpume: standard input: ' "$scratch/err" || fail "a playlist from standard input: the input is not named"
for option in "" --allow-files --allow-network; do
    closed cache:seg.mkv cache:seg.mkv $option
    ! grep -q -- --allow "$scratch/err" || fail "cache: $option: an option that does not help is named"
done
# The user may name a local file in any spelling.
expect 0 -q concat:seg.mkv --backend "$engine" -o got -y
cmp want/vectors.csv got/vectors.csv || fail "concat:"

exec 9>&-
wait "$listener"
[ "$(tail -1 heard)" = 0 ] || fail "$(tail -1 heard) connections were made"

# The listener does receive an allowed connection.
rm heard
"$GPUME_LISTENER" <hold >heard &
listener=$!
exec 9>hold
pid=$listener
wait_for test -s heard
port=$(head -1 heard)
run "http://127.0.0.1:$port/a.mp4" --allow-network --backend "$engine"
[ "$status" -eq 3 ] || fail "a host that hangs up: exit status $status"
exec 9>&-
wait "$listener"
[ "$(tail -1 heard)" -ge 1 ] || fail "--allow-network made no connection"
echo ok
