#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# gpume sort: the order of its output in both forms, and every input and output that it refuses. Results are compared
# with sort(1).
. "$(dirname "$0")/common.sh"

# give TEXT ARGUMENTS: sorts what printf makes of TEXT; streams and status as run leaves them.
give() {
    text=$1
    shift
    # shellcheck disable=SC2059 # a format on purpose
    printf -- "$text" | "$gpume" sort --backend "$engine" "$@" >"$scratch/out" 2>"$scratch/err"
    status=$?
}

# gives EXPECTED TEXT ARGUMENTS
gives() {
    expected=$1
    shift
    give "$@"
    [ "$status" -eq 0 ] || fail "'$1': exit status $status"
    [ ! -s "$scratch/err" ] || fail "'$1': something was said"
    # shellcheck disable=SC2059
    printf -- "$expected" | cmp -s - "$scratch/out" || fail "'$1': not in order"
}

# refuses PLACE VALUE TEXT: exit status 3, one line with the number of the text's line, or of its bytes, and the value or
# the option; nothing on standard output.
refuses() {
    place=$1 value=$2
    shift 2
    give "$@"
    arguments=$*
    [ "$status" -eq 3 ] || fail "'$1': exit status $status, not 3"
    [ "$(wc -l <"$scratch/err")" -eq 1 ] || fail "'$1': not exactly one line of error"
    [ ! -s "$scratch/out" ] || fail "'$1': standard output was written"
    says "standard input: "
    names "$place" "$value"
}

# What an integer is, and where it may stand.
gives '' ''
gives '' ' \n\t\r\n\f\v '
gives '5\n' '5'
gives '5\n' '\n\n 5\n\n'
gives '1\n2\n3\n' '3\r\n2\r\n1\r\n'
gives '1\n2\n3\n' '3\t2\v1\f'
gives '0\n0\n0\n' '-0 +0 0'
gives '7\n12\n' '+12 0000000000000000000000000007'
gives '-2147483648\n2147483647\n' '2147483647 -2147483648'
gives '0\n4294967295\n' '4294967295 00'
gives '1\n10\n123\n1234\n99999\n100000\n1234567\n12345678\n123456789\n1234567890\n' \
    '1234567890 123456789 12345678 1234567 100000 99999 1234 123 10 1'
gives '3\n3\n2\n' '3 2 3' --descending
gives '5\n' '5' -
# Both below 0 and above 2^31 - 1, in every order of coming.
gives '-2147483648\n-1\n0\n1\n2147483648\n4294967295\n' \
    '4294967295 0 -1 2147483648 1 -2147483648'
gives '-2\n-1\n7\n4294967295\n' '-1 -2 7\n4294967295'
gives '4294967295\n2147483648\n7\n-1\n-2\n' '7 -1 2147483648 -2 4294967295' --descending
gives '-1\n-2\n-3\n' '-3 -1 -2' --descending

# What is not an integer.
refuses 3 'x12' '1\n2\n 5 x12 9\n'
refuses 1 '4294967296' '4294967296'
refuses 1 '-2147483649' '-2147483649'
refuses 2 '99999999999999999999999999' '\n99999999999999999999999999\n'
refuses 1 '12345678901' '12345678901'
refuses 1 '1234567890123456' '1234567890123456'
for word in - + -- +-1 -+1 1- 1.0 1e3 0x10 1_000 five 1:2 /3 --5 '3)' '12345678a' '1234567890a' \
    '123456789012345a'; do
    refuses 1 "$word" "$word"
done
refuses 1 '1,2,3' '1,2,3\n'
refuses 1 '12\x003' '12\0003'
refuses 2 '\x002' '1\n\0002'
refuses 1 '\xef\xbb\xbf11' '\357\273\277\0611\n'
refuses 1 '\xff\xfe1\x00' '\377\3761\000 '
refuses 1 '\xd9\xa3' '\331\243'
refuses 1 '1\x1b[31m' '1\033[31m'
long=$(head -c 200000 /dev/zero | tr '\0' 7)
refuses 2 '77777777777777777777777777777777...' "1\\n$long\\n1"
[ "$(wc -c <"$scratch/err")" -lt 250 ] || fail "a long word is shown at length"
zeros=$(head -c 200000 /dev/zero | tr '\0' 0)
gives '-6\n5\n' "${zeros}5 -${zeros}6"
refuses 2 '00000000000000000000000000000000...' "5\\n${zeros}x"
# Wherever a read ends within a word, the same is said of it.
zeros=$(echo "$zeros" | head -c 40000)
long=$(echo "$long" | head -c 40000)
for word in "${zeros}x" "-${zeros}5,6" "$long,5" "7$zeros,5" "+${zeros}\\1"; do
    rm -f said
    for before in 0 91080 100000 131000; do # blanks, before the word, of a buffer of 131072 bytes
        { yes ' ' | head -c $before | tr '\n' ' ' && printf -- "$word\n"; } >slice
        run sort slice --backend "$engine"
        [ $status -eq 3 ] && [ "$(wc -c <"$scratch/err")" -lt 250 ] || fail "after $before blanks: exit status $status"
        [ -e said ] || cp "$scratch/err" said
        cmp -s said "$scratch/err" || fail "after $before blanks another part of the word is shown than in: $(cat said)"
    done
