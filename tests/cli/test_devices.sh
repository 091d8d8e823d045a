#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# gpume devices as a table and as JSON; a run's closing summary as JSON; colours.
. "$(dirname "$0")/common.sh"
make_clip clip.y4m 64 48 8 5

# The table: the CPU engine is always listed, and one row is marked as the default.
expect 0 devices
cp "$scratch/out" table
grep -q '^index  name .* memory  use$' table || fail "no heading"
grep -Eq '^    -  .*  cpu  .* threads?  .* GiB  yes' table || fail "no row for the CPU engine"
[ "$(grep -c 'taken by --backend auto$' table)" -eq 1 ] || fail "not one row that auto takes"

expect 0 devices --json
for key in '"format": 1,' '"cpu": {' '"processors": ' '"devices": [' '"searches": ['; do
    grep -qF "$key" "$scratch/out" || fail "--json has no $key"
done
rows=$(sed -n '/^index /,/^$/p' table | grep -c '^ *[0-9][0-9]* ')
[ "$(grep -c '"index": ' "$scratch/out")" -eq "$rows" ] || fail "--json: other devices than the table"
searches=$(sed -n '/^search /,$p' table | tail -n +2 | wc -l)
[ "$(grep -c '"backend": ' "$scratch/out")" -eq "$searches" ] || fail "--json: other searches"
if have python3; then
    python3 -m json.tool "$scratch/out" >/dev/null || fail "devices --json is no JSON"
fi
if [ -w /dev/full ]; then
    "$gpume" devices --json >/dev/full 2>"$scratch/err" && fail "/dev/full taken for success"
    says "standard output"
    for command in devices --help --version "--completion bash"; do
        "$gpume" $command >/dev/full 2>"$scratch/err" && fail "$command: /dev/full taken for success"
        says "standard output"
        says "write elsewhere"
    done
    "$gpume" clip.y4m --backend cpu -o full >/dev/full 2>"$scratch/err" && fail "/dev/full taken for success"
    names -q
fi
expect 2 devices --csv
# Removing all devices must be refused.
refused 2 --quiet -- devices --quiet
refused 2 -q --quiet -- devices -q

# Without a Vulkan loader the CPU remains, and what needs the loader says so.
mkdir no-loader
: >no-loader/libvulkan.so.1
without_loader() {
    LD_LIBRARY_PATH=$PWD/no-loader${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} expect "$@"
}
without_loader 0 devices
grep -q '^No Vulkan device' "$scratch/out" || fail "a device without a loader"
without_loader 0 clip.y4m --backend cpu --vectors without.csv
without_loader 4 clip.y4m --backend vulkan --vectors without-vulkan.csv
says "libvulkan.so.1, cannot be loaded"
says "use --backend cpu"
[ ! -e without-vulkan.csv ] || fail "vectors without a device"

# The closing summary equals summary.json, apart from times.
expect 0 clip.y4m --backend "$engine"
grep -Eq '^mean SAD  *[0-9.]+  *[0-9.]+  per pixel, of 255$' "$scratch/out" || fail "no SAD in the closing summary"
grep -Eq '^mean PSNR  *[0-9.]+  *[0-9.]+  dB$' "$scratch/out" || fail "no PSNR in the closing summary"
grep -q '^written      clip.gpume/summary.json$' "$scratch/out" || fail "what was written"
expect 0 clip.y4m --backend "$engine" -y --json
# Written again under "-", so nothing differs, times included.
cmp "$scratch/out" clip.gpume/summary.json || fail "--json differs from summary.json"
expect 0 clip.y4m --backend "$engine" -yq --json --vectors v.csv
grep -q '"fields": 4,' "$scratch/out" || fail "--json with -q"
refused 2 --json -- clip.y4m --backend "$engine" --json --vectors -
expect 2 clip.y4m --csv
expect 2 sort --json

# Colours: on terminals that support them, unless NO_COLOR is set; never elsewhere.
escape=$(printf '\033')
TERM=xterm
export TERM
unset NO_COLOR
run missing.y4m
! grep -q "$escape" "$scratch/err" || fail "colours in a file"
script -qec true /dev/null >/dev/null 2>&1 </dev/null ||
    { echo "no script: the terminal is not tested"; exit 0; }
terminal() {
    script -qec "$*" /dev/null >"$scratch/tty" 2>/dev/null </dev/null
}
terminal "'$gpume' missing.y4m"
grep -q "${escape}\[1;31mgpume:${escape}\[0m missing.y4m" "$scratch/tty" || fail "an error is not red"
terminal "'$gpume' devices"
grep -q "${escape}\[1mindex" "$scratch/tty" || fail "a heading is not bold"
terminal "'$gpume' devices >t.out; '$gpume' missing.y4m 2>t.err"
! grep -q "$escape" t.out t.err || fail "colours in a file, from a terminal"
for plain in NO_COLOR=1 TERM=dumb TERM=; do
    terminal "env $plain '$gpume' missing.y4m; env $plain '$gpume' devices"
    ! grep -q "$escape" "$scratch/tty" || fail "colours with $plain"
done
terminal "NO_COLOR= '$gpume' devices"
grep -q "$escape" "$scratch/tty" || fail "no colours with an empty NO_COLOR"
exit 0
