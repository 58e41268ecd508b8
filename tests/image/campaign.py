"""`make test-image`: the built image, deployed. Its web, worker and beat run read-only and unprivileged against
PostgreSQL, Redis and RabbitMQ; nginx ends TLS in front, and Prometheus scrapes beside. A visitor plays a battle through
all of it. Needs root, and `make image` before.

MongoDB's own server is not in Debian: the bundled server of its protocol takes its place.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import websocket
import yaml

from tests.image.containers import BASE_DIR, Container, Image
from tests.ports import free_port
from tests.visitor import Visitor
from vlaarena import bundled

HOST = "vla-arena.test"  # a public name, as a site with TLS has to have; here it means this machine
INSTRUCTION = "put the red cube on the left plate"
READY_S = float(os.environ.get("READY_S", "180"))  # more on a busy machine
WRITES = "touch /arena/x /etc/x /x 2>/dev/null && exit 1; touch /tmp/x && id -u && grep CapEff /proc/self/status"


def main() -> int:
    if os.geteuid():
        raise SystemExit("make test-image needs root: it makes a user and a virtual host of the services")
    resolve_here()
    with tempfile.TemporaryDirectory(prefix="vla-arena-image-") as folder, contextlib.ExitStack() as stack:
        Path(folder).chmod(0o755)
        deployment = Deployment(Path(folder), stack)
        print(json.dumps(deployment.play(), indent=1))
    return 0


class Deployment:
    """Everything is started by `play`, and stopped when `stack` closes."""

    def __init__(self, folder: Path, stack: contextlib.ExitStack) -> None:
        self.folder, self.stack, self.image = folder, stack, Image()
        self.name = f"vla_arena_image_{secrets.token_hex(4)}"
        self.password, self.token = secrets.token_hex(16), secrets.token_hex(16)
        self.web_port, self.tls_port, self.prometheus_port = free_port(), free_port(), free_port()
        self.url = f"https://{HOST}:{self.tls_port}"

    def play(self) -> dict[str, Any]:
        promtool("check", "rules", "deploy/prometheus/alarms.yml")
        environment = self.services()
        services = yaml.safe_load((BASE_DIR / "compose.yaml").read_text())["services"]
        confined = self.image.run(["sh", "-c", WRITES], environment, self.folder / "confined.log").split()
        assert confined == ["10001", "CapEff:", "0" * 16], confined
        prepared = self.timed(lambda: self.image.run(services["prepare"]["command"], environment, self.log("prepare")))
        command = [str(self.web_port) if word == "8000" else word for word in self.image.command]
        containers = {"web": self.image.start(command, environment, self.log("web"))}
        for name in ("worker", "drawing", "beat"):
            containers[name] = self.image.start(services[name]["command"], environment, self.log(name))
        for each in containers.values():
            self.stack.callback(each.stop)
        context = self.proxy()
        web_s = self.timed(lambda: self.until(lambda: self.is_ready(context), containers))
        worker_s = web_s + self.timed(lambda: self.until(lambda: self.hosts_policies(context), containers))
        self.prometheus()
        seconds = self.timed(lambda: self.battle(context))
        self.until(self.is_scraped, containers)
        return {
            "image_mb": self.image.size_mb,
            "prepare_s": round(prepared, 1),
            "web_ready_s": round(web_s, 1),
            "policies_hosted_s": round(worker_s, 1),
            "battle_s": round(seconds, 1),
            "memory_mb": {name: round(each.memory_mb) for name, each in containers.items()},
            "load": round(os.getloadavg()[0], 1),
        }

    def log(self, name: str) -> Path:
        return self.folder / f"{name}.log"

    @staticmethod
    def timed(work: Callable[[], object]) -> float:
        before = time.monotonic()
        work()
        return time.monotonic() - before

    def until(self, condition: Callable[[], bool], containers: dict[str, Container]) -> None:
        deadline = time.monotonic() + READY_S
        while not condition():
            for each in containers.values():
                each.check()
            if time.monotonic() > deadline:
                logs = "\n".join(f"{name}:\n{each.log.read_text()[-1500:]}" for name, each in containers.items())
                raise SystemExit(f"{condition.__name__} was not true within {READY_S:.0f} s\n{logs}")
            time.sleep(0.3)

    def services(self) -> dict[str, str]:
        """Accounts of this run on the services of this machine; answers the environment of the image's commands."""
        return {
            "ARENA_HTTPS": "yes",
            "ARENA_SECRET_KEY": secrets.token_urlsafe(48),
            "ARENA_HOSTS": f"{HOST},localhost,127.0.0.1",
            "ARENA_ORIGINS": self.url,
            "ARENA_PROXIES": "1",
            "ARENA_LOG_FORMAT": "json",
            "ARENA_METRICS_TOKEN": self.token,
            "ARENA_WORKER_POLICIES": "*,-openvla-7b,-octo-base",
            "DATABASE_URL": self.database(),
            "BROKER_URL": self.broker(),
            **self.redis(),
            "MONGO_URL": self.mongo(),
            "MONGO_DATABASE": self.name,
        }

    def database(self) -> str:
        admin = os.environ["DATABASE_URL"]
        with psycopg.connect(admin, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {self.name}")
        self.stack.callback(self._drop_database, admin)
        parts = urllib.parse.urlsplit(admin)
        return parts._replace(path=f"/{self.name}").geturl()

    def _drop_database(self, admin: str) -> None:
        with psycopg.connect(admin, autocommit=True) as connection:
            connection.execute(f"DROP DATABASE IF EXISTS {self.name} WITH (FORCE)")

    def broker(self) -> str:
        rabbit("add_user", self.name, self.password)
        self.stack.callback(rabbit, "delete_user", self.name)
        rabbit("add_vhost", self.name)
        self.stack.callback(rabbit, "delete_vhost", self.name)
        rabbit("set_permissions", "-p", self.name, self.name, ".*", ".*", ".*")
        return f"amqp://{self.name}:{self.password}@127.0.0.1:5672/{self.name}"

    def redis(self) -> dict[str, str]:
        port = free_port()
        options = ["--bind", "127.0.0.1", "--requirepass", self.password, "--save", "", "--dir", str(self.folder)]
        self.server(["redis-server", "--port", str(port), *options], "redis", port)
        address = f"redis://:{self.password}@127.0.0.1:{port}"
        return {"CHANNEL_URL": f"{address}/1", "CACHE_URL": f"{address}/2"}

    def mongo(self) -> str:
        port = free_port()
        command = bundled.secantus_command(self.folder / "mongo", port, self.password)
        self.server(list(map(str, command)), "mongo", port)
        return bundled.mongo_url(port, self.password)

    def server(self, command: list[str], name: str, port: int) -> None:
        with self.log(name).open("wb") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        self.stack.callback(process.wait)
        self.stack.callback(process.terminate)
        if not bundled.wait_for(port):
            raise SystemExit(f"{name} does not answer:\n{self.log(name).read_text()[-2000:]}")

    def proxy(self) -> ssl.SSLContext:
        """nginx with the configuration that is shipped, and a certificate of its own."""
        certificate, key = self.folder / "fullchain.pem", self.folder / "privkey.pem"
        about = ["-subj", f"/CN={HOST}", "-addext", f"subjectAltName=DNS:{HOST}"]
        made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *about]
        subprocess.run([*made, "-out", str(certificate), "-keyout", str(key)], check=True, capture_output=True)
        site = (BASE_DIR / "deploy" / "nginx" / "arena.conf").read_text()
        for old, new in {
            "web:8000": f"127.0.0.1:{self.web_port}",
            "listen 443 ssl": f"listen 127.0.0.1:{self.tls_port} ssl",
            "arena.example.org": HOST,
            "/etc/ssl/arena/": f"{self.folder}/",
        }.items():
            assert old in site, f"deploy/nginx/arena.conf has no {old}"
            site = site.replace(old, new)
        paths = "".join(
            f"{kind}_temp_path {self.folder}/nginx-{kind};\n"
            for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        main = f"daemon off; pid {self.folder}/nginx.pid; error_log {self.log('nginx')};\nevents {{}}\n"
        config = self.folder / "nginx.conf"
        config.write_text(f"{main}http {{\naccess_log off;\n{paths}{site}}}\n")
        self.server([shutil.which("nginx") or "/usr/sbin/nginx", "-c", str(config)], "nginx-start", self.tls_port)
        return ssl.create_default_context(cafile=str(certificate))

    def prometheus(self) -> None:
        """With the configuration that is shipped, whose target and token are those of this run."""
        (self.folder / "metrics_token").write_text(self.token)
        text = (BASE_DIR / "deploy" / "prometheus" / "prometheus.yml").read_text()
        for old, new in {
            "web:8000": f"127.0.0.1:{self.web_port}",
            "/run/secrets/metrics_token": f"{self.folder}/metrics_token",
            "scrape_interval: 15s": "scrape_interval: 2s",
        }.items():
            assert old in text, f"deploy/prometheus/prometheus.yml has no {old}"
            text = text.replace(old, new)
        config = self.folder / "prometheus.yml"
        config.write_text(text)
        shutil.copy(BASE_DIR / "deploy" / "prometheus" / "alarms.yml", self.folder)
        promtool("check", "config", str(config))
        address = f"127.0.0.1:{self.prometheus_port}"
        options = [f"--storage.tsdb.path={self.folder}/tsdb", f"--web.listen-address={address}"]
        self.server(["prometheus", f"--config.file={config}", *options], "prometheus", self.prometheus_port)

    def is_ready(self, context: ssl.SSLContext) -> bool:
        try:
            return self.status_of("/api/health/ready", context) == 200
        except OSError:
            return False

    def status_of(self, path: str, context: ssl.SSLContext) -> int:
        try:
            with urllib.request.urlopen(self.url + path, context=context, timeout=5) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as error:
            return error.code

    def hosts_policies(self, context: ssl.SSLContext) -> bool:
        """Whether every part lives, and there are policies to play with."""
        visitor = SecureVisitor(self.url, context)
        status, _ = visitor.get("/api/health")
        return (
            status == 200 and visitor.post("/api/sessions/init", {"robot_id": "widowx", "scene_id": "table"})[0] == 201
        )

    def battle(self, context: ssl.SSLContext) -> None:
        """A turn, watched through the socket, and a vote."""
        visitor = SecureVisitor(self.url, context)
        battle_id = visitor.open_battle()
        cookies = "; ".join(f"{cookie.name}={cookie.value}" for cookie in visitor.cookies)
        address = f"{self.url.replace('https', 'wss')}/ws/battles/{battle_id}/"
        options = {"context": context}
        feed = websocket.create_connection(address, cookie=cookies, origin=self.url, sslopt=options, timeout=60)
        assert json.loads(feed.recv())["type"] == "snapshot"
        turn_id = visitor.send_turn(battle_id, INSTRUCTION)
        types = list(_until_finished(feed))
        feed.close()
        assert types.count("rollout.frames") > 1, types
        assert visitor.wait_for_turn(turn_id)["status"] == "completed"
        status, answer = visitor.post("/api/votes", {"battle_id": battle_id, "vote": "left_better"})
        assert status == 201, answer
        assert "???" not in answer["revealed_models"].values(), answer
        assert self.status_of("/metrics", context) == 404, "the proxy shows the metrics to visitors"

    def is_scraped(self) -> bool:
        """Whether Prometheus has seen the web process, and the requests of the battle."""
        requests = self.asked('sum(arena_requests_total{job="vla-arena"})')
        return self.asked('up{job="vla-arena"}') == 1.0 and (requests or 0.0) > 3.0

    def asked(self, query: str) -> float | None:
        words = urllib.parse.urlencode({"query": query})
        with urllib.request.urlopen(f"http://127.0.0.1:{self.prometheus_port}/api/v1/query?{words}") as answer:
            found = json.load(answer)["data"]["result"]
        return float(found[0]["value"][1]) if found else None


class SecureVisitor(Visitor):
    """A visitor who comes through TLS."""

    def __init__(self, url: str, context: ssl.SSLContext) -> None:
        super().__init__(url)
        cookies = urllib.request.HTTPCookieProcessor(self.cookies)
        self._opener = urllib.request.build_opener(cookies, urllib.request.HTTPSHandler(context=context))


def _until_finished(feed: websocket.WebSocket) -> Iterator[str]:
    while True:
        event = json.loads(feed.recv())
        yield event["type"]
        if event["type"] == "turn.finished":
            assert event["status"] == "completed", event
            return


def resolve_here() -> None:
    """Let this process find the site's name on this machine, without a proxy and without a line in /etc/hosts."""
    resolve = socket.getaddrinfo

    def found(host: Any, *rest: Any, **named: Any) -> Any:
        return resolve("127.0.0.1" if host == HOST else host, *rest, **named)

    socket.getaddrinfo = found
    for name in ("no_proxy", "NO_PROXY"):
        os.environ[name] = ",".join(filter(None, [os.environ.get(name), HOST, "127.0.0.1"]))


def promtool(*arguments: str) -> None:
    done = subprocess.run(["promtool", *arguments], cwd=BASE_DIR, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"promtool {' '.join(arguments)}:\n{done.stdout}{done.stderr}")


def rabbit(*arguments: str) -> None:
    subprocess.run(["rabbitmqctl", "-q", *arguments], check=True, capture_output=True)


if __name__ == "__main__":
    sys.exit(main())
