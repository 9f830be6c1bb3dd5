/** `divisi runs`: its help. What it does is loaded when it is called. */
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import { paragraphs } from "../invocation/flags.ts"
import { deleteFlags, listFlags, purgeFlags, reportFlags, resumeFlags, showFlags } from "./flags.ts"

const loaded = Effect.promise(() => import("./Runs.ts"))

const show = Command.make("show", showFlags, (input) => Effect.flatMap(loaded, (Runs) => Runs.show(input))).pipe(
  Command.withDescription("Shows what a run did so far, as `replay` does, and how it stands with it."),
  Command.withShortDescription("Show what a run did"),
  Command.withExamples([{ command: "divisi runs show 4f2a", description: "By the beginning of its id" }])
)

const resume = Command.make("resume", resumeFlags, (input) =>
  Effect.flatMap(loaded, (Runs) => Runs.resume(input))
).pipe(
  Command.withDescription(
    paragraphs(
      "Continues a run that was stopped or killed, that waits, that failed, or that reached a limit. What it has already got",
      "is not paid again; failed calls are tried again, under the limits given here. A run that was answered or refused",
      "shows its answer again, and pays nothing.",
      "",
      "It needs what it was begun with: the config, the policy and the settings; the workers are by default those that it had.",
      "Where it would ask something else than it did, it stops before it asks and says what differs.",
      "",
      "Exit codes are those of `divisi run`."
    )
  ),
  Command.withShortDescription("Go on with a run"),
  Command.withExamples([
    { command: "divisi runs resume 4f2a", description: "After Ctrl-C, a crash, or an outage of a vendor" },
    { command: "divisi runs resume 4f2a --max-cost 10", description: "Under a higher limit" },
    {
      command: "divisi runs resume 4f2a --result 0.0.0.0=42",
      description: "With the result of a tool that it waits for"
    },
    { command: "divisi runs resume 4f2a --approve 0.1.0.0", description: "With a person's word" }
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
      "Writes one page about the runs of a journal, as those of a server: what they cost, who did what and when, and how much",
      "of it was orchestration.",
      "",
      "With --against it reckons what the same tokens would have cost at one model's price, and with --alone it sets them",
      "beside the same work as one worker has done it. It holds the first words of each question, and no answers."
    )
  ),
  Command.withShortDescription("Write a page about what runs cost and who did what"),
  Command.withExamples([
    { command: "divisi runs report --newer-than 1h --against openai:gpt-5", description: "The last hour of a server" }
  ])
)

const remove = Command.make("delete", deleteFlags, (input) =>
  Effect.flatMap(loaded, (Runs) => Runs.remove(input))
).pipe(
  Command.withDescription(
    "Deletes runs for good: those that are named, or those that are old. One that goes on is kept."
  ),
  Command.withShortDescription("Delete runs"),
  Command.withExamples([{ command: "divisi runs delete --older-than 30d", description: "What nobody needs any more" }])
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
      "their ratings, and cached answers. In files, the removed content is overwritten. Runs that a process carries on stay.",
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
  Command.withDescription(
    "Lists the runs that `run --durable` keeps, the last changed first: how they stand, what they cost, and what they wait for."
  ),
  Command.withSubcommands([show, resume, report, remove, purge]),
  Command.withExamples([
    { command: "divisi runs", description: "The last twenty" },
    { command: "divisi runs --database postgres://divisi@db.example.com/divisi", description: "Those of servers" },
    { command: "divisi runs --state waiting --json", description: "Those that wait for somebody, for programs" }
  ])
)
