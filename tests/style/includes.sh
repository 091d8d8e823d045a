#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Checks every #include against the table below, which is the architecture. Also: no .c file is
# included, and no code names an encoder but its own.
# Usage: includes.sh SOURCE_DIR
set -eu
LC_ALL=C
export LC_ALL
cd "${1:?usage: includes.sh SOURCE_DIR}"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Module, then the quoted or library includes that it may have, as patterns of whole paths. All modules
# except shaders may include headers of the C library and of POSIX.
cat >"$scratch/modules" <<'END'
src/base        base/.*\.h gpume/gpume\.h
src/files       base/.*\.h files/.*\.h gpume/gpume\.h jansson\.h zlib\.h zstd(_errors)?\.h
src/model       base/.*\.h model/.*\.h gpume/gpume\.h
src/frame       base/.*\.h model/.*\.h frame/.*\.h gpume/gpume\.h
src/run         base/.*\.h model/.*\.h frame/.*\.h run/.*\.h arrays/host_sort\.h gpume/gpume\.h
src/cpu         base/.*\.h model/.*\.h frame/.*\.h cpu/.*\.h arrays/host_sort\.h gpume/gpume\.h immintrin\.h arm_neon\.h
src/gpu         base/.*\.h model/.*\.h frame/.*\.h gpu/.*\.h arrays/(backend|host_sort)\.h gpume/(gpume|vulkan)\.h (common|general)/shared\.h [a-z0-9_]+\.inc vulkan/.*\.h
src/arrays      base/.*\.h arrays/.*\.h gpume/(gpume|compute)\.h
src/base/os_windows.c base/.*\.h io\.h windows\.h
src/lib.c       base/.*\.h model/.*\.h run/.*\.h gpu/engine_gpu\.h gpume/gpume\.h version\.h
src/encode      base/.*\.h files/.*\.h encode/.*\.h gpume/(gpume|compute)\.h [a-z0-9_]+\.inc
src/encode/kernels/refine.h encode/.*\.h immintrin\.h
src/encode/kernels/satd.h encode/.*\.h immintrin\.h
src/grain       base/.*\.h grain/.*\.h gpume/gpume\.h
src/filter      base/.*\.h filter/.*\.h gpume/(gpume|compute|filter)\.h temporal/shared\.h [a-z0-9_]+\.inc
src/media       base/.*\.h files/.*\.h media/.*\.h gpume/gpume\.h lib(avcodec|avfilter|avformat|avutil|swscale)/.*\.h
src/draw        base/.*\.h draw/.*\.h gpume/gpume\.h cairo\.h
src/vectors     base/.*\.h files/.*\.h vectors/.*\.h gpume/gpume\.h nettle/sha2\.h zlib\.h
src/sinks       base/.*\.h files/.*\.h sinks/.*\.h vectors/.*\.h draw/(legend|overlay)\.h media/(picture|video)\.h gpume/gpume\.h
src/report      base/.*\.h files/.*\.h report/.*\.h sinks/.*\.h vectors/.*\.h draw/(legend|overlay)\.h media/picture\.h gpume/gpume\.h nettle/base64\.h
src/resume      base/.*\.h files/.*\.h resume/.*\.h sinks/.*\.h vectors/format\.h gpume/gpume\.h jansson\.h
src/compare     base/.*\.h files/.*\.h compare/.*\.h report/(report|shell)\.h sinks/.*\.h vectors/.*\.h draw/(legend|overlay)\.h media/picture\.h gpume/gpume\.h jansson\.h
src/merge       base/.*\.h files/.*\.h merge/.*\.h report/report\.h sinks/.*\.h vectors/(format|vectors)\.h gpume/gpume\.h jansson\.h
src/include     gpume/(gpume|params|prefilter)\.h
src/include/gpume/avframe.h gpume/gpume\.h libavutil/.*\.h
src/include/gpume/vulkan.h gpume/compute\.h vulkan/vulkan_core\.h
cli             [a-z0-9_]+\.(h|inc) (options|estimate|bench|coded|compare|convert|sort|filter|firstpass|grain|scenes|complexity|qpmap|luma|plan|merge|methods|ladder|base|files|encode|resume|sinks|report|vectors)/[a-z0-9_]+\.h gpume/(gpume|compute|filter)\.h draw/overlay\.h model/(cost|plan)\.h media/(ffmpeg|picture|source|timeline)\.h
cli/bench/ceiling.comp bench/ceiling_shape\.h (common|search)/[a-z0-9_]+\.glsl
shaders         (arrays|common|encode|general|search|surfaces|temporal)/[a-z0-9_]+\.(glsl|h) model/cost\.h
samples         [a-z0-9_]+\.(h|inc) gpume/(avframe|compute|filter|gpume)\.h lib(avcodec|avfilter|avformat|avutil)/.*\.h
plugins/vapoursynth [a-z0-9_]+\.h gpume/(gpume|filter)\.h VapourSynth4\.h
END

find src cli plugins shaders samples -type f \( -name '*.[ch]' -o -name '*.in' -o -name '*.comp' \
    -o -name '*.glsl' \) | sort >"$scratch/files"
[ -s "$scratch/files" ] || { echo "no sources in $(pwd)"; exit 1; }

# FILE:LINE:PATH for every include, in the order of the files.
while IFS= read -r file; do
    awk -v file="$file" '/^[ \t]*#[ \t]*include/ {
        path = $0
        sub(/^[ \t]*#[ \t]*include[ \t]*/, "", path)
        sub(/^[<"]/, "", path)
        sub(/[>"].*$/, "", path)
        print file ":" FNR ":" path
    }' "$file"
done <"$scratch/files" >"$scratch/includes"

status=0
awk -F: '
    function is_standard(path) {
        return path ~ ("^(assert|ctype|errno|fenv|float|inttypes|limits|locale|math|setjmp|signal" \
            "|stdalign|stdarg|stdatomic|stdbool|stddef|stdint|stdio|stdlib|stdnoreturn|string|time" \
            "|wchar|dirent|dlfcn|fcntl|fnmatch|glob|libgen|poll|pthread|sched|semaphore|spawn|strings|termios" \
            "|unistd|sys/(file|ioctl|mman|resource|select|stat|time|types|wait))\\.h$")
    }
    FILENAME == ARGV[1] {
        count = split($0, words, " ")
        for (i = 2; i <= count; i++)
            allowed[words[1]] = allowed[words[1]] (i > 2 ? "|" : "") words[i]
        next
    }
    {
        module = ""
        for (name in allowed)
            if (($1 == name || index($1, name "/") == 1) && length(name) > length(module))
                module = name
        if (module == "") {
            printf "%s:%s: in no module that tests/style/includes.sh knows\n", $1, $2
            bad = 1
        } else if ($3 ~ /\.c$/) {
            printf "%s:%s: includes a .c file, %s\n", $1, $2, $3
            bad = 1
        } else if (is_standard($3) ? module == "shaders" && $1 != "shaders/common/shared.h" \
                                   : $3 !~ ("^(" allowed[module] ")$")) {
            printf "%s:%s: %s may not include %s\n", $1, $2, module, $3
            bad = 1
        }
    }
    END { exit bad }' "$scratch/modules" "$scratch/includes" || status=1

# Code asks an encoder's struct, never which encoder it is: only its file and the table name it.
for file in src/encode/encoders/*.c; do
    name=$(basename "$file" .c)
    [ "$name" = encoders ] || ! grep -rnE "gpume_$name\\b|\"$name\"" --include='*.[ch]' src cli |
        grep -vE "^src/encode/encoders/($name|encoders)\.c:" || status=1
done

exit $status
