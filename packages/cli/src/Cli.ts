/** The command line of `divisi`: its tree of commands, its help and how it speaks of a wrong invocation. */

import { read } from "@divisi/recipes/Environment"
import * as Console from "effect/Console"
import * as Argument from "effect/cli/Argument"
import * as CliConfig from "effect/cli/CliConfig"
import * as CliError from "effect/cli/CliError"
import * as CliOutput from "effect/cli/CliOutput"
import * as Command from "effect/cli/Command"
import * as CommandCompletions from "effect/cli/Completions"
import * as GlobalFlag from "effect/cli/GlobalFlag"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import manifest from "../package.json" with { type: "json" }
import { bench } from "./bench/command.ts"
import { chat } from "./chat/command.ts"
import { doctor } from "./doctor/command.ts"
import { evaluate } from "./eval/command.ts"
import { grade } from "./grade/command.ts"
import { gym } from "./gym/command.ts"
import { init } from "./init/command.ts"
import { exitCodes, type Failure, usage } from "./invocation/Failure.ts"
import { paragraphs } from "./invocation/flags.ts"
import { drawing, stdout } from "./invocation/Output.ts"
import { key } from "./key/command.ts"
import { learn } from "./learn/command.ts"
import { mcp } from "./mcp/command.ts"
import { models } from "./models/command.ts"
import { pool } from "./pool/command.ts"
import { provider } from "./provider/command.ts"
import { rate } from "./rate/command.ts"
import { replay } from "./replay/command.ts"
import { run as runCommand } from "./run/command.ts"
import { runs } from "./runs/command.ts"
import { serve } from "./serve/command.ts"
import { train } from "./train/command.ts"
import { workflow } from "./workflow/command.ts"

/** `divisi help train export` is `divisi train export --help`: what it does is said by {@link asHelp}. */
const help = Command.make(
  "help",
  { command: Argument.String("command").pipe(Argument.variadic()) },
  () => Effect.void
).pipe(
  Command.withDescription(
    "Says what a command does, what it takes and how it is used: as --help behind its name does."
  ),
  Command.withShortDescription("Say what a command does"),
  Command.withExamples([{ command: "divisi help train export", description: "The same as divisi train export --help" }])
)

const divisi = Command.make("divisi").pipe(
  Command.withDescription(
    paragraphs(
      "Answers a question with a team: a policy writes a plan for it, a pool of workers carries the plan out, steps that",
      "do not need each other at once.",
      "",
      "Nothing has to be configured: the workers are then those of an offline gym, which compute their answers.",
      "Your own pool and policy go into a divisi.config.ts.",
      "",
      "Exit codes: 0 answered, 1 failed, 2 wrong usage or config, 3 stopped by the budget, 4 refused, 5 suspended, 130 Ctrl-C, 143 SIGTERM."
    )
  ),
  Command.withSubcommands([
    init,
    runCommand,
    runs,
    chat,
    serve,
    key,
    mcp,
    replay,
    workflow,
    pool,
    gym,
    train,
    evaluate,
    grade,
    bench,
    rate,
    learn,
    provider,
    models,
    doctor,
    help
  ]),
  Command.withExamples([
    { command: "divisi init", description: "Write a config and a first script for the models that are there" },
    { command: "divisi run", description: "Run a built-in question and watch" },
    { command: 'divisi run "How many minutes are there in 3 days?"', description: "Run a question of yours" },
    { command: "divisi serve", description: "Serve the team to clients of OpenAI and Anthropic" },
    { command: "divisi pool check --pool openai:gpt-5", description: "See whether a model of a vendor answers" },
    { command: "divisi gym solve --policy all --tasks 200", description: "Compare policies on generated tasks" },
    { command: "divisi eval --baselines single,moa", description: "Measure a policy against baselines, to a report" },
    { command: "divisi train --recipe toy", description: "Train a Conductor, in seconds" },
    { command: "divisi workflow check completion.txt", description: "Check a plan that a model wrote" }
  ])
)

/** Help goes to the output; what is wrong with an invocation to the error output, without the whole help. */
const presenter = (formatter: CliOutput.Formatter): CliOutput.Presenter => ({
  present: (event) => {
    switch (event._tag) {
      case "Help":
        return Effect.sync(() => drawing(stdout).write(`${formatter.formatHelpDoc(event.helpDoc)}\n`))
      case "Version":
        return Effect.sync(() => void stdout.write(`${event.name} ${event.version}\n`))
      case "InvalidInvocation":
        return Console.error(
          [
            ...event.errors.map((error) => `divisi: ${formatter.formatCliError(error)}`),
            `Usage: ${event.helpDoc.usage}`,
            `See \`${event.commandPath.join(" ")} --help\`.`
          ].join("\n")
        )
    }
  }
})

