/**
 * `divisi gym verifiers`: generates a Python package that exposes the gym as an environment for Prime Intellect's
 * verifiers (0.4, `verifiers.v1`), on which prime-rl trains. It obtains tasks and rewards from `divisi gym
 * environment`.
 */
import { existsSync } from "node:fs"
import path from "node:path"
import { WholeFile } from "@divisi/files"
import * as Effect from "effect/Effect"
import manifest from "../../package.json" with { type: "json" }
import { type Failure, failed, usage } from "../invocation/Failure.ts"
import type { VerifiersInput } from "./flags.ts"

const project = `[project]
name = "divisi-gym"
version = "${manifest.version.replace(/-.*/, "")}"
description = "The gym of Divisi as an environment of verifiers."
requires-python = ">=3.11"
dependencies = ["verifiers>=0.4"]

[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[tool.hatch.build.targets.wheel]
packages = ["divisi_gym"]
`

const index = `from divisi_gym.taskset import DivisiGymTaskset

__all__ = ["DivisiGymTaskset"]
`

const taskset = `"""The gym of Divisi: tasks with exact answers, and rewards for plans or for answers."""

import asyncio
import json
import os
import shlex
import shutil
import subprocess
import threading
from typing import Any, Literal

import verifiers.v1 as vf


class Gym:
    """A process of \`divisi gym environment\`, asked over JSON lines, one request at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._id = 0

    def _start(self) -> subprocess.Popen[str]:
        command = shlex.split(os.environ.get("DIVISI_COMMAND", "divisi"))
        if shutil.which(command[0]) is None:
            raise RuntimeError(
                f"{command[0]} is not installed: npm install --global @divisi/cli, or name it in DIVISI_COMMAND"
            )
        return subprocess.Popen(
            [*command, "gym", "environment"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )

    def ask(self, **request: Any) -> dict[str, Any]:
        with self._lock:
            if self._process is None or self._process.poll() is not None:
                self._process = self._start()
            self._id += 1
            assert self._process.stdin is not None and self._process.stdout is not None
            self._process.stdin.write(json.dumps({"id": self._id, **request}) + "\\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        if line == "":
            raise RuntimeError("divisi gym environment ended without an answer")
        answer = json.loads(line)
        if "error" in answer:
            raise RuntimeError(f"divisi gym environment: {answer['error']}")
        return answer


gym = Gym()


class DivisiGymData(vf.TaskData):
    question: str
    reference: str
    family: str | None = None


class DivisiGymTaskConfig(vf.TaskConfig):
    mode: Literal["conductor", "answer"] = "conductor"
    """conductor: the completion is a plan, carried out by the gym's workers, with the paper's reward (0, 0.5, 1);
    answer: the completion is the answer, with the reward 0 or 1."""


class DivisiGymTask(vf.Task[DivisiGymData, vf.State, DivisiGymTaskConfig]):
    @vf.reward(weight=1.0)
    async def reward(self, trace: vf.Trace) -> float:
        graded = await asyncio.to_thread(
            gym.ask,
            op="grade",
            mode=self.config.mode,
            question=self.data.question,
            reference=self.data.reference,
            completion=trace.last_reply,
        )
        trace.info["divisi"] = {"result": graded["result"], "answer": graded["answer"]}
        return float(graded["reward"])


class DivisiGymConfig(vf.TasksetConfig):
    num_tasks: int = 1000
    split: Literal["train", "validation", "test"] = "train"
    seed: int = 0
    family: str | None = None
    task: DivisiGymTaskConfig = DivisiGymTaskConfig()


class DivisiGymTaskset(vf.Taskset[DivisiGymTask, DivisiGymConfig]):
    def load(self) -> list[DivisiGymTask]:
        config = self.config
        answer = gym.ask(
            op="tasks",
            split=config.split,
            count=config.num_tasks,
            seed=config.seed,
            family=config.family,
            mode=config.task.mode,
        )
        return [DivisiGymTask(self._data(row), config.task) for row in answer["tasks"]]

    @staticmethod
    def _data(row: dict[str, Any]) -> DivisiGymData:
        system = [m["content"] for m in row["messages"] if m["role"] == "system"]
        user = [m["content"] for m in row["messages"] if m["role"] == "user"]
        return DivisiGymData(
            id=row["id"],
            system_prompt="\\n\\n".join(system) or None,
            prompt="\\n\\n".join(user),
            question=row["question"],
            reference=row["reference"],
            family=row["family"],
        )
`

const readme = `# The gym of Divisi for verifiers

Written by \`divisi gym verifiers\`. It needs \`divisi\` on the PATH, or in \`DIVISI_COMMAND\`.

    uv pip install -e .
    uv run vf-eval divisi-gym -n 3

With \`--env.taskset.task.mode answer\` the model answers by itself; by default it writes a plan, which the gym's workers carry out.
`

const files: Readonly<Record<string, string>> = {
  "pyproject.toml": project,
  "README.md": readme,
  "divisi_gym/__init__.py": index,
  "divisi_gym/taskset.py": taskset
}

/** Writes the package to a new folder. */
export const write = ({ folder }: VerifiersInput): Effect.Effect<void, Failure> =>
  Effect.gen(function* () {
    if (existsSync(folder)) return yield* usage(`"${folder}" already exists. Choose another folder.`)
    yield* Effect.mapError(
      Effect.forEach(
        Object.entries(files),
        ([name, text]) =>
          Effect.andThen(
            WholeFile.makeFolder(path.join(folder, path.dirname(name))),
            WholeFile.write(path.join(folder, name), text)
          ),
        { discard: true }
      ),
      ({ message }) => failed(message)
    )
    process.stderr.write(`Wrote the package divisi-gym. Install it with: uv pip install -e ${folder}\n`)
  })
