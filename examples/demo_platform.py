"""What runs in the demo: producers, four consumers, the server with its pages, Spark and the jobs.

They begin in that order, so that something moves on the pages while Spark is still starting.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from examples.demo_consumers import consumers, make_tables
from examples.demo_views import STATUS, USERS, VIEWS, Sent, Visitors, paced
from penstock import PenstockError, Producer, open_log
from penstock.config import load_settings
from penstock.connect.mail import mail_settings
from penstock.errors import SetupError
from penstock.log.topic import TopicConfig

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from penstock.serve.readiness import Readiness
    from penstock.serve.server import HttpServer

PORT = 8080
_PORTS = 20
_PARTITIONS = 2
_HISTORY_MINUTES = 3
_HISTORY_RATE = 100
"""Views a second of the minutes before the demo's first start."""
_MOVES_EVERY = 25
_JOBS = "jobs"


@dataclass(slots=True)
class Told:
    """What there is to say of the demo; each field is written by one thread."""

    begun: float = field(default_factory=time.monotonic)
    state: str = "the log is opened"
    url: str = ""
    produced: int = 0
    failure: PenstockError | None = None
    served_after: float | None = None


class Demo:
    """The page-view platform of a project directory, for as long as it is wanted."""

    def __init__(self, project: Path, *, rate: int, port: int = PORT) -> None:
        self.project = project
        self.home = load_settings(directory=project).home
        self.told = Told()
        self._rate = rate
        self._port = port
        self._over = threading.Event()
        self._spark_is_up = threading.Event()
        self._threads: list[threading.Thread] = []
        self._readiness: Readiness | None = None

    @contextmanager
    def running(self) -> Iterator[None]:
        """Run all of it for the length of a with block, which begins when pages are served."""
        with ExitStack() as opened:
            opened.callback(self._end_threads)
            self._begin_flow()
            self.told.state = "the pages are loaded, and Spark is starting beside them"
            self._begin(_JOBS, self._run_jobs)
            opened.enter_context(self._served())
            yield
            self.told.state = "all jobs end after their batch"

    def _begin_flow(self) -> None:
        with open_log(self.home) as log:
            for topic, partitions in ((VIEWS, _PARTITIONS), (USERS, 1)):
                if topic not in log.topics():
                    config = TopicConfig(fsync="interval")
                    log.create_topic(topic, partitions=partitions, config=config)
            make_tables(log)
            self.told.produced = sum(bounds.end for bounds in log.snapshot([VIEWS]).values())
        self._begin("producer", self._produce)
        mail = mail_settings(load_settings(directory=self.project).mail)
        for name, consume in consumers(self.home, mail, self._over):
            self._begin(name, consume)

    def _produce(self) -> None:
        with open_log(self.home) as log, Producer(log) as producer:
            visitors = Visitors(seed=time.time_ns() // 1_000_000_000)
            if self.told.produced == 0:
                self._produce_history(producer, visitors)
            for turn, due in enumerate(paced(self._rate, pause=self._over.wait)):
                now = _now()
                if turn % _MOVES_EVERY == 0:
                    _send(producer, USERS, visitors.moved(at=now), now)
                for view in visitors.views(due, at=now):
                    _send(producer, VIEWS, view, now)
                self.told.produced += due

    def _produce_history(self, producer: Producer, visitors: Visitors) -> None:
        """Let the site have had visitors before: a new demo then has windows that are complete."""
        now = _now()
        begun = now - _HISTORY_MINUTES * 60_000
        for user in visitors.users(at=begun):
            _send(producer, USERS, user, begun)
        producer.flush()
        for moment in range(begun, now, 1_000):
            for view in visitors.views(_HISTORY_RATE, at=moment):
                _send(producer, VIEWS, view, moment)
            self.told.produced += _HISTORY_RATE

    @contextmanager
    def _served(self) -> Iterator[None]:
        from penstock.serve.application import application  # noqa: PLC0415  # a second of imports
        from penstock.serve.opened import opened_platform  # noqa: PLC0415
        from penstock.serve.pages.site import add_pages  # noqa: PLC0415
        from penstock.serve.server_file import ServerFile  # noqa: PLC0415
        from penstock.serve.watching import watching  # noqa: PLC0415

        place = ServerFile(self.home)
        with place.taken(), opened_platform(self.home) as platform:
            self._readiness = platform.readiness
            app = application(platform)
            add_pages(app, platform)
            with closing(_server(app, self._port)) as server, watching(self.home):
                place.write(server.url)
                self.told.url = server.url
                self.told.served_after = time.monotonic() - self.told.begun
                if self.told.state.startswith("the pages"):
                    self.told.state = "Spark is starting; the views wait in the log meanwhile"
                yield

    def _run_jobs(self) -> None:
        """Start Spark, let the jobs be those of the project, and run them."""
        from penstock.project.project import Project  # noqa: PLC0415  # seconds of imports
        from penstock.serve.background_host import BackgroundHost  # noqa: PLC0415
        from penstock.spark.session import spark_session, stop_session  # noqa: PLC0415

        settings = load_settings(directory=self.project)
        spark_session(
            master=settings.spark_master,
            driver_memory=settings.spark_driver_memory,
        )
        self._spark_is_up.set()
        try:
            if self._over.is_set():
                return
            self.told.state = "the statements and programs of the project become jobs"
            with Project(self.project, self.home) as project:
                project.settle()
                for _ in project.apply(project.plan()):
                    pass
            host = BackgroundHost(self.home, refused=self._refuse)
            if self._readiness is not None:
                self._readiness.watch(host.starting)
            host.start()
            self.told.state = "the jobs begin"
            self._follow(host.starting)
            host.stop()
        finally:
            stop_session()

    def _follow(self, starting: Callable[[], object]) -> None:
        while not self._over.wait(0.5):
            if not starting() and self.told.state == "the jobs begin":
                self.told.state = "everything runs"

    def _begin(self, name: str, work: Callable[[], None]) -> None:
        thread = threading.Thread(target=lambda: self._guarded(work), name=name, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _guarded(self, work: Callable[[], None]) -> None:
        try:
            work()
        except PenstockError as error:
            self._refuse(error)
        except Exception as error:  # noqa: BLE001  # the end of one part is the end of all
            told = f"{threading.current_thread().name} ended with {type(error).__name__}: {error}"
            self._refuse(PenstockError("UNEXPECTED", told, hint="This is a defect of Penstock."))

    def _refuse(self, error: PenstockError) -> None:
        self.told.failure = self.told.failure or error
        self._over.set()

    def _end_threads(self) -> None:
        self._over.set()
        for thread in self._threads:
            # A Spark that is still starting is left to end with this process.
            if thread.name != _JOBS or self._spark_is_up.is_set():
                thread.join()

    def await_end(self, interrupted: threading.Event, seconds: float) -> None:
        """Wait until it is interrupted, the time is over (0: it never is), or a part has failed."""
        until = self.told.begun + seconds if seconds else float("inf")
        while not (interrupted.wait(0.1) or self._over.is_set() or time.monotonic() >= until):
            pass


def _server(app: ASGIApp, port: int) -> HttpServer:
    """Serve on a port, or on the next one that is free."""
    from penstock.serve.server import HttpServer  # noqa: PLC0415

    for chosen in range(port, port + _PORTS if port else 0):
        with suppress(SetupError):
            return HttpServer(app, port=chosen)
    return HttpServer(app)


def _send(producer: Producer, topic: str, record: Sent, at: int) -> None:
    headers = ((STATUS, record.status),) if topic == VIEWS else ()
    producer.send(topic, record.value, key=record.key, timestamp=at, headers=headers)


def _now() -> int:
    return time.time_ns() // 1_000_000
