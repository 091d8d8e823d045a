#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Vector formats: the same bytes from a run, from convert, through pipes and files; other programs
# can read them; what a format cannot hold is refused, and no file stays.
. "$(dirname "$0")/common.sh"
make_clip clip.y4m 70 45 8 5
v() { expect 0 clip.y4m --backend "$engine" -q "$@"; }

# From a run, and from convert with the richest format as input.
for format in csv jsonl npy mvf hash extract_mvs; do
    v --vectors run.$format --format $format
done
v --vectors 'run%d.flo'
v --vectors 'mvs-%d.npy' --format mv-extractor
v -o folder
cmp -s folder/vectors.csv run.csv || fail "csv: another one than the standard file"
for format in csv jsonl npy hash extract_mvs; do
    expect 0 convert run.mvf made.$format --format $format
    grep -q "^converted  *4 frame pairs, 216 blocks: mvf to $format$" "$scratch/out" || fail "closing line"
    cmp -s run.$format made.$format || fail "convert: mvf to $format"
    # Through a pipe, and into standard output as a file.
    "$gpume" convert - - --format $format <run.mvf 2>"$scratch/err" | cat >piped || fail "pipe"
    cmp -s run.$format piped || fail "convert: $format through a pipe"
    "$gpume" convert run.mvf - --format $format >piped 2>"$scratch/err" || fail "$format: to a file"
    cmp -s run.$format piped || fail "convert: $format into standard output"
    "$gpume" clip.y4m --backend "$engine" --vectors - --format $format 2>"$scratch/err" |
        cat >piped
    cmp -s run.$format piped || fail "$format: of a run through a pipe"
done
"$gpume" convert run.mvf - --format npy 2>/dev/null >piped
{ echo; "$gpume" convert run.mvf - --format npy 2>/dev/null; } >piped
tail -c +2 piped | cmp -s run.npy - || fail "npy: behind something else"
rm made.*
expect 0 convert run.mvf 'made%d.flo' -q
expect 0 convert run.mvf 'made%d.npy' --format mv-extractor
for frame in 1 2 3 4; do
    cmp -s run$frame.flo made$frame.flo || fail "convert: flo"
    cmp -s mvs-$frame.npy made$frame.npy || fail "convert: mv-extractor"
done
for format in flo mv-extractor; do
    "$gpume" convert run.mvf - --format $format 2>/dev/null | cat >piped
    [ $format = flo ] && cat run[1-4].flo >whole || cat mvs-[1-4].npy >whole
    cmp -s whole piped || fail "$format: standard output"
    expect 0 convert piped back.csv -y -b 8
    awk -F, -v OFS=, '{ print $1, $3, $4, $5, $6, $7, $8 }' run.csv >wanted
    [ $format = flo ] || cut -d, -f1-8 run.csv >wanted
    cmp -s wanted back.csv || fail "$format: one behind the other, read back"
done

# And back: missing data are left out, and a message says so.
for format in csv jsonl npy mvf; do
    expect 0 convert run.$format back.csv -y
    cmp -s run.csv back.csv || fail "convert: $format to csv"
done
cut -d, -f1-9 run.csv >norank.csv
expect 0 convert norank.csv back.csv -y
cmp -s run.csv back.csv || fail "ranks made of costs"
expect 0 convert run.extract_mvs back.csv -y
cut -d, -f1-8 run.csv | cmp -s - back.csv || fail "convert: extract_mvs to csv"
expect 0 convert 'mvs-%d.npy' back.csv -y
cut -d, -f1-8 run.csv | cmp -s - back.csv || fail "convert: mv-extractor to csv"
expect 0 convert 'run%d.flo' back.csv -y -b 8
awk -F, -v OFS=, '{ print $1, $3, $4, $5, $6, $7, $8 }' run.csv | cmp -s - back.csv ||
    fail "convert: flo to csv"
