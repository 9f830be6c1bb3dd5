/** Defines `divisi runs` with its help. The implementation is loaded on demand. */
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import { paragraphs } from "../invocation/flags.ts"
import {
  compareFlags,
  deleteFlags,
  forkFlags,
  listFlags,
  purgeFlags,
  reportFlags,
  resumeFlags,
  showFlags
} from "./flags.ts"

const loaded = Effect.promise(() => import("./Runs.ts"))

const show = Command.make("show", showFlags, (input) => Effect.flatMap(loaded, (Runs) => Runs.show(input))).pipe(
  Command.withDescription("Show the state of a run and its events so far, in the same format as `divisi replay`."),
  Command.withShortDescription("Show a run"),
  Command.withExamples([{ command: "divisi runs show 4f2a", description: "Show a run by id prefix" }])
)

const resume = Command.make("resume", resumeFlags, (input) =>
  Effect.flatMap(loaded, (Runs) => Runs.resume(input))
).pipe(
  Command.withDescription(
    paragraphs(
      "Resume a run that was interrupted, killed or suspended, that failed, or that reached a limit. Answers already",
      "received are not paid for again; failed calls are retried within the limits of this command. If the run has already",
      "ended with an answer or a refusal, its result is printed again at no cost.",
      "",
      "Pass the same config, policy and settings as for the original run. --pool is not needed: the run's own workers are",
      "the default. If a call would differ from the recorded one, the run stops before the call and shows the difference.",
      "",
      "The exit codes are the same as for `divisi run`."
    )
  ),
  Command.withShortDescription("Resume a run"),
  Command.withExamples([
    { command: "divisi runs resume 4f2a", description: "Resume after Ctrl-C, a crash or a vendor outage" },
    { command: "divisi runs resume 4f2a --max-cost 10", description: "Resume with a higher limit" },
    {
      command: "divisi runs resume 4f2a --result 0.0.0.0=42",
      description: "Supply the result of a pending tool call"
    },
    { command: "divisi runs resume 4f2a --approve 0.1.0.0", description: "Approve a pending call" }
  ])
)

const fork = Command.make("fork", forkFlags, (input) => Effect.flatMap(loaded, (Runs) => Runs.fork(input))).pipe(
  Command.withDescription(
    paragraphs(
      "Start a new run from a step of an existing one, with a different answer, worker or subtask for this step, or a",
      "different policy for later rounds. Earlier steps, and steps that do not depend on it, are not paid for again.",
      "",
      "The workers of the existing run are the default. The exit codes are the same as for `divisi run`."
    )
  ),
  Command.withShortDescription("Start a new run from a step of an existing one"),
  Command.withExamples([
    {
      command: "divisi runs fork 4f2a --at 0.2",
      description: "Repeat step 0.2 and everything that depends on it"
    },
    { command: 'divisi runs fork 4f2a --at 0.1 --answer "It is 42."', description: "Use another answer" },
    { command: "divisi runs fork 4f2a --at 0.2 --worker openai:gpt-6.1-sol", description: "Use another worker" }
  ])
)

const compare = Command.make("compare", compareFlags, (input) =>
  Effect.flatMap(
    Effect.promise(() => import("./Compare.ts")),
    (Compare) => Compare.compare(input)
  )
).pipe(
  Command.withDescription(
    paragraphs(
      "Compare two runs: their answers, cost, time and tokens, and the steps in which they differ. If you pass only",
      "a fork, it is compared with its original run. Cached answers, and answers reused from the original run, cost nothing,",
      "so the cost of a fork covers only its own calls."
    )
  ),
  Command.withShortDescription("Compare two runs, or a fork with its original"),
  Command.withExamples([
    { command: "divisi runs compare 9c10", description: "Compare a fork with its original run" },
    { command: "divisi runs compare 4f2a 9c10", description: "Compare two runs" }
  ])
)

const report = Command.make("report", reportFlags, (input) =>
  Effect.flatMap(
    Effect.promise(() => import("./Report.ts")),
    (Report) => Report.write(input)
  )
).pipe(
  Command.withDescription(
    paragraphs(
      "Write a one-page report on the runs in a journal, such as a server's: cost, work per worker, timeline, and how much",
      "of the cost was planning and other orchestration.",
      "",
      "--against estimates the cost of the same tokens at one model's price. --alone compares the runs with a journal in which",
      "one worker did the same work. The page contains the first words of each question, but no answers."
    )
  ),
  Command.withShortDescription("Write a report on the cost of runs"),
  Command.withExamples([
    {
      command: "divisi runs report --newer-than 1h --against openai:gpt-6.1-sol",
      description: "Report on the runs of the last hour"
    }
  ])
)

const remove = Command.make("delete", deleteFlags, (input) =>
  Effect.flatMap(loaded, (Runs) => Runs.remove(input))
).pipe(
  Command.withDescription(
    paragraphs(
      "Delete runs by id or by age, or delete the oldest runs until the rest fit a size limit. Active runs are not deleted.",
      "To also delete other stored data, such as responses, outcomes and cached answers, use `divisi runs purge`."
    )
  ),
  Command.withShortDescription("Delete runs"),
  Command.withExamples([
    { command: "divisi runs delete --older-than 30d", description: "Delete runs older than 30 days" }
  ])
)

const purge = Command.make("purge", purgeFlags, (input) =>
  Effect.flatMap(
    Effect.promise(() => import("./Purge.ts")),
    (Purge) => Purge.purge(input)
  )
).pipe(
  Command.withDescription(
    paragraphs(
      "Delete stored data that has not changed within a retention period: runs, server responses, outcomes with their",
      "ratings, and cached answers. In files, deleted content is overwritten. Active runs are not deleted.",
      "",
      "`divisi serve --keep` does the same on startup and hourly. A period under 24 hours also deletes saved answers to",
      "requests with an Idempotency-Key, so a repeated request is paid for again."
    )
  ),
  Command.withShortDescription("Delete stored data older than a retention period"),
  Command.withExamples([
    { command: "divisi runs purge --keep 30d --dry-run", description: "Count data older than 30 days" },
    {
      command: "divisi runs purge --keep 30d --database postgres://divisi@db.example.com/divisi",
      description: "Delete data in Postgres"
    }
  ])
)

export const runs = Command.make("runs", listFlags, (input) => Effect.flatMap(loaded, (Runs) => Runs.list(input))).pipe(
  Command.withDescription("List durable runs, most recently changed first, with state, cost and pending calls."),
  Command.withSubcommands([show, resume, fork, compare, report, remove, purge]),
  Command.withExamples([
    { command: "divisi runs", description: "List the twenty most recent runs" },
    {
      command: "divisi runs --database postgres://divisi@db.example.com/divisi",
      description: "List the runs stored by servers"
    },
    {
      command: "divisi runs --state waiting --json",
      description: "List suspended runs as JSON"
    }
  ])
)
