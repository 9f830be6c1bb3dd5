/** `divisi runs`: its help. What it does is loaded when it is called. */
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import { paragraphs } from "../invocation/flags.ts"
import { deleteFlags, listFlags, purgeFlags, reportFlags, resumeFlags, showFlags } from "./flags.ts"

const loaded = Effect.promise(() => import("./Runs.ts"))

const show = Command.make("show", showFlags, (input) => Effect.flatMap(loaded, (Runs) => Runs.show(input))).pipe(
  Command.withDescription("Shows the events of a run so far, as `replay` does, and its state."),
  Command.withShortDescription("Show a run"),
  Command.withExamples([{ command: "divisi runs show 4f2a", description: "By a prefix of its id" }])
)

const resume = Command.make("resume", resumeFlags, (input) =>
  Effect.flatMap(loaded, (Runs) => Runs.resume(input))
).pipe(
  Command.withDescription(
    paragraphs(
      "Resumes a run that was stopped, killed or suspended, that failed, or that reached a limit. Received answers are not",
      "paid again; failed calls are retried, under the limits given here. An answered or refused run shows its answer",
      "again, and pays nothing.",
      "",
      "It needs the config, policy and settings of the original run; workers default to the original ones. If a call would",
      "differ from the recorded one, the run stops before the call and shows the difference.",
      "",
      "Exit codes are those of `divisi run`."
    )
  ),
  Command.withShortDescription("Resume a run"),
  Command.withExamples([
    { command: "divisi runs resume 4f2a", description: "After Ctrl-C, a crash, or an outage of a vendor" },
    { command: "divisi runs resume 4f2a --max-cost 10", description: "Under a higher limit" },
    {
      command: "divisi runs resume 4f2a --result 0.0.0.0=42",
      description: "With the result of a tool that it waits for"
    },
    { command: "divisi runs resume 4f2a --approve 0.1.0.0", description: "With an approval" }
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
      "Writes one page about the runs of a journal, for example of a server: cost, work per worker, timeline, and the share",
      "of orchestration.",
      "",
      "--against estimates the cost of the same tokens at one model's price; --alone compares with the same work done by one",
      "worker. The page has the first words of each question, and no answers."
    )
  ),
  Command.withShortDescription("Write a page about the cost of runs"),
  Command.withExamples([
    { command: "divisi runs report --newer-than 1h --against openai:gpt-5", description: "The last hour of a server" }
  ])
)

const remove = Command.make("delete", deleteFlags, (input) =>
  Effect.flatMap(loaded, (Runs) => Runs.remove(input))
).pipe(
  Command.withDescription("Deletes runs: those that are named, or old ones. Active runs are not deleted."),
  Command.withShortDescription("Delete runs"),
  Command.withExamples([{ command: "divisi runs delete --older-than 30d", description: "Runs older than 30 days" }])
)

const purge = Command.make("purge", purgeFlags, (input) =>
  Effect.flatMap(
    Effect.promise(() => import("./Purge.ts")),
    (Purge) => Purge.purge(input)
  )
).pipe(
  Command.withDescription(
    paragraphs(
      "Removes everything stored that was not changed for a retention period: runs, responses of a server, outcomes with",
      "their ratings, and cached answers. In files, the removed content is overwritten. Active runs stay.",
      "",
      "`divisi serve --keep` does the same at its start and each hour. A period under 24 hours also removes the answers of",
      "recent requests with an Idempotency-Key, which are paid again when they are repeated."
    )
  ),
  Command.withShortDescription("Remove stored content that is older than a retention period"),
  Command.withExamples([
    { command: "divisi runs purge --keep 30d --dry-run", description: "Count what is older than 30 days" },
    {
      command: "divisi runs purge --keep 30d --database postgres://divisi@db.example.com/divisi",
      description: "In Postgres"
    }
  ])
)

export const runs = Command.make("runs", listFlags, (input) => Effect.flatMap(loaded, (Runs) => Runs.list(input))).pipe(
  Command.withDescription("Lists durable runs, the last changed first: state, cost and pending calls."),
  Command.withSubcommands([show, resume, report, remove, purge]),
  Command.withExamples([
    { command: "divisi runs", description: "The last twenty" },
    { command: "divisi runs --database postgres://divisi@db.example.com/divisi", description: "Runs of servers" },
    { command: "divisi runs --state waiting --json", description: "Suspended ones, as JSON" }
  ])
)
