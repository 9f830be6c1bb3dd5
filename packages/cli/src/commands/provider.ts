/** `divisi provider`: its subcommands, flags and help. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"

const flags = {
  name: Argument.String("name").pipe(
    Argument.withDescription("What the provider is called: small letters, digits and hyphens")
  ),
  directory: Flag.String("directory").pipe(
    Flag.withMetavar("<folder>"),
    Flag.withDescription("Where to write it; by default the new folder divisi-provider-<name>"),
    Flag.optional
  )
}

/** What `divisi provider new` is asked for. */
export type NewInput = Command.Command.Config.Infer<typeof flags>

const create = Command.make("new", flags, (input) =>
  Effect.flatMap(
    Effect.promise(() => import("../provider/New.ts")),
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
  Command.withShortDescription("Write a provider of your own"),
  Command.withSubcommands([create])
)