done
rm said slice

# Words and lines across the bounds of what is read at a time.
awk 'BEGIN { for (i = 0; i < 70000; i++) printf "%d%s", (i * 7919) % 70001, i % 9 ? " " : "\n" }' >seq
tr ' ' '\n' <seq | sort -n >wanted
expect 0 sort seq --backend "$engine"
cmp -s wanted "$scratch/out" || fail "70000 integers"
{ cat seq; echo junk; } >junk
refused 3 junk "$(($(wc -l <seq) + 1))" -- sort junk
# Slowly, through a pipe.
mkfifo pipe
{ head -c 50001 seq; sleep 0.2; tail -c +50002 seq; } >pipe &
expect 0 sort pipe --backend "$engine"
wait
cmp -s wanted "$scratch/out" || fail "through a pipe"

# Many of each kind, 2^20 of one: as sort(1) orders them, the same each time, checked by the C library.
random_words() {
    awk -v kind="$1" -v count="$2" 'BEGIN {
        srand(7)
        for (i = 0; i < count; i++) {
            value = int(rand() * 65536) * 65536 + int(rand() * 65536)
            printf "%.0f\n", kind == "unsigned" ? value : kind == "signed" ? value - 2147483648 \
                : kind == "few" ? value % 10 : rand() < 0.3 ? -int(value / 2) : value
        }
    }'
}
for kind in unsigned signed few mixed; do
    count=131072
    [ $kind != mixed ] || count=1048576
    random_words $kind $count >large
    sort -n large >wanted
    expect 0 sort --backend "$engine" --check large -o first -y
    grep -q "^Keys matched in $count of $count instances$" "$scratch/out" || fail "$kind: --check"
    grep -q '^written  *first$' "$scratch/out" || fail "$kind: the output is not named"
    cmp -s wanted first || fail "$kind: rising"
    expect 0 sort --backend "$engine" large
    cmp -s first "$scratch/out" || fail "$kind: not the same twice"
    expect 0 sort --backend "$engine" --descending large
    sort -rn large | cmp -s - "$scratch/out" || fail "$kind: falling"
    [ ! -s "$scratch/err" ] || fail "$kind: something was said"
    # Sorted input is unchanged.
    expect 0 sort --backend "$engine" first
    cmp -s wanted "$scratch/out" || fail "$kind: sorted before"
done
rm -f large first wanted

# Words: the bytes of 3, 2^32 - 1, 256, 2^31.
words='\003\000\000\000\377\377\377\377\000\001\000\000\000\000\000\200'
gives '\003\000\000\000\000\001\000\000\000\000\000\200\377\377\377\377' "$words" --binary u32
gives '\000\000\000\200\377\377\377\377\003\000\000\000\000\001\000\000' "$words" --binary i32
gives '\000\001\000\000\003\000\000\000\377\377\377\377\000\000\000\200' "$words" --binary=i32 \
    --descending
gives '' '' --binary u32
refuses 5 --binary '12345' --binary u32
printf '1\n2\n3\n4\n5' >odd
refused 3 odd 9 -- sort --binary i32 odd
if truncate -s 4294967300 huge 2>/dev/null; then
    refused 3 huge 1073741824 -- sort --binary u32 huge
    rm huge
fi

# --check and --time do not print where the integers are written.
gives_check() {
    [ "$status" -eq 0 ] && printf '1\n2\n' | cmp -s - "$scratch/out" || fail "$*"
}
give '2 1' --check
gives_check --check
says "Keys matched in 2 of 2 instances"
give '2 1' --check -q
gives_check -q
[ ! -s "$scratch/err" ] || fail "-q speaks"
give '' --check --time
says "Keys matched in 0 of 0 instances"
give '2 1' --time
gives_check --time
for line in 'C radix .* ms .* M keys/s .* x qsort' \
    'qsort  *[0-9.]* ms .* 1.00 x qsort' 'CPU bitonic .* ms'; do
    grep -q "^$line" "$scratch/err" || fail "--time has no line '$line'"
done
[ "$(wc -l <"$scratch/err")" -eq 5 ] || fail "--time: not five lines"
expect 0 sort seq --time -o words --backend "$engine"
grep -q '^C radix' "$scratch/out" || fail "--time with -o is not on standard output"
if have_vulkan; then
    word=software
    "$gpume" devices | grep -qE '^ *[0-9]+ .* (integrated|discrete|virtual) ' && word=GPU
    expect 0 sort seq --time -o words -y --backend vulkan
    [ "$(grep -cE "^$word (with|without) transfer  .* ms " "$scratch/out")" -eq 2 ] || fail "--time: not times of $word"