expect 0 convert run.csv x.extract_mvs --format extract_mvs
names extract_mvs
expect 0 convert run.mvf back.csv -y
names csv
expect 0 -q convert run.csv back.mvf
[ ! -s "$scratch/out" ] || fail "-q writes"
expect 0 compare run.mvf run.npy
expect 0 compare run.jsonl run.csv
expect 0 compare run.extract_mvs run.csv
grep -q '^costs        not compared, only B has any$' "$scratch/out" || fail "costs that are not known"
expect 0 compare 'mvs-%d.npy' run.extract_mvs
grep -q '^costs        not compared, neither has any$' "$scratch/out" || fail "costs of neither"
expect 0 compare -b 8 'run%d.flo' run.mvf
sed '5s/,[^,]*,\([^,]*\)$/,9\1,\1/' run.csv >other.csv
expect 0 convert other.csv other.hash -q
diff run.hash other.hash >lines
[ "$(grep -c '^> [0-9]' lines)" -eq 1 ] || fail "hash: not one field differs"
run compare run.extract_mvs b.none
[ "$status" -eq 3 ] || fail "compare: a file that is not there"

# Compressed: other programs read them, and gpume what others compress; the same bytes from a run and from convert.
for format in csv.gz csv.zst jsonl.gz jsonl.zst; do
    text=run.${format%.*}
    tool=gzip
    [ "${format#*.}" = gz ] || tool=zstd
    v --vectors run.$format
    expect 0 convert run.mvf made.$format -q
    cmp -s run.$format made.$format || fail "convert: mvf to $format"
    "$gpume" convert run.mvf - --format $format 2>/dev/null | cat >piped
    cmp -s run.$format piped || fail "$format: through a pipe"
    expect 0 convert run.$format back.csv -y -q
    cmp -s run.csv back.csv || fail "convert: $format to csv"
    "$gpume" convert - - --format csv <run.$format >back.csv 2>/dev/null || fail "$format: from standard input"
    cmp -s run.csv back.csv || fail "$format: from standard input, another table"
    expect 0 convert run.$format back.csv -y -q --from ${format%.*}
    cmp -s run.csv back.csv || fail "--from ${format%.*} with $format"
    expect 0 compare run.$format run.csv
    expect 0 clip.y4m --backend "$engine" -q --predictor run.$format --lambda 4 --vectors back.csv -y
    if have $tool; then
        $tool -dc <run.$format 2>/dev/null | cmp -s - $text || fail "$format: not what $tool reads"
        $tool -qkf $text -c >piped
        expect 0 convert piped back.csv -y -q
        cmp -s run.csv back.csv || fail "$format: compressed by $tool"
    else
        echo "$format not read by $tool: it is not here"
    fi
    size=$(wc -c <run.$format)
    for cut in 5 30 $((size - 60)) $((size - 1)); do
        head -c $cut run.$format >bad.bin
        refused 3 bad.bin -- convert bad.bin x.csv
    done
    { cat run.$format && echo more; } >bad.bin
    refused 3 bad.bin -- convert bad.bin x.csv
    { head -c $((size - 60)) run.$format && printf 'damaged' && tail -c 53 run.$format; } >bad.bin
    refused 3 bad.bin -- convert bad.bin x.csv
done
expect 0 convert run.mvf made.CSV.GZ -q
cmp -s run.csv.gz made.CSV.GZ || fail "the extension in upper case"
refused 2 .csv .jsonl .npy .npz .mvf .flo .hash .csv.gz .csv.zst .jsonl.gz .jsonl.zst -- convert run.mvf x.gz
rm made.* bad.bin

# A name of video on standard output alone.
refused 2 -.nut -- clip.y4m --backend "$engine" --vectors -.nut
refused 2 -.nut -- convert run.mvf --format npy -- -.nut

# Binary files, and compressed ones, are not for terminals; text is.
if script -qec true /dev/null >/dev/null 2>&1 </dev/null; then
    for format in npy npz mvf mv-extractor flo csv.gz jsonl.zst; do
        for options in "convert run.mvf -" "clip.y4m --backend $engine --vectors -" "clip.y4m --backend $engine --vectors /dev/stdout"; do
            script -qec "'$gpume' $options --format $format; echo status \$?" /dev/null >tty 2>&1 </dev/null
            grep -q "a terminal cannot show binary vectors; name a file, or pipe them to a program" tty &&
                grep -q "^status 2" tty || fail "$options --format $format on a terminal: $(cat -v tty)"
        done
    done
    for format in csv extract_mvs jsonl hash; do
        script -qec "'$gpume' convert run.mvf - --format $format 2>err; echo status \$?" /dev/null >tty 2>&1 </dev/null
        tr -d '\r' <tty >lines
        { "$gpume" convert run.mvf - --format $format 2>err && echo "status 0"; } | cmp -s - lines || fail "$format on a terminal"
    done
    rm tty lines err
