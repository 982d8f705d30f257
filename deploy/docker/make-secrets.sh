#!/bin/sh
# Make what is missing of the secrets that docker-compose.yml mounts; what is there is kept. Losing them loses the store.
#
# usage: make-secrets.sh [FOLDER]    (default: secrets/ beside this script)
#
# The folder is open to its owner alone. The files in it are readable, since compose mounts them into containers with
# the mode that they have here, and each container has a user of its own.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
folder=${1:-$here/secrets}
umask 077
mkdir -p "$folder"
chmod 700 "$folder"
printf '*\n' > "$folder/.gitignore"

random() {
    od -An -v -N32 -tx1 /dev/urandom | tr -d ' \n'
}

store() { # NAME, content on standard input
    cat > "$folder/$1.new"
    chmod 444 "$folder/$1.new"
    mv "$folder/$1.new" "$folder/$1"
}

for key in key_captures key_releases key_keys key_matrices key_scores master_key; do
    [ -e "$folder/pratique_$key" ] || random | store "pratique_$key"
done

# The passwords of the queue belong together, and nothing is lost with them.
for user in privacy ingest attack; do
    [ -e "$folder/redis_url_$user" ] || printf 'redis://%s:%s@valkey:6379/0' "$user" "$(random)" | store "redis_url_$user"
done

grep '^user ' "$here/../redis/users.acl" | while read -r word user rules; do
    url=$folder/redis_url_$user
    if [ -e "$url" ]; then
        password=$(sed 's|^redis://[^:]*:\([0-9a-f]*\)@.*|\1|' "$url")
        rules="$rules #$(printf '%s' "$password" | sha256sum | cut -d ' ' -f 1)"
    fi
    printf '%s %s %s\n' "$word" "$user" "$rules"
done | store users.acl