/** The commands with their flags, as data. */
export const described = CommandCompletions.fromCommand(divisi)

const completions = GlobalFlag.Action({
  flag: GlobalFlag.Completions.flag,
  run: (shell) =>
    Option.isNone(shell)
      ? Effect.void
      : Effect.flatMap(
          Effect.promise(async () => (await import("./completions/Completions.ts")).script(described, shell.value)),
          (script) => Effect.sync(() => void stdout.write(`${script}\n`))
        )
})

const layer = Layer.unwrap(
  Effect.map(read(["NO_COLOR", "TERM"]), ({ NO_COLOR, TERM }) => {
    const colors = stdout.isTTY === true && NO_COLOR === undefined && TERM !== "dumb"
    const formatter = CliOutput.defaultFormatter({ colors, globalFlags: "summary" })
    return Layer.mergeAll(
      CliConfig.layer({ builtIns: [GlobalFlag.Help, GlobalFlag.Version, completions] }),
      CliOutput.layer(formatter),
      CliOutput.layerPresenter(presenter(formatter))
    )
  })
)

/** Workers to leave out begin with a minus, so a separate value of `--pool` would be taken for flags. */
const joinExclusions = (args: ReadonlyArray<string>): ReadonlyArray<string> =>
  args.flatMap((arg, index) => {
    const isExclusion = (at: number) => args[at - 1] === "--pool" && /^-[^-]/.test(args[at] ?? "")
    if (isExclusion(index)) return []
    return isExclusion(index + 1) ? [`${arg}=${args[index + 1]}`] : [arg]
  })

/** What `divisi help` with the names of a command means. */
const asHelp = ([first, ...names]: ReadonlyArray<string>): ReadonlyArray<string> | undefined => {
  if (first !== "help" || names.some((name) => name.startsWith("-"))) return undefined
  const path: Array<string> = []
  for (let { subcommands } = described; subcommands.length > 0 && path.length < names.length; ) {
    const name = names[path.length]!
    path.push(name)
    const found = subcommands.find((command) => command.name === name)
    // Without --help an unknown name is refused, with the one that was meant. A group alone does nothing.
    if (found === undefined) return path
    subcommands = found.subcommands
  }
  return [...path, "--help"]
}

/** The names of the flags of a command, `--no-` forms and those of every command included. */
const longFlags = ({ flags }: CommandCompletions.CommandDescriptor): ReadonlyArray<string> => [
  ...flags.flatMap(({ aliases, name, negation = `no-${name}`, type }) =>
    type._tag === "Boolean" && negation !== false ? [name, ...aliases, negation] : [name, ...aliases]
  ),
  "help",
  "version",
  "completions"
]

/** The flags that a word begins; none if it is a flag, or no flag at all. */
const begun = (word: string, flags: ReadonlyArray<string>): ReadonlyArray<string> => {
  const given = /^--([a-z][a-z-]*)(?:=|$)/.exec(word)?.[1]
  if (given === undefined || flags.includes(given)) return []
  return flags.filter((flag) => flag.startsWith(given) && (given.startsWith("no-") || !flag.startsWith("no-")))
}

/** Completes the flags of the command that the words name: `--pol` is `--policy`. What follows `--` is not a flag. */
const withWholeFlags = (args: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<string>, Failure> => {
  let command = described
  for (const arg of args) {
    const next = command.subcommands.find(({ name }) => name === arg)
    if (next === undefined) break
    command = next
  }
  const end = args.indexOf("--")
  const flags = longFlags(command)
  return Effect.forEach(args, (arg, at) => {
    const [flag, ...others] = end >= 0 && at >= end ? [] : begun(arg, flags)
    if (flag === undefined) return Effect.succeed(arg)
    const equals = arg.indexOf("=")
    if (others.length === 0) return Effect.succeed(`--${flag}${equals < 0 ? "" : arg.slice(equals)}`)
    const names = [flag, ...others].map((name) => `--${name}`)
    return Effect.fail(
      usage(`${equals < 0 ? arg : arg.slice(0, equals)} may be ${names.join(", ")}: write one of them.`)
    )
  })
}

/** Runs the command line. */
export const run = (args: ReadonlyArray<string>) =>
  Effect.provide(
    Effect.flatMap(withWholeFlags(args), (args) =>
      Command.runWith(divisi, { version: manifest.version })(asHelp(args) ?? joinExclusions(args))
    ),
    layer
  )

/** The exit code of an error of the command line itself, which has been shown; `undefined` when it is another's. */
export const exitCodeOf = (error: unknown): number | undefined => {
  if (!CliError.isCliError(error)) return undefined
  return error._tag === "ShowHelp" && error.errors.length === 0 ? 0 : exitCodes.usage
}
