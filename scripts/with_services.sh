#!/bin/bash
# Run a command against PostgreSQL, Redis and RabbitMQ on this machine, instead of the bundled servers.
# TEST_DATABASE_URL, TEST_BROKER_URL and TEST_CHANNEL_URL name other servers. MONGO_URL or TEST_MONGO_URL names a MongoDB
# to use instead of the bundled server. The tests create their own database, queues and keys, and remove them afterwards.
set -eu
cd "$(dirname "$0")/.."

listens() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# Start a service unless its port answers: NAME PORT SERVICE PACKAGE VARIABLE
service_on() {
  local name=$1 port=$2 service=$3 package=$4 variable=$5
  listens "$port" && return
  if [ "$(id -u)" != 0 ]; then
    echo "$name does not answer on port $port. Start it (Debian: sudo apt-get install $package), or name one: $variable=..." >&2
    exit 1
  fi
  command -v "$service" >/dev/null 2>&1 || [ -e "/etc/init.d/$service" ] || scripts/debian_packages.sh "$package"
  listens "$port" || service "$service" start >/dev/null 2>&1 || true
  for _ in $(seq 60); do
    listens "$port" && return
    sleep 0.5
  done
  echo "$name was started and does not answer on port $port" >&2
  exit 1
}

# A URL of PostgreSQL: with its owner's login, or with a role of the tests if the owner may not log in over TCP.
database_url() {
  local url=postgres://postgres@127.0.0.1:5432/postgres
  local role=postgres://vla_arena_test:vla_arena_test@127.0.0.1:5432/postgres
  local candidate
  for candidate in "$url" "$role"; do
    may_log_in "$candidate" && echo "$candidate" && return
  done
  if [ "$(id -u)" = 0 ]; then
    runuser -u postgres -- psql -q -c "CREATE ROLE vla_arena_test LOGIN CREATEDB PASSWORD 'vla_arena_test'" >&2
    may_log_in "$role" && echo "$role" && return
  fi
  echo "PostgreSQL refuses the login at $url; name a role that may create databases: TEST_DATABASE_URL=..." >&2
  exit 1
}
may_log_in() { .venv/bin/python -c 'import psycopg, sys; psycopg.connect(sys.argv[1], connect_timeout=5).close()' "$1" 2>/dev/null; }

if [ -z "${TEST_DATABASE_URL:-}" ]; then
  service_on PostgreSQL 5432 postgresql postgresql TEST_DATABASE_URL
  TEST_DATABASE_URL=$(database_url)
fi
if [ -z "${TEST_BROKER_URL:-}" ]; then
  service_on RabbitMQ 5672 rabbitmq-server rabbitmq-server TEST_BROKER_URL
  TEST_BROKER_URL=amqp://guest:guest@127.0.0.1:5672//
fi
if [ -z "${TEST_CHANNEL_URL:-}" ]; then
  service_on Redis 6379 redis-server redis-server TEST_CHANNEL_URL
  TEST_CHANNEL_URL=redis://127.0.0.1:6379/9
fi
export DATABASE_URL=$TEST_DATABASE_URL BROKER_URL=$TEST_BROKER_URL CHANNEL_URL=$TEST_CHANNEL_URL
if [ -n "${TEST_MONGO_URL:-}" ]; then export MONGO_URL=$TEST_MONGO_URL; fi
exec "$@"