fi

# Divided blocks are no grid: what is refused names formats that hold them.
parts="-b 16,8 --partition --lambda 4"
for format in npz flo; do
    # shellcheck disable=SC2086 # several words
    refused 2 "$format" -- clip.y4m --backend "$engine" $parts --vectors "parts%d" --format $format
done
# shellcheck disable=SC2086 # several words
for format in csv jsonl npy mvf; do v $parts --vectors parts.$format; done
rm parts.*

# Two references of a frame.
cat >both.csv <<'END'
frame,ref,x,y,w,h,dx,dy,cost,rank
1,0,0,0,8,8,1,2,3,0
1,2,0,0,8,8,-1,-2,4,0
2,1,0,0,8,8,0,0,0,0
END
for format in jsonl npy mvf; do
    expect 0 convert both.csv both.$format -q
    expect 0 convert both.$format back.csv -y -q
    cmp -s both.csv back.csv || fail "two references: $format"
done
for format in extract_mvs mv-extractor; do
    expect 0 convert both.csv "both%d.$format" --format $format -q
    expect 0 convert "both%d.$format" back.csv -y -q
    cut -d, -f1-8 both.csv | cmp -s - back.csv || fail "two references: $format"
done
# Vectors as decoders export them: rows in coding order, both directions mixed, any sizes and scales.
expect 0 clip.y4m --backend "$engine" -q --direction both --vectors mvs.csv --format extract_mvs
expect 0 convert mvs.csv wanted.csv -q
{
    head -1 mvs.csv
    sed 1d mvs.csv | awk -F, '{ print $1 * 10000 + NR * 7919 % 9973 " " $0 }' | sort -n | cut -d' ' -f2- |
        awk -F, -v OFS=, '{ $10 *= 4; $11 *= 4; $12 = 4; print }'
} >coded.csv
sed 1d coded.csv | awk -F, '$2 != last { n++; last = $2 } END { exit n < 50 }' || fail "directions are not mixed"
expect 0 convert coded.csv back.csv -y -q
cmp -s wanted.csv back.csv || fail "extract_mvs: the order of decoders"
{
    echo framenum,source,blockw,blockh,srcx,srcy,dstx,dsty,flags,motion_x,motion_y,motion_scale
    echo '2, 1,16,16,   8,   8,   8,   8,0x0,   0,   0,   4'
    echo '2,-1,16, 8,  22,   4,  24,   4,0x0,  -8,   0,   4'
    echo '2,-1, 8, 8,  28,  13,  28,  12,0x0,   0,   4,   4'
    echo '2,-1, 8, 8,  20,  12,  20,  12,0x0,   0,   0,   4'
} >sizes.csv
expect 0 convert sizes.csv back.csv -y -q
printf '%s\n' frame,ref,x,y,w,h,dx,dy 1,0,16,0,16,8,-2,0 1,0,16,8,8,8,0,0 1,0,24,8,8,8,0,1 1,2,0,0,16,16,0,0 |
    cmp -s - back.csv || fail "extract_mvs: blocks of several sizes"
{ cat sizes.csv && echo '2, 1,16,16,   9,   8,   8,   8,0x0,   4,   0,   4'; } >twice.csv
refused 3 twice.csv 1 0,0 -- convert twice.csv x.csv -q
{ cat sizes.csv && echo '2, 1,16,16,  25,   8,  24,   8,0x0,   7,   0,   4'; } >quarters.csv
expect 0 convert quarters.csv x.csv -q
grep -qx '1,2,16,0,16,16,1.75,0' x.csv || fail "extract_mvs: quarters of a pixel"
rm x.csv
rm twice.csv quarters.csv sizes.csv coded.csv mvs.csv
expect 0 convert both.csv 'both%d-%d.flo' -q
[ -e both1-0.flo ] && [ -e both1-2.flo ] && [ -e both2-1.flo ] || fail "two references: flo"
# 1 and 11 would be 11 and 1.
refused 2 two%d%d.flo %d %0Nd -- convert both.csv 'two%d%d.flo' -q
# Names that a numbered input stands for, existing or not, and itself.
for output in both1-0.flo ./both7-8.flo both%d-%d.flo; do
    refused 2 "$output" -- convert 'both%d-%d.flo' $output -q -y
