#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Installs a build into a new prefix, checks the installed files, builds the samples against it with
# make + pkg-config and with CMake, runs them and checks what they print.
# Usage: test_samples.sh BUILD_DIR SOURCE_DIR
set -eu
LC_ALL=C
export LC_ALL
unset DESTDIR || :

[ $# -eq 2 ] || { echo "usage: $0 BUILD_DIR SOURCE_DIR" >&2; exit 1; }
build=$(cd "$1" && pwd)
source=$(cd "$2" && pwd)
cache=$build/CMakeCache.txt
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
prefix=$scratch/prefix

fail() {
    echo "FAILED: $*" >&2
    if [ -s "$scratch/log" ]; then sed 's/^/  | /' "$scratch/log" | tail -25 >&2; fi
    exit 1
}

skip() {
    echo "SKIPPED: $*"
    exit 77
}

# quietly WHAT COMMAND...: its output is shown only if it fails.
quietly() {
    what=$1
    shift
    "$@" >"$scratch/log" 2>&1 || fail "$what"
    : >"$scratch/log"
}

# cached NAME: a variable of the build.
cached() {
    sed -n "s/^$1:[A-Z]*=//p" "$cache"
}

# only_file NAME: the one file of that name under the prefix.
only_file() {
    find "$prefix" -name "$1" >"$scratch/found"
    [ "$(wc -l <"$scratch/found")" -eq 1 ] || fail "not exactly one $1 is installed"
    cat "$scratch/found"
}

[ -f "$cache" ] || fail "$build is no build folder"
for tool in cmake make pkg-config; do
    command -v "$tool" >/dev/null 2>&1 || skip "$tool is not here"
done

# 1. The installed tree.
quietly "cmake --install" cmake --install "$build" --prefix "$prefix"
header=$(only_file gpume.h)
pc=$(only_file gpume.pc)
config=$(only_file gpumeConfig.cmake)
only_file gpumeConfigVersion.cmake >/dev/null
only_file gpume.cmake >/dev/null
[ "$header" = "$prefix/include/gpume/gpume.h" ] || fail "the header lies at $header"
(cd "$source/src/include" && find . -name '*.h' | sort) >"$scratch/expected"
(cd "$prefix/include" && find . -type f | sort) >"$scratch/log"
cmp -s "$scratch/expected" "$scratch/log" || fail "other headers are installed than src/include has:"
: >"$scratch/log"
library=$(find "$prefix" -name 'libgpume.so' -o -name 'libgpume.a' -o -name 'libgpume.dylib')
[ -n "$library" ] || fail "no library is installed"
[ "$(find "$prefix" -name 'libgpume_io*' | wc -l)" -eq 0 ] || fail "a private library is installed"
if grep -l -F -e "$source" -e "$build" "$pc" "$(dirname "$config")"/*; then
    fail "installed files name the source or build folder"
fi

library_dir=$(dirname "$library")
LD_LIBRARY_PATH=$library_dir${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
version=$(sed -n 's/^ *project(gpume VERSION \([0-9.]*\).*/\1/p' "$source/CMakeLists.txt")
if [ "$(cached GPUME_TOOL)" != OFF ]; then
    [ -x "$prefix/bin/gpume" ] || fail "bin/gpume is not installed"
    for page in "$source"/man/*.1; do
        page=$(basename "$page")
        [ "$(only_file "$page")" = "$prefix/share/man/man1/$page" ] || fail "$page is misplaced"
    done
    said=$("$prefix/bin/gpume" --version) || fail "the installed gpume --version does not run"
    [ "$said" = "gpume $version" ] || fail "gpume --version says '$said', not 'gpume $version'"
fi

# 2. pkg-config, as a user's own prefix needs it.
PKG_CONFIG_PATH=$(dirname "$pc")${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
export PKG_CONFIG_PATH
[ "$(pkg-config --modversion gpume)" = "$version" ] || fail "gpume.pc: not version $version"
named=$(pkg-config --variable=prefix gpume)
[ "$(cd "$named" 2>/dev/null && pwd -P)" = "$(cd "$prefix" && pwd -P)" ] ||
    fail "gpume.pc: prefix is $named after an installation to $prefix"

# 3. Build both ways.
compiler=$(cached CMAKE_C_COMPILER)
flags="-O2 -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wvla -Werror"
sanitizers=$(cached GPUME_SANITIZE)
if [ -n "$sanitizers" ]; then
    flags="$flags -fsanitize=$sanitizers"
fi
static=
case $library in
*.a) static=--static ;;
esac
programs="clean_frames two_buffers sort_numbers gpume-denoise"
left_out=
if pkg-config --exists libavformat libavcodec libavutil; then
    programs="$programs motion_energy hardest_blocks partition roi"
    if pkg-config --exists libavfilter; then
        programs="$programs codecview"
    else
        left_out="$left_out codecview (no libavfilter)"
    fi
else
    left_out="$left_out motion_energy hardest_blocks partition roi (no libav)"
fi
if command -v glslc >/dev/null 2>&1; then
    programs="$programs saxpy mandelbrot"
else
    left_out="$left_out saxpy mandelbrot (no glslc)"
fi
cp -R "$source/samples" "$scratch/make"
rm -rf "$scratch/make/build"
(cd "$scratch/make" && make clean >/dev/null)
# shellcheck disable=SC2086 # several names
quietly "make in samples" make -C "$scratch/make" CC="$compiler" CFLAGS="$flags" \
    STATIC="$static" $programs
quietly "cmake in samples" cmake -S "$source/samples" -B "$scratch/cmake" \
    -G "$(cached CMAKE_GENERATOR)" -DCMAKE_C_COMPILER="$compiler" -DCMAKE_C_FLAGS="$flags" \
    -DCMAKE_PREFIX_PATH="$prefix"
found=$(sed -n 's/^gpume_DIR:[A-Z]*=//p' "$scratch/cmake/CMakeCache.txt")
[ "$found" = "$(dirname "$config")" ] || fail "find_package(gpume) found $found"
quietly "building samples with CMake" cmake --build "$scratch/cmake"
for program in $programs; do
    [ -x "$scratch/cmake/$program" ] || fail "CMake left $program out"
done

# 4. Run.
# exits STATUS COMMAND...: that exit status, and one line on standard error where it is not 0; libav's
# own begin with a bracket.
exits() {
    wanted=$1
    shift
    status=0
    "$@" >"$scratch/said" 2>"$scratch/log" || status=$?
    [ "$status" -eq "$wanted" ] || fail "$*: exit status $status, not $wanted"
    [ "$wanted" -eq 0 ] || [ "$(grep -cv '^\[' "$scratch/log")" -eq 1 ] || fail "$*: not one line, but:"
    : >"$scratch/log"
}

# said_is FILE WHAT: what the last command under exits printed.
said_is() {
    cmp -s "$scratch/said" "$1" && return
    diff "$1" "$scratch/said" >"$scratch/log" || :
    fail "$2: from what was expected to what was printed:"
}

# clip FILE DX DY: 6 frames of noise at 25 a second; what stands in the target at (x,y) stands in the
# reference at (x+DX,y+DY).
clip() {
    awk -v dx="$2" -v dy="$3" 'BEGIN {
        width = 96; height = 64; frames = 6; seed = 1
        for (i = 0; i < 160 * 160; i++) {
            seed = seed * 16807 % 2147483647
            noise[i] = 1 + int(seed / 2147483647 * 254)
        }
        printf "YUV4MPEG2 W%d H%d F25:1 Ip A1:1 Cmono\n", width, height
        for (t = 0; t < frames; t++) {
            printf "FRAME\n"
            for (y = 0; y < height; y++)
                for (x = 0; x < width; x++)
                    printf "%c", noise[(y + 40 + t * dy) * 160 + x + 30 + t * dx]
        }
    }' >"$1"
}

# energy_is PROGRAM CLIP LOW HIGH ZERO_LOW ZERO_HIGH: five rows, each within the limits.
energy_is() {
    "$1" "$2" 16 7 >"$scratch/log" || fail "$1 $2: exit status $?"
    awk -F, -v low="$3" -v high="$4" -v zero_low="$5" -v zero_high="$6" '
        NR == 1 && $0 != "time,energy,zero_share" { bad = 1 }
        NR > 1 && (NF != 3 || $1 != sprintf("%.6f", (NR - 1) * 0.04)) { bad = 1 }
        NR > 1 && ($2 < low || $2 > high || $3 < zero_low || $3 > zero_high) { bad = 1 }
        END { exit bad || NR != 6 }' "$scratch/log" ||
        fail "$1 $2: not 5 rows of energy $3 to $4, zero share $5 to $6, but:"
    : >"$scratch/log"
}

# spots FILE: 6 grey frames of 92x64. In frames 2 and 3 the block at (32,16) is lighter; in frame 3
# also that at (88,40), which the edge cuts to 4x8.
spots() {
    awk 'BEGIN {
        printf "YUV4MPEG2 W92 H64 F25:1 Ip A1:1 Cmono\n"
        for (t = 0; t < 6; t++) {
            printf "FRAME\n"
            for (y = 0; y < 64; y++)
                for (x = 0; x < 92; x++)
                    printf "%c", (t == 2 || t == 3) && int(x / 8) == 4 && int(y / 8) == 2 ? 120 : \
                        t == 3 && int(x / 8) == 11 && int(y / 8) == 5 ? 110 : 100
        }
    }' >"$1"
}

# Numbers to sort, many of them equal, each followed by its line number.
numbers() {
    awk 'BEGIN {
        seed = 1
        for (i = 1; i <= 20000; i++) {
            seed = seed * 16807 % 2147483647
            number = i % 5 == 0 ? seed % 100 : i % 7 == 0 ? 4294967295 - seed % 3 : seed * 2
            printf "%.0f %d\n", number, i
        }
    }'
}

# sorts WAY: rising, falling, with lines and without; then what it must refuse.
sorts() {
    sort=$scratch/$1/sort_numbers
    cut -d' ' -f1 "$scratch/numbers" >"$scratch/keys"
    for order in "" r; do
        sort -s -k1,1n"$order" "$scratch/numbers" >"$scratch/expected"
        exits 0 "$sort" -n ${order:+-r} "$scratch/keys"
        said_is "$scratch/expected" "$1: sort_numbers -n $order"
        cut -d' ' -f1 "$scratch/expected" >"$scratch/expected.keys"
        exits 0 "$sort" ${order:+-r} - <"$scratch/keys"
        said_is "$scratch/expected.keys" "$1: sort_numbers $order"
    done
    printf '7 4294967295\n\n\t0' >"$scratch/few"
    printf '0 3\n7 1\n4294967295 1\n' >"$scratch/expected"
    exits 0 "$sort" -n "$scratch/few"
    said_is "$scratch/expected" "$1: sort_numbers -n of few"
    exits 0 "$sort" </dev/null
    said_is /dev/null "$1: sort_numbers of nothing"
    for junk in x 1.5 -1 4294967296 99999999999999999999 12x; do
        printf '1\n2 %s\n' "$junk" >"$scratch/junk"
        exits 1 "$sort" "$scratch/junk"
        said_is /dev/null "$1: sort_numbers of $junk"
    done
    exits 1 "$sort" "$scratch/no-such-file"
    exits 1 "$sort" "$scratch"
    exits 2 "$sort" "$scratch/few" "$scratch/few"
}

# hardest WAY: known blocks; and, against the command, more blocks than are kept at a time.
hardest() {
    hardest=$scratch/$1/hardest_blocks
    cat >"$scratch/expected" <<'END'
frame,x,y,w,h,dx,dy,cost,cost_per_pixel
2,32,16,8,8,0,0,1280,20.000
3,88,40,4,8,0,0,320,10.000
4,32,16,8,8,-7,-7,20,0.312
1,0,0,8,8,0,0,0,0.000
1,8,0,8,8,0,0,0,0.000
END
    exits 0 "$hardest" "$scratch/spots.y4m" 5
    said_is "$scratch/expected" "$1: hardest_blocks of two spots"
    if [ -x "$prefix/bin/gpume" ]; then
        quietly "gpume --vectors" "$prefix/bin/gpume" "$scratch/pan.y4m" --block 4 --window 3 \
            --output "$scratch/pan.gpume" --overwrite
        { echo "frame,x,y,w,h,dx,dy,cost"
            sed 1d "$scratch/pan.gpume/vectors.csv" | sort -t, -s -k9,9nr |
                cut -d, -f1,3-9 | head -n 700; } >"$scratch/expected"
        exits 0 "$hardest" "$scratch/pan.y4m" 700 4 3
        cut -d, -f1-8 "$scratch/said" >"$scratch/said.columns"
        mv "$scratch/said.columns" "$scratch/said"
        said_is "$scratch/expected" "$1: hardest_blocks against gpume"
    fi
    exits 1 "$hardest" "$scratch/text.y4m"
    exits 1 "$hardest" "$scratch/no-such-file"
    exits 1 "$hardest" "$scratch/spots.y4m" 5 7 # blocks are multiples of 4
    exits 2 "$hardest" "$scratch/spots.y4m" 0
    exits 2 "$hardest" "$scratch/spots.y4m" 1000001
    exits 2 "$hardest"
}

# noised CLEAN NOISY: 6 frames of 96x64, 4:2:0, of a texture that moves by (3,-2) a frame; the second with noise of
# standard deviation 10 in its luma.
noised() {
    awk -v clean="$1" -v noisy="$2" 'BEGIN {
        seed = 7
        printf "YUV4MPEG2 W96 H64 F25:1 Ip A1:1 C420jpeg\n" >clean
        printf "YUV4MPEG2 W96 H64 F25:1 Ip A1:1 C420jpeg\n" >noisy
        for (t = 0; t < 6; t++) {
            printf "FRAME\n" >clean
            printf "FRAME\n" >noisy
            for (y = 0; y < 64; y++)
                for (x = 0; x < 96; x++) {
                    u = x + 3 * t; v = y - 2 * t
                    value = int(128 + 50 * sin(u / 7) * cos(v / 9) + 25 * sin((u + v) / 2.5))
                    noise = -6
                    for (k = 0; k < 12; k++) {
                        seed = seed * 16807 % 2147483647
                        noise += seed / 2147483647
                    }
                    printf "%c", value >clean
                    printf "%c", int(value + 10 * noise + 0.5) >noisy
                }
            for (i = 0; i < 2 * 48 * 32; i++) {
                printf "%c", 60 + (i + t) % 130 >clean
                printf "%c", 60 + (i + t) % 130 >noisy
            }
        }
    }'
}

# error_of CLEAN OTHER: the mean squared difference of luma; "chroma" if that of chroma is not 0.
error_of() {
    cmp -l "$1" "$2" | awk '{
        at = ($1 - 1 - 41) % 9222 - 6 # the head and FRAME
        if (at >= 96 * 64) chroma = 1
        a = b = 0
        for (i = 1; i <= 3; i++) { a = a * 8 + substr(sprintf("%03d", $2), i, 1); b = b * 8 + substr(sprintf("%03d", $3), i, 1) }
        sum += (a - b) ^ 2
    } END { print chroma ? "chroma" : sum / (6 * 96 * 64) }'
}

# denoises WAY: 4 dB less noise at least; a clean picture that stands still is not changed, whatever its format.
denoises() {
    denoise=$scratch/$1/gpume-denoise
    exits 0 "$denoise" -y "$scratch/noisy.y4m" "$scratch/denoised.y4m"
    [ "$(wc -c <"$scratch/denoised.y4m")" -eq "$(wc -c <"$scratch/noisy.y4m")" ] || fail "$1: gpume-denoise: another size"
    echo "$(error_of "$scratch/clean.y4m" "$scratch/noisy.y4m") $(error_of "$scratch/clean.y4m" "$scratch/denoised.y4m")" |
        awk '{ exit !($1 > 90 && $2 + 0 == $2 && $2 < $1 / 2.5) }' || fail "$1: gpume-denoise gains less than 4 dB"
    "$denoise" -s 10 -r 2 -b 8 <"$scratch/noisy.y4m" >"$scratch/told.y4m" 2>"$scratch/said" || fail "$1: gpume-denoise of standard input"
    [ "$(cat "$scratch/said")" = "gpume-denoise: 6 frames, noise of 10.00 steps of 8 bits" ] ||
        fail "$1: gpume-denoise ends with: $(cat "$scratch/said")"
    ! cmp -s "$scratch/told.y4m" "$scratch/denoised.y4m" || fail "$1: gpume-denoise ignores its options"
    for head in "W96 H64 F25:1 C420jpeg" "W96 H48 F25:1 C444" "W64 H48 F25:1 C420p10" "W72 H64 F30:1 Cmono16"; do
        { echo "YUV4MPEG2 $head"
            for frame in 1 2 3 4; do
                echo FRAME
                tail -c +60 "$scratch/clean.y4m" | head -c "$(case $head in
                *jpeg | *p10 | *mono16) echo 9216 ;;
                *) echo 13824 ;;
                esac)" | case $head in
                *p10) tr '\000-\377' '\001\002' ;; # small samples: ten bits at most
                *) cat ;;
                esac
            done; } >"$scratch/static.y4m"
        exits 0 "$denoise" -y "$scratch/static.y4m" "$scratch/same.y4m"
        cmp -s "$scratch/static.y4m" "$scratch/same.y4m" || fail "$1: gpume-denoise changes a clean picture: $head"
    done
    # What exists stays without -y, and the input in any case.
    for options in "$scratch/clean.y4m" "-y $scratch/noisy.y4m"; do
        cp "$scratch/noisy.y4m" "$scratch/before"
        cp "${options#-y }" "$scratch/other"
        # shellcheck disable=SC2086 # several words
        exits 1 "$denoise" ${options%%/*} "$scratch/noisy.y4m" "${options#-y }"
        cmp -s "$scratch/before" "$scratch/noisy.y4m" && cmp -s "$scratch/other" "${options#-y }" ||
            fail "$1: gpume-denoise replaces $options"
    done
    exits 1 "$denoise" "$scratch/text.y4m"
    exits 1 "$denoise" "$scratch/no-such-file"
    exits 1 "$denoise" "$scratch/noisy.y4m" "$scratch/no-such-folder/x.y4m"
    exits 1 "$denoise" -b 7 "$scratch/noisy.y4m"
    # A run that fails leaves an existing output as it is, and nothing else.
    echo old >"$scratch/kept.y4m"
    exits 1 "$denoise" -y -b 7 "$scratch/noisy.y4m" "$scratch/kept.y4m"
    head -c 5000 "$scratch/noisy.y4m" >"$scratch/cut.y4m"
    exits 1 "$denoise" -y "$scratch/cut.y4m" "$scratch/kept.y4m"
    [ "$(cat "$scratch/kept.y4m")" = old ] && [ ! -e "$scratch/kept.y4m.partial" ] || fail "$1: gpume-denoise replaces an output although it fails"
    head -c 12000 "$scratch/noisy.y4m" >"$scratch/cut.y4m"
    exits 1 "$denoise" "$scratch/cut.y4m"
    exits 2 "$denoise" -r 9 "$scratch/noisy.y4m"
    exits 2 "$denoise" -x 1
}

# in_colour FROM TO: converts a clip to 4:2:0, which codecview accepts without conversion.
in_colour() {
    LC_ALL=C awk 'BEGIN { for (i = 0; i < 48 * 32 * 2; i++) printf "%c", 128 }' >"$scratch/chroma"
    { echo "YUV4MPEG2 W96 H64 F25:1 Ip A1:1 C420mpeg2"
        for frame in 0 1 2 3 4 5; do
            echo FRAME
            tail -c +$(($(head -n 1 "$1" | wc -c) + 6 + frame * (6 + 96 * 64) + 1)) "$1" |
                head -c $((96 * 64))
            cat "$scratch/chroma"
        done; } >"$2"
}

# drawn FILE DX DY MOST: where the filter has drawn on FILE: from the centre of every block to its
# match, on all frames but the first, on MOST pixels at most.
drawn() {
    [ "$(wc -c <"$1")" -eq "$(wc -c <"$scratch/view.y4m")" ] || fail "codecview: another size than $1"
    cmp -l "$1" "$scratch/view.y4m" >"$scratch/log" || :
    awk -v dx="$2" -v dy="$3" -v most="$4" '{
        at = $1 - 1 - 42 # the head
        frame = int(at / 9222); at = at % 9222 - 6
        if (frame < 1 || at < 0 || at >= 96 * 64) { print "drawn elsewhere: byte " $1; exit 1 }
        changed[frame, at % 96, int(at / 96)] = 1
        count++
    } END {
        for (f = 1; f < 6; f++)
            for (y = 4; y < 64; y += 8)
                for (x = 4; x < 96; x += 8) {
                    if (!((f, x, y) in changed)) { print "no tail at " f, x, y; bad = 1 }
                    # Arrows that leave the picture are clipped; those at its border need not match.
                    if (x > 16 && x < 80 && y > 16 && y < 48 && !((f, x + dx, y + dy) in changed)) {
                        print "no head at " f, x, y; bad = 1
                    }
                }
        if (count > most) { print count " pixels changed"; bad = 1 }
        exit bad
    }' "$scratch/log" >"$scratch/said" || fail "codecview on $1: $(head -n 3 "$scratch/said" | tr '\n' ' ')"
    : >"$scratch/log"
}

# views WAY: dots where nothing moves, one per block; arrows elsewhere.
views() {
    view=$scratch/$1/codecview
    in_colour "$scratch/still.y4m" "$scratch/still420.y4m"
    in_colour "$scratch/pan.y4m" "$scratch/pan420.y4m"
    exits 0 "$view" -y "$scratch/still420.y4m" "$scratch/view.y4m"
    drawn "$scratch/still420.y4m" 0 0 $((5 * 96))
    exits 0 "$view" -y "$scratch/pan420.y4m" "$scratch/view.y4m" 8 7
    drawn "$scratch/pan420.y4m" 3 -2 $((5 * 96 * 16))
    # Divided blocks: fewer arrows than blocks of 8x8, and still the same pan.
    exits 0 "$view" -y "$scratch/pan420.y4m" "$scratch/divided.y4m" 32 7 8
    ! cmp -s "$scratch/divided.y4m" "$scratch/view.y4m" || fail "$1: codecview ignores LAMBDA"
    ! cmp -s "$scratch/divided.y4m" "$scratch/pan420.y4m" || fail "$1: no arrows of divided blocks"
    exits 1 "$view" -y "$scratch/pan420.y4m" "$scratch/divided.y4m" 12 7 8
    exits 1 "$view" -y "$scratch/text.y4m" "$scratch/view.y4m"
    exits 1 "$view" -y "$scratch/still420.y4m" "$scratch/no-such-folder/view.y4m"
    exits 1 "$view" -y "$scratch/still420.y4m" "$scratch/view.y4m" 7
    # Nothing is replaced unasked, by a failure, or by itself; nothing is left behind.
    cp "$scratch/divided.y4m" "$scratch/before.y4m"
    exits 1 "$view" "$scratch/pan420.y4m" "$scratch/divided.y4m" 8 7
    exits 1 "$view" -y "$scratch/divided.y4m" "$scratch/divided.y4m" 8 7
    cmp "$scratch/divided.y4m" "$scratch/before.y4m" || fail "$1: codecview replaces its output"
    [ ! -e "$scratch/divided.y4m.partial" ] || fail "$1: codecview leaves a partial file"
    exits 2 "$view" "$scratch/still420.y4m"
}

# Whether there is a Vulkan driver: tests/support/vulkan_probe.h.
has_vulkan() {
    status=0
    "${GPUME_VULKAN_PROBE:-$build/tests/vulkan_probe}" >"$scratch/said" || status=$?
    [ $status -eq 0 ] || [ $status -eq 77 ] || fail "the probe for a Vulkan driver"
    [ $status -eq 0 ]
}

# kernels WAY: numbers of the picture as another program found them, in whole numbers.
kernels() {
    for count in 1 257 100000; do
        exits 0 "$scratch/$1/saxpy" "$count"
        grep -q '^largest difference [01] ulp$' "$scratch/said" || fail "$1: saxpy differs"
    done
    picture=$scratch/$1.ppm
    exits 0 "$scratch/$1/mandelbrot" 61 45 "$picture"
    grep -q '^489211 iterations, 478 of 2745 pixels inside$' "$scratch/said" ||
        fail "$1: mandelbrot counts otherwise: $(sed -n 2p "$scratch/said")"
    [ "$(head -n 3 "$picture" | tr '\n' ' ')" = "P6 61 45 255 " ] || fail "$1: not a PPM of 61x45"
    [ "$(wc -c <"$picture")" -eq $((13 + 3 * 61 * 45)) ] || fail "$1: the picture has a wrong size"
    # Upper left: one iteration, and its shade. The centre is inside.
    corner=$(tail -c +14 "$picture" | head -c 3 | od -A n -t u1 | tr -s ' ')
    centre=$(tail -c +$((14 + 3 * (22 * 61 + 30))) "$picture" | head -c 3 | od -A n -t u1 | tr -s ' ')
    [ "$corner" = " 4 6 72" ] || fail "$1: the corner is$corner"
    [ "$centre" = " 0 0 0" ] || fail "$1: the centre is$centre"
    exits 1 "$scratch/$1/mandelbrot" 61 45 "$scratch/no-such-folder/picture.ppm"
    for size in "0 1" "16385 16384" "9 2" "2 9" "x 1"; do
        # shellcheck disable=SC2086 # two words
        exits 2 "$scratch/$1/mandelbrot" $size "$picture"
    done
    exits 2 "$scratch/$1/saxpy" 0
    exits 2 "$scratch/$1/saxpy" 99999999999
}

# partition: blocks cover each frame once; those of a pan move by the same 12 and -8 quarter pixels,
# but for those that see beyond the picture; and a high lambda leaves large blocks.
parts() {
    exits 0 "$scratch/$1/partition" "$scratch/pan.y4m" 8 8
    awk -F, '
        NR > 1 { pixels += $4 * $5; pan += $6 == 12 && $7 == -8 }
        END { exit pixels != 96 * 64 * 5 || pan < (NR - 1) / 3 }
        ' "$scratch/said" || fail "$1: partition does not cover the frames, or not with the pan"
    few=$(wc -l <"$scratch/said")
    exits 0 "$scratch/$1/partition" "$scratch/pan.y4m" 1000 8
    [ "$(wc -l <"$scratch/said")" -le "$few" ] || fail "$1: a high lambda gives more blocks"
    exits 1 "$scratch/$1/partition" "$scratch/text.y4m"
    exits 2 "$scratch/$1/partition" "$scratch/pan.y4m" 1001
}

# roi: opposite maps make different videos, equal ones of other squares the same, and a map that is none is refused.
regions() {
    roi=$scratch/$1/roi
    printf '2 1\n-20 20\n' >"$scratch/left.roi"
    printf '2 1\n20 -20\n' >"$scratch/right.roi"
    exits 2 "$roi" "$scratch/pan.y4m" "$scratch/left.roi"
    exits 1 "$roi" "$scratch/pan.y4m" "$scratch/absent.roi" "$scratch/out.mkv"
    exits 1 "$roi" "$scratch/text.y4m" "$scratch/left.roi" "$scratch/out.mkv"
    "$roi" -y "$scratch/pan.y4m" "$scratch/left.roi" "$scratch/left.mkv" >"$scratch/log" 2>&1 && status=0 || status=$?
    if grep -q 'no such encoder' "$scratch/log"; then
        [ "$1" = cmake ] || left_out="$left_out roi (built; no libx264)"
        return
    fi
    [ "$status" -eq 0 ] || fail "$1: roi failed"
    : >"$scratch/log"
    exits 0 "$roi" -y "$scratch/pan.y4m" "$scratch/right.roi" "$scratch/right.mkv"
    exits 0 "$roi" -y "$scratch/pan.y4m" "$scratch/right.roi" "$scratch/kept.mkv"
    cmp -s "$scratch/right.mkv" "$scratch/kept.mkv" || fail "$1: roi writes something else every time"
    exits 1 "$roi" "$scratch/kept.mkv" "$scratch/left.roi" "$scratch/kept.mkv"
    exits 1 "$roi" "$scratch/pan.y4m" "$scratch/left.roi" "$scratch/kept.mkv"
    exits 1 "$roi" -y "$scratch/pan.y4m" "$scratch/text.y4m" "$scratch/kept.mkv"
    cmp -s "$scratch/right.mkv" "$scratch/kept.mkv" || fail "$1: roi replaced a file"
    ! cmp -s "$scratch/left.mkv" "$scratch/right.mkv" || fail "$1: roi ignores the map"
    { echo 6 4 && yes -- -20 -20 -20 -20 20 20 | head -4; } >"$scratch/sixteen.roi" # left.roi has squares of 64
    exits 0 "$roi" -y "$scratch/pan.y4m" "$scratch/sixteen.roi" "$scratch/kept.mkv"
    cmp -s "$scratch/left.mkv" "$scratch/kept.mkv" || fail "$1: roi puts squares at the wrong place"
    exits 1 "$roi" "$scratch/pan.y4m" "$scratch/text.y4m" "$scratch/out.mkv"
}

clip "$scratch/pan.y4m" 3 -2
clip "$scratch/still.y4m" 0 0
spots "$scratch/spots.y4m"
noised "$scratch/clean.y4m" "$scratch/noisy.y4m"
numbers >"$scratch/numbers"
echo "no video" >"$scratch/text.y4m"
for way in make cmake; do
    quietly "$way: two_buffers" "$scratch/$way/two_buffers"
    "$scratch/$way/two_buffers" >"$scratch/log"
    grep -q '( *-5, *+3) *0' "$scratch/log" ||
        fail "$way: two_buffers does not print the vector"
    : >"$scratch/log"
    quietly "$way: clean_frames" "$scratch/$way/clean_frames"
    [ "$("$scratch/$way/clean_frames" | grep -cE 'filtered (3[7-9]|40)\.')" -eq 12 ] || fail "$way: clean_frames does not filter 12 frames"
    sorts "$way"
    denoises "$way"
    energy=$scratch/$way/motion_energy
    if [ -x "$energy" ]; then
        energy_is "$energy" "$scratch/pan.y4m" 12.99 13.01 0 0
        energy_is "$energy" "$scratch/still.y4m" 0 0 1 1
        exits 1 "$energy" "$scratch/text.y4m"
        exits 2 "$energy"
        hardest "$way"
        parts "$way"
        regions "$way"
    fi
    if [ -x "$scratch/$way/codecview" ]; then
        views "$way"
    fi
    [ -x "$scratch/$way/saxpy" ] || continue
    if has_vulkan; then
        kernels "$way"
    elif [ "$way" = make ]; then
        left_out="$left_out saxpy mandelbrot (built; no Vulkan driver)"
    fi
done
echo "samples built and run: $programs${left_out:+; left out:$left_out}"
