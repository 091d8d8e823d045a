#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# samples/cluster/slurm.sh on a Slurm of one node that this script starts: an array with a task that is killed and
# requeued, and resumed, after slurmd was killed too; its merge is that of one run; a missing part makes the merge fail.
# Needs root and Debian's slurmctld, slurmd, slurm-client and slurm-wlm-basic-plugins; installs nothing.
# Usage: slurm.sh GPUME_BINARY
. "$(dirname "$0")/../cli/common.sh"
for program in slurmctld slurmd sbatch scontrol squeue; do
    have $program || skip "$program is not installed"
done
[ "$(id -u)" -eq 0 ] || skip "slurmd needs root"
checked && skip "too slow under a checker"
scripts=$here/../../samples/cluster
GPUME=$gpume
export GPUME

node=$(hostname -s)
port=$((20000 + $$ % 20000))
mkdir state spool
cat >slurm.conf <<END
ClusterName=test
SlurmctldHost=$node(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
AuthType=auth/none
CredType=cred/none
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$PWD/state
SlurmdSpoolDir=$PWD/spool
SlurmctldPidFile=$PWD/slurmctld.pid
SlurmdPidFile=$PWD/slurmd.pid
SlurmctldLogFile=$PWD/slurmctld.log
SlurmdLogFile=$PWD/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
MpiDefault=none
ReturnToService=2
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MinJobAge=3600
KillWait=1
NodeName=$node NodeAddr=127.0.0.1 CPUs=2
PartitionName=main Nodes=ALL Default=YES
END
SLURM_CONF=$PWD/slurm.conf
export SLURM_CONF

controller= daemon=
stop() {
    scancel --quiet --state=RUNNING --state=PENDING --user=root 2>/dev/null
    sleep 1
    for process in $daemon $controller; do
        kill "$process" 2>/dev/null && wait "$process" 2>/dev/null
    done
    rm -rf "$scratch"
}
trap stop EXIT
start_daemon() {
    slurmd -D -N "$node" >>slurmd.out 2>&1 &
    daemon=$!
}
slurmctld -D >slurmctld.out 2>&1 &
controller=$!
start_daemon
pid=$controller
wait_for sh -c "sinfo -h -o %T | grep -qx 'idle'"

# state JOB: its state; COMPLETED, FAILED, RUNNING...
state() {
    scontrol show job "$1" 2>/dev/null | sed -n 's/.*JobState=\([A-Z_]*\).*/\1/p' | head -1
}
ended() {
    ! sinfo -h -o %T | grep -q drain || return 0 # nothing will go on
    case $(state "$1") in
    COMPLETED | FAILED | CANCELLED | TIMEOUT | NODE_FAIL | DEADLINE | OUT_OF_MEMORY) return 0 ;;
    esac
    return 1
}
# shown FILE TEXT
shown() {
    grep -q -- "$2" "$1" || { cat "$1" >&2; fail "$1 does not say '$2'"; }
}

# run_of PART: the process of its run, which belongs to this test.
run_of() {
    for process in /proc/[0-9]*; do
        if [ "$(readlink "$process/cwd")" = "$PWD" ] && [ "$(readlink "$process/exe")" = "$(readlink -f "$gpume")" ] &&
            tr '\0' ' ' <"$process/cmdline" | grep -q -- " -o out.parts/part-$1 "; then
            echo "${process#/proc/}"
            return 0
        fi
    done 2>/dev/null
    return 1
}

# interrupted FRAMES: an array of three tasks, of which Slurm kills the first and starts it again, and their merge. The task
# is stopped until then, as soon as it can be resumed. It fails if the task was over before.
options="-b 16 -w 48 --no-elimination --backend $engine"
interrupted() {
    rm -rf out*
    make_clip clip.y4m 320 240 8 "$1"
    jobs=$("$scripts/slurm.sh" clip.y4m 3 out $options --threads 1 -v --vectors PART/v.mvf \
        --predicted PART/p%04d.pgm) || fail "no jobs"
    array=${jobs% *}
    merge=${jobs#* }
    until [ -e out.parts/part-0/.v.mvf.gpume-state ] || [ -e out.parts/part-0/summary.json ]; do
        kill -0 "$controller" || fail "slurmctld has ended"
        sleep 0.02
    done
    if ! process=$(run_of 0) || ! kill -STOP "$process" 2>/dev/null || [ -e out.parts/part-0/summary.json ]; then
        wait_for ended "$merge"
        return 1
    fi
    # slurmd dies, while tasks run; the next one finds them.
    kill -9 "$daemon"
    wait "$daemon" 2>/dev/null
    start_daemon
    pid=$daemon
    wait_for sh -c "scontrol show slurmd | grep -q '^Actual CPUs'"
    pid=$controller
    scontrol requeue "${array}_0" || fail "the task cannot be requeued"
    # A requeued job waits two minutes, unless released.
    wait_for sh -c "scontrol show job ${array}_0 | grep -q 'JobState=PENDING'"
    scontrol update jobid="${array}_0" starttime=now
    wait_for ended "$merge"
    [ "$(state "$merge")" = COMPLETED ] || { cat out.parts/*.log >&2; fail "the merge is $(state "$merge")"; }
    grep -q 'frame pairs\? done, the last for frame' out.parts/part-0.log
}
# If the task was over before it was killed, the machine is fast, or was busy elsewhere: more frames.
frames=150
until interrupted $frames; do
    frames=$((2 * frames))
    [ $frames -lt 5000 ] || fail "the first task always ends before it is killed"
done
mkdir one
expect 0 -q clip.y4m $options -o one --vectors one/v.mvf --predicted one/p%04d.pgm
only out $(ls -A one)
for file in $(ls -A one); do
    [ "$file" = summary.json ] || cmp -s "one/$file" "out/$file" || fail "out/$file is not that of one run"
done
for key in fields first_field last_field sad_after sse_after psnr_after border; do
    [ "$(grep "\"$key\"" one/summary.json)" = "$(grep "\"$key\"" out/summary.json)" ] || fail "out/summary.json: $key"
done

# A missing part makes the merge fail.
mv out.parts/part-1 away
merge=$(sbatch --parsable --output=merge.log "$scripts/merge.sh" out.parts 2 none) || fail "no merge"
wait_for ended "$merge"
[ "$(state "$merge")" = FAILED ] || fail "the merge without a part is $(state "$merge")"
shown merge.log 'out.parts/part-1: is not a folder'
[ ! -e none ] || fail "it left its folder"

# So does a part that fails: the merge never starts, and is removed from the queue.
mv away out.parts/part-1
rm out.parts/part-1/summary.json
jobs=$("$scripts/slurm.sh" clip.y4m 3 second -b 17 --backend "$engine") || fail "no jobs"
wait_for ended "${jobs#* }"
[ "$(state "${jobs#* }")" = CANCELLED ] || fail "the merge of failed parts is $(state "${jobs#* }")"
[ ! -e second ] || fail "failed parts were merged"
exit 0