done
refused 2 both%d-%d.flo -- convert both1-0.flo 'both%d-%d.flo' -q -y
# The temporaries of a killed run.
touch .stale.csv.gpume-99999999-0.tmp
expect 0 convert both.csv stale.csv -q
[ ! -e .stale.csv.gpume-99999999-0.tmp ] || fail "convert leaves what a killed run left"
rm stale.csv
refused 2 %d -- convert both.csv 'two%d.flo' -q
refused 2 %d -- convert both.csv two.flo -q
# Before anything is written, though --direction both begins with a frame of one field.
{ head -1 both.csv && echo 0,1,0,0,8,8,0,0,0,0 && sed '1d' both.csv; } >begins.csv
mkdir two
expect 0 convert begins.csv begins.npy -q
for format in csv npy; do
    refused 2 two/%d.flo %d name%05d-%05d.flo -- convert begins.$format 'two/%d.flo' -q
    only two
done
rmdir two
[ ! -e two.flo ] && [ ! -e two1.flo ] || fail "flo: half a file"
refused 2 %d -- convert run.csv two.flo -q
expect 0 compare both.csv both.mvf
sed 2d both.csv >later.csv
run compare both.csv later.csv
grep -q '^only in A  *1 frame pair,' "$scratch/out" || fail "compare: references of a frame"

# Many threads make several fields at once: the same bytes in every format, to a file and through a pipe.
make_clip large.y4m 400 368 8 7
for format in csv jsonl npy npz mvf hash extract_mvs csv.gz csv.zst jsonl.gz jsonl.zst; do
    for threads in 1 2 64; do
        expect 0 -qy large.y4m -b 4 -w 2 --direction both --backend cpu --threads $threads \
            --vectors large.$threads --format $format
        cmp -s large.1 large.$threads || fail "$format: $threads threads"
    done
    "$gpume" -q large.y4m -b 4 -w 2 --direction both --backend cpu --threads 64 --vectors - \
        --format $format 2>"$scratch/err" | cat >piped
    cmp -s large.1 piped || fail "$format: many threads through a pipe"
done
expect 0 -qy large.y4m -b 8 -w 4 --compat ffmpeg --backend cpu --threads 1 --vectors large.1 --format hash
expect 0 -qy large.y4m -b 8 -w 4 --compat ffmpeg --backend cpu --threads 64 --vectors large.64 --format hash
cmp -s large.1 large.64 || fail "--compat ffmpeg: many threads"
expect 1 -qy large.y4m -b 4 -w 2 --backend cpu --threads 64 --vectors /dev/full --format mvf
rm large.*

# The same from every engine and number of threads; sha256sum confirms the hash.
for threads in 1 3; do
    expect 0 clip.y4m --backend cpu --threads $threads --vectors - --format hash
    cmp -s run.hash "$scratch/out" || fail "hash: $threads threads"
done
if have_vulkan; then
    expect 0 clip.y4m --backend vulkan --vectors - --format hash
    cmp -s run.hash "$scratch/out" || fail "hash: Vulkan"
else
    echo "no Vulkan driver: the hash of that engine is not compared"
fi

# Other programs.
python=
for candidate in python3 /usr/bin/python3; do
    if [ -z "$python" ] && "$candidate" -c 'import numpy' 2>/dev/null; then python=$candidate; fi
done
if have python3; then
    python3 - <<'END' || fail "read by Python"
