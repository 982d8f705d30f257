#!/bin/sh
# Change the storage keys and the master key in a folder of secrets, in three steps with a restart after each.
#
# usage: rotate-secrets.sh add|first|drop [FOLDER]    (default: secrets/ beside this script)
#
#   add     a fresh key behind the one that is there: from the restart on every process opens what it wraps
#   first   the fresh key before the other: from the restart on it wraps. Then: python -m pratique_privacy rekey
#   drop    the first key alone, once rekey has found nothing left that another key wraps
set -eu

here=$(cd "$(dirname "$0")" && pwd)
step=${1:-}
folder=${2:-$here/secrets}
umask 077

fresh() {
    od -An -v -N32 -tx1 /dev/urandom | tr -d ' \n'
}

# A comma stands before a key that follows, a space before one that is on its way out: a step done twice changes nothing.
for key in key_captures key_releases key_keys key_matrices key_scores master_key; do
    file=$folder/pratique_$key
    now=$(cat "$file")
    case $step:$now in
        add:*[,\ ]*) next=$now ;;
        add:*) next=$now,$(fresh) ;;
        first:*,*) next="${now#*,} ${now%%,*}" ;;
        first:*) next=$now ;;
        drop:*) next=${now%%[, ]*} ;;
        *) sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
    esac
    [ "$next" = "$now" ] && continue
    printf '%s' "$next" > "$file.new"
    chmod 444 "$file.new"
    mv "$file.new" "$file"
done
