# Holds one throw-away PostgreSQL: does what it is told line by line on standard input, answers each line with `ok` or
# `failed`, and when its input ends, which the kernel sees to however the test process ended, stops the server at once
# and removes everything.
#
# Arguments: the directory of the programs, and the directory in which everything lies.
set -u
trap '' PIPE # The reader of the answers may be gone; the clean-up must still run.
programs=$1
root=$2
cd "$root" || exit 1

create() {
    "$programs/initdb" --pgdata=data --no-sync --auth=trust --username=launchway --locale=C --encoding=UTF8
}

start() {
    "$programs/pg_ctl" start --pgdata=data --wait --timeout=60 --log=log \
        --options="-F -h 127.0.0.1 -p $1 -k $root -c full_page_writes=off -c max_connections=300"
}

stop() {
    "$programs/pg_ctl" stop --pgdata=data --wait --timeout=60 --mode=immediate
}

while read -r order port; do
    if case $order in
        create) create ;;
        start) start "$port" ;;
        stop) stop ;;
        *) false ;;
    esac </dev/null >>log 2>&1; then
        echo ok
    else
        echo failed
    fi
done

if [ -e data/postmaster.pid ]; then
    stop </dev/null >>log 2>&1
fi
cd / && rm -rf "$root"