import csv, hashlib, json, struct
rows = [{k: int(v) for k, v in r.items()} for r in csv.DictReader(open('run.csv'))]
lines = [json.loads(line) for line in open('run.jsonl')]
assert lines == rows and list(lines[0]) == list(rows[0])
hashes = [l.split(',') for l in open('run.hash') if l[0] != '#']
assert len(hashes) == 4
for frame, ref, blocks, digest in hashes:
    of = [r for r in rows if r['frame'] == int(frame)]
    data = b''.join(struct.pack('<hhI', r['dx'], r['dy'], r['cost']) for r in of)
    assert len(of) == int(blocks) and hashlib.sha256(data).hexdigest() == digest.strip()
for frame in 1, 2, 3, 4:
    data = open('run%d.flo' % frame, 'rb').read()
    tag, width, height = struct.unpack('<fii', data[:12])
    assert (tag, width, height, len(data)) == (202021.25, 70, 45, 12 + 8 * 70 * 45)
    for r in rows:
        if r['frame'] == frame:
            for y in range(r['y'], r['y'] + r['h']):
                for x in range(r['x'], r['x'] + r['w']):
                    at = 12 + 8 * (y * width + x)
                    assert struct.unpack('<ff', data[at:at + 8]) == (r['dx'], r['dy'])
with open('run.extract_mvs') as table:
    for m, r in zip(csv.DictReader(table, skipinitialspace=True), rows):
        dst = r['x'] + r['w'] // 2, r['y'] + r['h'] // 2
        assert int(m['framenum']) == r['frame'] + 1 and int(m['source']) == -1
        assert (int(m['blockw']), int(m['blockh'])) == (r['w'], r['h'])
        assert (int(m['dstx']), int(m['dsty'])) == dst
        assert (int(m['srcx']), int(m['srcy'])) == (dst[0] + r['dx'], dst[1] + r['dy'])
        assert (int(m['motion_x']), int(m['motion_y'])) == (r['dx'], r['dy'])
        assert m['flags'] == '0x0' and m['motion_scale'] == '1'
END
else
    echo "not read by Python: python3 is not here"
fi
if [ -n "$python" ]; then
    "$python" - <<'END' || fail "read by NumPy"
import csv, struct, numpy
rows = [{k: int(v) for k, v in r.items()} for r in csv.DictReader(open('run.csv'))]
v = numpy.load('run.npy', allow_pickle=False)
assert list(v.dtype.names) == list(rows[0]) and v.itemsize == 40 and v.shape == (216,)
for name in v.dtype.names:
    assert (v[name] == [r[name] for r in rows]).all(), name
