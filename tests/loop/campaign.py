"""A stretch of fast time with recurring jobs, kills and bad weather, and what must hold at its end."""

import json
import random
import sqlite3
import time
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from zoneinfo import ZoneInfo

from tests.contract.old_client import OldClient
from tests.loop.harness import STOCK_W, Box, FastClock, wait_until
from tests.loop.proxy import CLEAR, Proxy, Weather
from tests.loop.server import Server

ZONE = ZoneInfo("Europe/Stockholm")
PREPARED_IN_S = (10.0, 30.0, 90.0)
"""Real seconds in which the server starts and the jobs are registered; the controller starts after them."""
CAP_W = 500.0
POINT = {
    "schema_version": "4",
    "engine": "llama.cpp",
    "model": "qwen2.5-7b-instruct",
    "measurement_tier": "A",
    "repeat_index": 0,
    "created_at": "2026-08-01T10:00:00+00:00",
    "task": "gsm8k",
    "gpu_name": "NVIDIA H200",
    "n_items": 100,
    "n_correct": 81,
    "energy_source": "counter",
    "total_completion_tokens": 20_000,
}


def point(cap_w: float | None, duration_s: float, mean_w: float) -> dict:
    """One point of a power sweep, as deployed clients submit it."""
    energy_j = mean_w * duration_s
    figures = {"run_duration_s": duration_s, "total_joules_gpu_best": energy_j, "mean_gpu_w": mean_w}
    rates = {"pooled_tokens_per_second": 20_000 / duration_s, "joules_per_token": energy_j / 20_000}
    return POINT | figures | rates | {"power_limit_w": cap_w}


@dataclass(frozen=True)
class Job:
    """A recurring job; `by` is the wall time of its deadline, `weekday` (0 is Monday) makes it weekly."""

    name: str
    earliest: str
    deadline: str
    by: tuple[int, int]
    est: timedelta
    weekday: int | None = None

    @property
    def body(self) -> dict:
        return {
            "name": self.name,
            "framework": "command",
            "est_duration_s": self.est.total_seconds(),
            "earliest_start": self.earliest,
            "deadline": self.deadline,
            "recurrence": "daily" if self.weekday is None else "weekly",
            "nameplate_watts": 300,
        }

    def deadlines(self, begins: datetime, ends: datetime) -> list[date]:
        """Local dates of the deadlines in between; of a wall time that exists twice, the second."""
        days = (ends - begins).days + 2
        first = begins.astimezone(ZONE).date()
        return [
            day
            for n in range(days)
            if begins < self._deadline(day := first + n * timedelta(days=1)) <= ends
            and self.weekday in (None, day.weekday())
        ]

    def _deadline(self, day: date) -> datetime:
        return datetime(day.year, day.month, day.day, *self.by, tzinfo=ZONE, fold=1).astimezone(UTC)


LONG = timedelta(minutes=80)
NIGHT = Job("night", "20:00", "by 7am", (7, 0), LONG)
TWICE = Job("twice", "21:00", "by 02:30", (2, 30), LONG)
EARLY = Job("early", "22:00", "by 6am", (6, 0), LONG)
DAY = Job("day", "08:00", "by 18:00", (18, 0), LONG)
SUNDAY = Job("sunday", "sunday 01:00", "by sunday 10am", (10, 0), LONG, weekday=6)


