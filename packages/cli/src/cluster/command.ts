/** Defines `divisi cluster` with its help. The implementation is loaded on demand. */
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import { paragraphs } from "../invocation/flags.ts"
import { drainFlags, placeFlags, purgeFlags, runFlags, statusFlags, submitFlags, workFlags } from "./flags.ts"

const operations = Effect.promise(() => import("./Operate.ts"))
const runs = Effect.promise(() => import("./ClusterRun.ts"))

const work = Command.make("work", workFlags, (input) => Effect.flatMap(runs, (Runs) => Runs.work(input))).pipe(
  Command.withDescription(
    paragraphs(
      "Execute the cluster's runs with the team from the config until stopped. All servers need the same config.",
      "",
      "On SIGTERM, Ctrl-C or `divisi cluster drain`, the server makes no new calls, waits for calls in flight, and hands",
      "its runs over to the other servers."
    )
  ),
  Command.withShortDescription("Execute runs"),
  Command.withExamples([
    { command: "divisi cluster work --address 10.0.0.7:9100 --max-cost 1", description: "Limit the cost per run" }
  ])
)

const submit = Command.make("submit", submitFlags, (input) => Effect.flatMap(runs, (Runs) => Runs.submit(input))).pipe(
  Command.withDescription("Submit a run and print its id. One of the servers executes it."),
  Command.withShortDescription("Submit a run"),
  Command.withExamples([{ command: 'divisi cluster submit "2+2" --follow', description: "Wait for the answer" }])
)

const follow = Command.make("follow", runFlags, (input) => Effect.flatMap(runs, (Runs) => Runs.follow(input))).pipe(
  Command.withDescription("Print the journal of a run as JSON Lines, and follow it until the run ends."),
  Command.withShortDescription("Follow a run")
)

const cancel = Command.make("cancel", runFlags, (input) => Effect.flatMap(runs, (Runs) => Runs.cancel(input))).pipe(
  Command.withDescription("Cancel a run. No further calls are made."),
  Command.withShortDescription("Cancel a run")
)

const status = Command.make("status", statusFlags, (input) =>
  Effect.flatMap(operations, (Operate) => Operate.status(input))
).pipe(
  Command.withDescription(
    "List the servers, the runs in progress, and the evaluations and training runs that several machines share."
  ),
  Command.withShortDescription("List servers, runs and evaluations")
)

const drain = Command.make("drain", drainFlags, (input) =>
  Effect.flatMap(operations, (Operate) => Operate.drain(input))
).pipe(
  Command.withDescription("Make a server hand over its runs and exit."),
  Command.withShortDescription("Drain a server")
)

const migrate = Command.make("migrate", placeFlags, (input) =>
  Effect.flatMap(operations, (Operate) => Operate.migrate(input))
).pipe(
  Command.withDescription(
    "Create or update the database tables. Run this before you start servers with a new version."
  ),
  Command.withShortDescription("Create or update the tables")
)

const purge = Command.make("purge", purgeFlags, (input) =>
  Effect.flatMap(operations, (Operate) => Operate.purge(input))
).pipe(
  Command.withDescription(
    "Delete shared evaluations and requests to cancel runs older than --older-than, and the stored messages of runs that ended at least that long ago. To delete the runs themselves, use `divisi runs purge`."
  ),
  Command.withShortDescription("Delete old shared evaluations and old messages")
)

export const cluster = Command.make("cluster").pipe(
  Command.withDescription(
    "Execute and manage runs on several machines that share a Postgres database. Requires @divisi/cluster."
  ),
  Command.withSubcommands([work, submit, follow, cancel, status, drain, migrate, purge])
)