fi
give '2 1' -v
gives_check -v
says "sorted       2 integers"

# Files: names, existing files, impossible ones.
printf '2\n1\n' >sort
cp sort -- -x
expect 0 sort ./sort --backend "$engine"
printf '1\n2\n' | cmp -s - "$scratch/out" || fail "./sort"
expect 0 sort --backend "$engine" -- -x
printf '1\n2\n' | cmp -s - "$scratch/out" || fail "-- -x"
expect 0 sort sort --backend "$engine" -o sorted
refused 2 sorted -y -- sort sort -o sorted
refused 2 sorted -- sort missing -o sorted
expect 0 sort sort --backend "$engine" -o sort -y
printf '1\n2\n' | cmp -s - sort || fail "a file in its own place"
expect 3 sort junk -o new
expect 3 sort junk -o sorted -y
printf '1\n2\n' | cmp -s - sorted || fail "a failed run has touched the output"
expect 3 sort .
says ".: "
refused 3 missing -- sort missing
if [ "$(id -u)" -ne 0 ]; then
    cp sort secret
    chmod 0 secret
    expect 3 sort secret
    rm -f secret
fi
refused 1 none/x -- sort sort -o none/x
expect 2 sort sort -o . -y
says ".: "
expect 2 sort ''
"$gpume" sort <&- >"$scratch/out" 2>"$scratch/err" && fail "closed standard input"
says "standard input"
"$gpume" sort sort >&- 2>"$scratch/err" && fail "closed standard output"
says "standard output"
if [ -w /dev/full ]; then
    "$gpume" sort sort >/dev/full 2>"$scratch/err" && fail "/dev/full taken for success"
    says "standard output: cannot be written"
    expect 1 sort sort -o /dev/full
fi
{ "$gpume" sort seq 2>"$scratch/err" || echo $? >"$scratch/status"; } | head -1 >/dev/null
if [ -s "$scratch/err" ]; then says "the reader closed the pipe early"; fi
expect 0 sort sort --backend "$engine" -o /dev/stdout
printf '1\n2\n' | cmp -s - "$scratch/out" || fail "-o /dev/stdout"
rm -f words

# Another sort of the same output, with -y or without, is refused before it reads anything, and one that is
# interrupted leaves nothing.
if env --default-signal=INT true 2>/dev/null; then
    mkfifo slow
    launch INT sort slow -o both -y
    exec 9>slow
    wait_for has_temporary both
    for option in -y "-y --check" --descending; do
        # shellcheck disable=SC2086 # several options
        refused 2 ./both -- sort missing -o ./both $option
    done
    echo 5 3 >&9
    exec 9>&-
    wait $pid || fail "the first of two sorts"
    printf '3\n5\n' | cmp -s - both || fail "the first of two sorts: other integers"
    rm both
    launch INT sort slow -o both
    exec 9>slow
    wait_for has_temporary both
    kill -s INT $pid
    wait $pid
    [ $? -eq 1 ] || fail "an interrupted sort: exit status"
    exec 9>&-
    says "interrupted before any output was begun"
    exec 9<>slow # stays open
    launch INT sort --timeout 1 slow -o both
    wait $pid
    [ $? -eq 1 ] || fail "a sort whose time is up: exit status"
    exec 9>&-
    names --timeout 1
    touch .both.gpume-1-0.tmp # of a killed one
    expect 0 sort sort --backend "$engine" -o both
    rm both slow
fi

# Wrong usage.
for options in '--block 8' '--vectors v.csv' '--threads 2' '--progress' '--json' '--seconds 1'; do
    # shellcheck disable=SC2086
    refused 2 "${options%% *}" -- sort sort $options
done
refused 2 seq -- sort sort seq
refused 2 --binary -- sort --binary
refused 2 --binary u64 u32 i32 -- sort --binary u64 sort
refused 2 --descending -- clip.mp4 --descending
if script -qec true /dev/null >/dev/null 2>&1 </dev/null; then
    for output in "" "-o -"; do
        script -qec "'$gpume' sort seq --binary u32 $output; echo status \$?" /dev/null >"$scratch/tty" 2>&1 </dev/null
        grep -q -- "--binary: a terminal cannot show words; name a file with -o" "$scratch/tty" &&
            grep -q "^status 2" "$scratch/tty" || fail "binary words on a terminal"
    done
fi
refused 2 --frames -- sort --frames 2 x
expect 2 bench --time
expect 2 sort sort --backend cpu --device 0
expect 4 sort sort --device 'no such device'
expect 0 sort --help

only . seq junk pipe odd sort -x sorted
exit 0