@dataclass
class Campaign:
    """Runs once, and is asked about afterwards. Kills are spread over the time by `seed`."""

    folder: Path
    empty: Path
    begins: datetime
    ends: datetime
    factor: float
    jobs: tuple[Job, ...]
    controller_kills: int = 0
    server_kills: int = 0
    weather: Weather = CLEAR
    seed: int = 1
    work_s: float = 0.4
    moments: Counter = field(default_factory=Counter)

    def run(self) -> None:
        """On a machine so busy that the preparations outlast their time, once more with more of it."""
        assert any(self._has_lived(in_s) for in_s in PREPARED_IN_S), f"not prepared within {PREPARED_IN_S} s"

    def _has_lived(self, in_s: float) -> bool:
        self.clock = FastClock.reaching(self.begins, self.factor, in_s=in_s)
        folder = self.folder / f"prepared-in-{in_s:g}-s"
        self.server = Server(folder / "var", self.empty, self.clock.setting)
        self.box = Box(folder / "box", "", "", self.clock)
        with Proxy(self.server.port, self.seed) as self.proxy:
            try:
                self.server.start()
                self._prepare()
                if in_time := self.clock.now() < self.begins:
                    self._live()
                    self._settle()
                return in_time
            finally:
                self.box.end()
                self.server.stop()

    def _prepare(self) -> None:
        self.person = OldClient(self.server.url, "week@example.org")
        signup = {"email": self.person.email, "password": self.person.password, "timezone": str(ZONE)}
        self.person._keep(self.person.send("POST", "/auth/signup", signup))
        key = self.person.call("POST", "/api/v1/keys", {"name": "box", "scope": "all"}).body["key"]
        self.box.api_url, self.box.api_key = self.proxy.url, key
        self._calibrate()
        self.ids = {job.name: self._registered(job) for job in self.jobs}
        self.box.write_jobs(**{name: (workflow_id, self.work_s) for name, workflow_id in self.ids.items()})

    def _calibrate(self) -> None:
        """After this the server recommends a cap for the box's hardware."""
        sweep = (point(None, 300.0, 600.0), point(CAP_W, 305.0, 450.0))
        points = [measured | {"node_hash": self.box.node_hash()} for measured in sweep]
        bundle = {"schema_version": "2", "generated_at": POINT["created_at"], "suite": "calibrate", "runs": points}
        answer = self.person.call("POST", "/api/v1/bench/submissions", bundle)
        assert (answer.status, answer.body["status"]) == (201, "accepted"), answer.body
        self.box.extra_env |= {"APPLY_POWER_CAP": "true", "POWER_CAP_POLICY": "managed"}

    def _registered(self, job: Job) -> str:
        answer = self.person.call("POST", "/api/v1/workflows", job.body | {"controller_id": self.box.name})
        assert answer.status == 201, answer.body
        return answer.body["id"]

    def _live(self) -> None:
        self.clock.sleep_until(self.begins)
        self.box.start()
        self.proxy.weather = self.weather
        kills = self._kills()
        for (instant, whom), (next_instant, _) in pairwise([*kills, (self.ends, "")]):
            self.clock.sleep_until(instant)
            if whom == "server":
                self.server.kill()
                self.server.start()
            else:
                self._kill_controller(before=next_instant)
        self.clock.sleep_until(self.ends)

    def _kills(self) -> list[tuple[datetime, str]]:
        """Random moments, each in a stretch of its own, so that no night has more than its share."""
        chance = random.Random(self.seed)
        whom = ["controller"] * self.controller_kills + ["server"] * self.server_kills
        chance.shuffle(whom)
        stretch = 0.95 * (self.ends - self.begins) / max(len(whom), 1)
        return [(self.begins + (n + chance.uniform(0.1, 0.9)) * stretch, one) for n, one in enumerate(whom)]

    def _kill_controller(self, before: datetime) -> None:
        """In turn: in the middle of a job, just after the end of one (if there is one in time), at any moment."""
        wait = (self._until_a_job_runs, self._until_a_job_ends, lambda before: None)[self.box.kills % 3]
        wait(before)
        self.moments["while a job ran" if self._is_job_running() else "between jobs"] += 1
        assert self.box.is_running(), self.box.log()
        self.box.kill()
        self.box.start()

    def _until_a_job_runs(self, before: datetime) -> None:
        self._until_one_more("begin", before)
        time.sleep(random.Random(f"{self.seed} {self.box.kills}").uniform(0, self.work_s))

    def _until_a_job_ends(self, before: datetime) -> None:
        """Its record is on its way then: from the job to the spool, from there to the server."""
        self._until_one_more("end", before)
        time.sleep(random.Random(f"{self.seed} {self.box.kills}").uniform(0, 0.3))

    def _until_one_more(self, word: str, before: datetime) -> None:
        count = self._count(word)
        while self._count(word) == count and self.clock.now() < before:
            time.sleep(0.01)

    def _is_job_running(self) -> bool:
        """Whether the job that began last has not ended, well or otherwise."""
        lines = self.box.ledger_path.read_text().splitlines() if self.box.ledger_path.exists() else []
        word, _, run_id = lines[-1].split() if lines else ("", "", "")
        return word == "begin" and not (self.box.home / "state" / "logs" / f"{run_id}.exit").exists()

    def _count(self, word: str) -> int:
        return sum(times for (said, *_), times in self.box.ledger.items() if said == word)

    def _settle(self) -> None:
        """In clear weather and with everybody up, everything that waits arrives."""
        self.proxy.weather = CLEAR
        wait_until(lambda: self.box.waiting() == 0 and not self._unfinished(), 60, self._words)
        self.exit_code = self.box.stop()

    def _unfinished(self) -> list[dict]:
        return [one for one in self.occurrences if one["status"] in ("open", "running", "unreported")]

    @property
    def occurrences(self) -> list[dict]:
        """Those whose deadline lies in the campaign, as the server's database has them."""
        rows = self._rows("SELECT * FROM scheduling_occurrence")
        return [row for row in rows if self.begins < _instant(row["deadline"]) <= self.ends]

    @cached_property
    def records(self) -> list[dict]:
        return self._rows("SELECT * FROM scheduling_runrecord")

    def _rows(self, query: str) -> list[dict]:
        with closing(sqlite3.connect(f"file:{self.server.database}?mode=ro", uri=True, timeout=20)) as db:
            db.row_factory = sqlite3.Row
            return [dict(row) for row in db.execute(query)]

    def check(self) -> dict:
        """Assert that nothing was lost, nothing was done twice, and nothing was left behind; return the counts."""
        self._check_occurrences()
        self._check_runs()
        self._check_windows()
        assert (self.box.waiting(), self.box.set_aside()) == (0, [])
        assert (self.box.card_limit_w(), self.box.journal()) == (STOCK_W, []), "no cap was set, or one was left behind"
        assert self.exit_code == 0, self.box.log()
        runs = [run for run in self.records if run["occurrence_id"] in {one["id"] for one in self.occurrences}]
        return {
            "occurrences, each done once": len(self.occurrences),
            "runs": len(runs),
            "cut off and repeated": sum(run["exit_status"] != "success" for run in runs),
            "kills of the controller": dict(self.moments),
            "kills of the server": self.server.kills,
            "network": dict(self.proxy.counts),
        }

    def _check_occurrences(self) -> None:
        names = {workflow_id.replace("-", ""): name for name, workflow_id in self.ids.items()}
        found = {(names[one["workflow_id"]], one["key"]): one for one in self.occurrences}
        assert set(found) == {
            (job.name, str(day)) for job in self.jobs for day in job.deadlines(self.begins, self.ends)
        }
        undone = [one for one in self.occurrences if one["status"] != "done"]
        assert undone == [], self._words()

    def _check_runs(self) -> None:
        of_run = {run["run_id"]: run["occurrence_id"] for run in self.records}
        ledger = [(word, run_id) for (word, _, run_id) in self.box.ledger.elements()]
        begun = Counter(run_id for word, run_id in ledger if word == "begin")
        assert set(begun) <= set(of_run), "a run that began was never reported"
        assert set(begun.values()) == {1}, "a run was started twice"
        once = {one["id"]: 1 for one in self.occurrences}
        successes = Counter(run["occurrence_id"] for run in self.records if run["exit_status"] == "success")
        ended = Counter(of_run[run_id] for word, run_id in ledger if word == "end")
        assert {key: n for key, n in successes.items() if key in once} == once, self._words()
        assert {key: n for key, n in ended.items() if key in once} == once, "work was done twice" + self._words()

    def _check_windows(self) -> None:
        """Nothing begins before it may, or too late to be in time."""
        occurrences = {one["id"]: one for one in self.occurrences}
        for run in self.records:
            if one := occurrences.get(run["occurrence_id"]):
                assert one["earliest_start"] <= run["actual_start"] < one["deadline"], self._words()

    def _words(self) -> str:
        shown = ("key", "status", "reason", "attempt", "earliest_start", "deadline", "planned_start", "started_at")
        rows = [{name: one[name] for name in shown} for one in self.occurrences]
        return json.dumps(rows, indent=1) + self.box.log()[-6000:] + self.server.log()[-3000:]


def _instant(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)
