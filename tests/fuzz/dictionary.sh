#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Prints the dictionary of a fuzz target, in libFuzzer's form; nothing if it has none.
# Usage: dictionary.sh TARGET
set -eu
here=$(dirname "$0")
case ${1:?usage: dictionary.sh TARGET} in
merge | state) cat "$here/dictionaries/json.dict" ;;
options) # the options of all commands, from the list of what is promised
    cut -d' ' -f2- "$here/../promised/options.txt" | tr ' |' '\n\n' | sort -u | sed '/["\\]/d; /./!d; s/.*/"&"/'
    ;;
sort | tables | y4m) cat "$here/dictionaries/$1.dict" ;;
esac
