# One image for web, worker, beat and `prepare`: which one a container is, its command says (compose.yaml).
# Built in steps, so that compilers, Node and sources of packages stay behind. Build it with
#   docker build --build-arg PIP_EXTRA_INDEX_URL=<PyTorch's CPU index, see pytorch.org> -t vla-arena .
# Without the argument PyTorch comes with its packages for graphics cards, as a worker on a GPU wants it. Voice battles need
# --build-arg SPEECH=yes.

FROM node:20-bookworm-slim AS pages
WORKDIR /arena/frontend
COPY frontend/package.json frontend/package-lock.json ./
RUN npm ci --no-audit --no-fund --loglevel=error
COPY frontend ./
RUN npm run build --silent

FROM python:3.11-slim-bookworm AS build
ARG PIP_EXTRA_INDEX_URL=""
ENV PIP_EXTRA_INDEX_URL=$PIP_EXTRA_INDEX_URL PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PYTHONDONTWRITEBYTECODE=1
# No versions: they are those of the base image's Debian release.
# hadolint ignore=DL3008
RUN apt-get update && apt-get install -y --no-install-recommends libosmesa6 && rm -rf /var/lib/apt/lists/*
WORKDIR /arena
RUN python -m venv .venv
COPY requirements/locked requirements/locked
COPY scripts/install_torch.sh scripts/
RUN .venv/bin/pip install -q --require-hashes --no-deps -r requirements/locked/base.txt && scripts/install_torch.sh
ARG SPEECH=""
RUN if [ "$SPEECH" = yes ]; then .venv/bin/pip install -q --require-hashes --no-deps -r requirements/locked/voice.txt; fi
COPY . .
COPY --from=pages /arena/static/dist static/dist
RUN .venv/bin/python scripts/fetch_assets.py \
  && .venv/bin/python manage.py translations compile \
  && .venv/bin/python manage.py build_scenes \
  && .venv/bin/python manage.py collectstatic --noinput --verbosity 0 \
  && rm -rf frontend tests var \
  && .venv/bin/python -m compileall -q --invalidation-mode unchecked-hash -x '/\.venv/' .

FROM python:3.11-slim-bookworm
# hadolint ignore=DL3008
RUN apt-get update && apt-get install -y --no-install-recommends libosmesa6 && rm -rf /var/lib/apt/lists/* \
  && useradd --system --uid 10001 --home-dir /tmp --shell /usr/sbin/nologin arena
COPY --from=build /arena /arena
RUN mkdir /dumps /voice && chown 10001 /dumps /voice
WORKDIR /arena
# Nothing is written but /tmp: rows, episodes and queues live on other servers, secrets come from the environment.
ENV PATH=/arena/.venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 ARENA_DATA=/tmp/arena \
  MUJOCO_GL=osmesa LP_NUM_THREADS=0 OMP_NUM_THREADS=1 CELERY_SKIP_CHECKS=1
USER 10001
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
  CMD ["python", "-c", "import urllib.request; urllib.request.urlopen(urllib.request.Request('http://127.0.0.1:8000/api/health/ready', headers={'Host': 'localhost'}), timeout=4)"]
CMD ["daphne", "--bind", "0.0.0.0", "--port", "8000", "--proxy-headers", "--no-server-name", "--verbosity", "0", "vlaarena.asgi:application"]