m = numpy.load('mvs-2.npy')
of = [r for r in rows if r['frame'] == 2]
assert m.dtype == numpy.int32 and m.shape == (54, 10)
assert (m[:, 0] == -1).all() and (m[:, 9] == 1).all() and (m[:, 3:5] - m[:, 5:7] == m[:, 7:9]).all()
assert (m[:, 7] == [r['dx'] for r in of]).all()
data, at, found = open('run.mvf', 'rb').read(), 64, []
while at < len(data): # as in gpume-formats(5)
    head, size = struct.unpack_from('<IQ', data, at + 4)
    frame, ref = struct.unpack_from('<QQ', data, at + 16)
    field = numpy.frombuffer(data, 'i2,i2,u4,u4', size // 12, at + head)
    found += [(frame, ref) + b for b in field.tolist()]
    at += head + size
assert found == [tuple(r[n] for n in ('frame', 'ref', 'dx', 'dy', 'cost', 'rank')) for r in rows]
# Files of other programs: another order, other types, additional members.
types = [('cost', '<f8'), ('note', '<f4'), ('dy', '<i8'), ('dx', '|i1'), ('x', '<u2'), ('y', '<u8'),
         ('h', '|u1'), ('w', '<i4'), ('frame', '<u4'), ('ref', '<i2'), ('rank', '<i8')]
other = numpy.zeros(len(rows), types)
for name in v.dtype.names:
    other[name] = v[name]
numpy.save('other.npy', other)
for step in range(5): # as mv-extractor's --dump: an empty array for the first frame
    found = numpy.load('mvs-%d.npy' % step) if step else numpy.empty((0, 10), '<i4')
    numpy.save('dump-%d.npy' % step, found.astype('<i8'))
numpy.save('fraction.npy', numpy.array([(1, 0, 0, 8, 8, 0.125, 0)],
    [(n, '<f8') for n in ('frame', 'x', 'y', 'w', 'h', 'dx', 'dy')]))
numpy.save('text.npy', numpy.array(['a']))
END
    expect 0 convert other.npy back.csv -y
    cmp -s run.csv back.csv || fail "npy of another program"
    expect 0 compare 'dump-%d.npy' 'mvs-%d.npy'
    refused 3 fraction.npy -- convert fraction.npy x.csv
    names 0.25
    refused 3 text.npy -- convert text.npy x.csv
else
    echo "not read by NumPy: python3-numpy is not here"
fi
if have jq; then
    jq -r '[.frame,.ref,.x,.y,.w,.h,.dx,.dy,.cost,.rank] | @csv' run.jsonl >from_jq
    tail -n +2 run.csv | cmp -s - from_jq || fail "read by jq"
else
    echo "not read by jq: it is not here"
fi

# Refusals, which leave no file.
mkdir bad
refused 3 hash -- convert run.extract_mvs bad/x.hash
sed '2,3d' run.csv >holes.csv
refused 3 npz -- convert holes.csv bad/x.npz
expect 0 convert holes.csv holes.npy -q
expect 0 convert holes.csv holes.mvf -q
{ cat run.csv; echo 5,4,0,0,8,8,0,0,0,0; } >last.csv
refused 3 5 -- convert last.csv bad/x.npz
expect 0 convert last.csv last.mvf -q
for name in holes last; do
    expect 0 convert $name.mvf - --format csv -q
    cmp -s $name.csv "$scratch/out" || fail "$name.csv: not what .mvf holds"
done
# A pipe is read once: its first frame decides what its file can hold.
"$gpume" convert - bad/x.mvf <last.csv 2>"$scratch/err"
[ $? -eq 3 ] || fail "a grid of a pipe that changes"
names 5
for name in run.npy run.mvf run1.flo mvs-1.npy; do
    head -c 1000 $name >bad.bin
    refused 3 bad.bin 1000 -- convert bad.bin bad/x.csv
done
head -c 3000 run.jsonl >bad.bin
refused 3 bad.bin -- convert bad.bin bad/x.csv
refused 3 none.csv -- convert none.csv bad/x.csv
refused 3 none%d.flo -- convert 'none%d.flo' bad/x.csv
refused 3 clip.y4m -- convert clip.y4m bad/x.csv
refused 3 run.hash -- convert run.hash bad/x.csv
refused 3 run.hash -- compare run.csv run.hash
: >empty.csv
refused 3 empty.csv -- convert empty.csv bad/x.csv
expect 3 convert run.csv bad/x.npy --from npy
refused 3 run1.flo -- convert 'run%d.flo' bad/x.csv -b 16
if [ -w /dev/full ]; then
    for format in csv npy flo hash csv.gz; do
        "$gpume" convert run.mvf - --format $format >/dev/full 2>"$scratch/err"
        [ $? -eq 1 ] || fail "$format: /dev/full taken for success"
    done
fi
only bad
expect 2 convert
expect 2 convert run.csv
expect 2 convert run.csv x.csv y.csv
refused 2 --format x.txt -- convert run.csv x.txt
refused 2 --format xml -- convert run.csv x.csv --format xml
refused 2 --from hash -- convert run.hash x.csv --from hash
refused 2 run.csv -- convert run.csv run.csv -y
refused 2 run -- convert run.csv run.npy
refused 2 run1.flo -- convert run.csv 'run%d.flo'
expect 2 convert run.csv x.csv --vectors y.csv
refused 2 --vectors -- clip.y4m --format npy
refused 2 x.bin .csv .jsonl -- clip.y4m --vectors x.bin
refused 2 %d -- clip.y4m --vectors x.flo
expect 2 clip.y4m --vectors 'x%d%d%d.flo'
expect 2 clip.y4m --from csv
says "gpume convert"
expect 0 clip.y4m --backend cpu -q --frames 1 --vectors one.flo
cmp -s one.flo run1.flo || fail "flo: one field"
expect 3 ./convert
exit 0
