/** Defines `divisi provider` with its help. The implementation is loaded on demand. */
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import { paragraphs } from "../invocation/flags.ts"
import { flags } from "./flags.ts"

const create = Command.make("new", flags, (input) =>
  Effect.flatMap(
    Effect.promise(() => import("./New.ts")),
    (New) => New.create(input)
  )
).pipe(
  Command.withDescription(
    paragraphs(
      "Create a provider project with workers for another vendor's models. The new project already passes the tests of",
      "the provider contract; its README explains which files to change."
    )
  ),
  Command.withShortDescription("Create a provider project"),
  Command.withExamples([
    { command: "divisi provider new acme-models", description: "Create the folder divisi-provider-acme-models" }
  ])
)

export const provider = Command.make("provider").pipe(
  Command.withDescription("Create a project that adds workers for another vendor's models."),
  Command.withSubcommands([create])
)
