/** `divisi provider`: its help. What it does is loaded when it is called. */
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import { flags } from "./flags.ts"

const create = Command.make("new", flags, (input) =>
  Effect.flatMap(
    Effect.promise(() => import("./New.ts")),
    (New) => New.create(input)
  )
).pipe(
  Command.withDescription(
    "Writes the project of a provider: workers for models that Divisi does not know. It works and passes the contract of providers as it is; its README says which file to change for what."
  ),
  Command.withShortDescription("Write the project of a provider"),
  Command.withExamples([
    { command: "divisi provider new acme-models", description: "Into the folder divisi-provider-acme-models" }
  ])
)

export const provider = Command.make("provider").pipe(
  Command.withDescription("Workers for models that Divisi does not know yet."),
  Command.withSubcommands([create])
)
