#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Who may include whom: the table below is the architecture, and every #include is held against it.
# Also: no .c file is included, and file names are unique across src, shaders and cli.
# Usage: includes.sh SOURCE_DIR
set -eu
LC_ALL=C
export LC_ALL
cd "${1:?usage: includes.sh SOURCE_DIR}"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Room, then the quoted or library includes that it may have, as patterns of whole paths. Headers of
# the C library and of POSIX are free to all, shaders apart.
cat >"$scratch/rooms" <<'END'
src/base        base/.*\.h gpume/gpume\.h
src/frame       base/.*\.h frame/.*\.h gpume/gpume\.h
src/sort        sort/.*\.h gpume/compute\.h
src/motion      base/.*\.h frame/.*\.h motion/.*\.h gpume/gpume\.h immintrin\.h arm_neon\.h
src/compute     base/.*\.h compute/.*\.h sort/host_sort\.h gpume/(gpume|compute)\.h
src/gpu         base/.*\.h frame/.*\.h gpu/.*\.h motion/(engine|plan)\.h compute/backend\.h gpume/(gpume|vulkan)\.h shared\.h [a-z0-9_]+\.inc vulkan/.*\.h
src/lib.c       base/.*\.h motion/.*\.h gpu/engine_gpu\.h gpume/gpume\.h version\.h
src/media       base/.*\.h media/.*\.h gpume/gpume\.h lib(avcodec|avfilter|avformat|avutil|swscale)/.*\.h
src/draw        base/.*\.h draw/.*\.h gpume/gpume\.h cairo\.h
src/vectors     base/.*\.h vectors/.*\.h gpume/gpume\.h nettle/sha2\.h
src/report      base/.*\.h report/.*\.h vectors/.*\.h draw/(colours|overlay)\.h media/(picture|still)\.h gpume/gpume\.h
src/include     gpume/gpume\.h
src/include/gpume/avframe.h gpume/gpume\.h libavutil/.*\.h
src/include/gpume/vulkan.h gpume/compute\.h vulkan/vulkan_core\.h
cli             [a-z0-9_]+\.h (options|estimate|bench|compare|convert|sort)/[a-z0-9_]+\.h gpume/(gpume|compute)\.h media/(mestimate|source)\.h report/.*\.h vectors/.*\.h
shaders         shared\.h [a-z0-9_]+\.glsl
samples         [a-z0-9_]+\.(h|inc) gpume/(avframe|compute|gpume)\.h lib(avcodec|avfilter|avformat|avutil)/.*\.h
END

find src cli shaders samples -type f \( -name '*.[ch]' -o -name '*.in' -o -name '*.comp' \
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
            "|wchar|dirent|fcntl|fnmatch|glob|libgen|poll|pthread|sched|semaphore|strings|termios" \
            "|unistd|sys/(file|ioctl|mman|resource|select|stat|time|types|wait))\\.h$")
    }
    FILENAME == ARGV[1] {
        count = split($0, words, " ")
        for (i = 2; i <= count; i++)
            allowed[words[1]] = allowed[words[1]] (i > 2 ? "|" : "") words[i]
        next
    }
    {
        room = ""
        for (name in allowed)
            if (($1 == name || index($1, name "/") == 1) && length(name) > length(room))
                room = name
        if (room == "") {
            printf "%s:%s: in no room that tests/style/includes.sh knows\n", $1, $2
            bad = 1
        } else if ($3 ~ /\.c$/) {
            printf "%s:%s: includes a .c file, %s\n", $1, $2, $3
            bad = 1
        } else if (is_standard($3) ? room == "shaders" && $1 != "shaders/shared.h" \
                                   : $3 !~ ("^(" allowed[room] ")$")) {
            printf "%s:%s: %s may not include %s\n", $1, $2, room, $3
            bad = 1
        }
    }
    END { exit bad }' "$scratch/rooms" "$scratch/includes" || status=1

find src shaders cli -type f ! -name CMakeLists.txt | sort >"$scratch/all"
awk -F/ '{ if ($NF in first) { print $0 ": has the name of " first[$NF]; bad = 1 }
           else first[$NF] = $0 }
         END { exit bad }' "$scratch/all" || status=1
exit $status
