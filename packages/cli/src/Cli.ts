/** The `divisi` command line: its commands, help, and usage errors. */

import { read } from "@divisi/recipes/Environment"
import * as Console from "effect/Console"
import * as Argument from "effect/cli/Argument"
import * as CliConfig from "effect/cli/CliConfig"
import * as CliError from "effect/cli/CliError"
import * as CliOutput from "effect/cli/CliOutput"
import * as Command from "effect/cli/Command"
import * as CommandCompletions from "effect/cli/Completions"
import * as GlobalFlag from "effect/cli/GlobalFlag"
import type { HelpDoc } from "effect/cli/HelpDoc"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import manifest from "../package.json" with { type: "json" }
import { exitCodes, type Failure, usage } from "./invocation/Failure.ts"
import { paragraphs } from "./invocation/flags.ts"
import { drawing, stdout } from "./invocation/Output.ts"
import * as ShortHelp from "./invocation/ShortHelp.ts"
import * as UsageError from "./invocation/UsageError.ts"

/**
 * Provides `divisi help <command>`. For example, `divisi help train export` prints the full help for `divisi train
 * export`; {@link asHelp} rewrites the arguments.
 */
const help = Command.make(
  "help",
  { command: Argument.String("command").pipe(Argument.variadic()) },
  () => Effect.void
).pipe(
  Command.withDescription(
    "Show the complete help of a command, with all flags and examples. --help shows a shorter version."
  ),
  Command.withShortDescription("Show help for a command"),
  Command.withExamples([
    { command: "divisi help train export", description: "Show the complete help of divisi train export" }
  ])
)

const root = Command.make("divisi").pipe(
  Command.withDescription(
    paragraphs(
      "Answer questions with a team of models. Try it without an API key: divisi run",
      "Configure your own team with divisi init, or name models with --pool."
    )
  )
)

/**
 * All other commands, in the order shown by the help. Each command's module, with its flags and help, is loaded on
 * first use.
 */
const commands = {
  run: {
    group: "Run",
    short: "Answer a question",
    load: async () => (await import("./run/command.ts")).run
  },
  chat: {
    group: "Run",
    short: "Chat with a team in the terminal",
    load: async () => (await import("./chat/command.ts")).chat
  },
  runs: {
    group: "Run",
    short: "List, inspect, resume and delete durable runs",
    load: async () => (await import("./runs/command.ts")).runs
  },
  replay: {
    group: "Run",
    short: "Replay the transcript of a run",
    load: async () => (await import("./replay/command.ts")).replay
  },
  studio: {
    group: "Run",
    short: "Show runs in the browser",
    load: async () => (await import("./studio/command.ts")).studio
  },
  rate: {
    group: "Run",
    short: "Rate the answer of a run",
    load: async () => (await import("./rate/command.ts")).rate
  },
  workflow: {
    group: "Run",
    short: "Check and draw workflows",
    load: async () => (await import("./workflow/command.ts")).workflow
  },
  init: {
    group: "Set up",
    short: "Create a config and a first script",
    load: async () => (await import("./init/command.ts")).init
  },
  pool: {
    group: "Set up",
    short: "List workers and check that they respond",
    load: async () => (await import("./pool/command.ts")).pool
  },
  models: {
    group: "Set up",
    short: "Download and manage local models",
    load: async () => (await import("./models/command.ts")).models
  },
  provider: {
    group: "Set up",
    short: "Create a provider package",
    load: async () => (await import("./provider/command.ts")).provider
  },
  doctor: {
    group: "Set up",
    short: "Check what this machine can run locally",
    load: async () => (await import("./doctor/command.ts")).doctor
  },
  serve: {
    group: "Serve",
    short: "Start an OpenAI- and Anthropic-compatible server",
    load: async () => (await import("./serve/command.ts")).serve
  },
  cluster: {
    group: "Serve",
    short: "Distribute runs over several machines",
    load: async () => (await import("./cluster/command.ts")).cluster
  },
  key: {
    group: "Serve",
    short: "Create, list, change and revoke API keys",
    load: async () => (await import("./key/command.ts")).key
  },
  mcp: {
    group: "Serve",
    short: "Expose the team as an MCP server",
    load: async () => (await import("./mcp/command.ts")).mcp
  },
  eval: {
    group: "Measure and train",
    short: "Evaluate policies on benchmarks",
    load: async () => (await import("./eval/command.ts")).evaluate
  },
  grade: {
    group: "Measure and train",
    short: "Grade answers",
    load: async () => (await import("./grade/command.ts")).grade
  },
  gym: {
    group: "Measure and train",
    short: "Compare policies on generated tasks",
    load: async () => (await import("./gym/command.ts")).gym
  },
  bench: {
    group: "Measure and train",
    short: "Compare routers on recorded outcomes",
    load: async () => (await import("./bench/command.ts")).bench
  },
  learn: {
    group: "Measure and train",
    short: "Train the router on rated runs",
    load: async () => (await import("./learn/command.ts")).learn
  },
  train: {
    group: "Measure and train",
    short: "Train a Conductor model, which plans runs",
    load: async () => (await import("./train/command.ts")).train
  }
} satisfies Readonly<
  Record<string, { readonly group: string; readonly short: string; readonly load: () => Promise<Command.Command.Any> }>
>

type Name = keyof typeof commands

/** A loaded command, typed with the combined requirements and errors of all commands. */
type Loaded = Awaited<ReturnType<(typeof commands)[Name]["load"]>>

const names = Object.keys(commands) as ReadonlyArray<Name>

/**
 * Builds the command line with the `wanted` commands fully loaded. All others have only a name and a short description.
 */
const commandLine = async (wanted: ReadonlyArray<string>) => {
  const subcommands = await Promise.all(
    names.map(async (name): Promise<Loaded> => {
      const { load, short } = commands[name]
      const command = wanted.includes(name) ? await load() : Command.make(name)
      return Command.withShortDescription(command as Command.Command<Name, unknown>, short) as Loaded
    })
  )
  const groups = [...new Set(names.map((name) => commands[name].group))].map((group) => {
    const members = subcommands.filter((_, index) => commands[names[index]!].group === group)
    return { group, commands: (group === "Set up" ? [...members, help] : members) as [Loaded, ...Array<Loaded>] }
  })
  return root.pipe(Command.withSubcommands(groups))
}

/** Returns all commands with their flags as data. */
export const describe = async () => CommandCompletions.fromCommand(await commandLine(names))

/** Returns the usage of a command. A group with flags of its own also runs without a subcommand. */
const usageOf = ({ flags, usage }: HelpDoc): string =>
  flags.length === 0 ? usage : usage.replace("<subcommand>", "[<subcommand>]")

/** Prints help to standard output, and usage errors without the help text to standard error. */
const presenter = (formatter: CliOutput.Formatter, isFull: boolean): CliOutput.Presenter => ({
  present: (event) => {
    switch (event._tag) {
      case "Help":
        return Effect.sync(() => {
          const full = { ...event.helpDoc, usage: usageOf(event.helpDoc) }
          const doc = isFull ? full : ShortHelp.of(full)
          const more = doc === full ? "" : `\n${ShortHelp.pointer(full, event.commandPath)}\n`
          // The formatter leaves no empty line between subcommands and examples.
          const text = formatter.formatHelpDoc(doc).replace(/(?<!\n)\n(?=\S*EXAMPLES)/, "\n\n")
          drawing(stdout).write(`${text}\n${more}`)
        })
      case "Version":
        return Effect.sync(() => void stdout.write(`${event.name} ${event.version}\n`))
      case "InvalidInvocation":
        return Console.error(
          [
            ...UsageError.texts(event.errors, event.helpDoc).map((text) => `divisi: ${text}`),
            `Usage: ${usageOf(event.helpDoc)}`,
            `See \`${event.commandPath.join(" ")} --help\`.`
          ].join("\n")
        )
    }
  }
})

const completions = GlobalFlag.Action({
  flag: GlobalFlag.Completions.flag,
  run: (shell) =>
    Option.isNone(shell)
      ? Effect.void
      : Effect.flatMap(
          Effect.promise(async () =>
            (await import("./completions/Completions.ts")).script(await describe(), shell.value)
          ),
          (script) => Effect.sync(() => void stdout.write(`${script}\n`))
        )
})

const layer = (isFullHelp: boolean) =>
  Layer.unwrap(
    Effect.map(read(["NO_COLOR", "TERM"]), ({ NO_COLOR, TERM }) => {
      const colors = stdout.isTTY === true && NO_COLOR === undefined && TERM !== "dumb"
      const formatter = CliOutput.defaultFormatter({ colors, globalFlags: "summary" })
      return Layer.mergeAll(
        CliConfig.layer({ builtIns: [GlobalFlag.Help, GlobalFlag.Version, completions] }),
        CliOutput.layer(formatter),
        CliOutput.layerPresenter(presenter(formatter, isFullHelp))
      )
    })
  )

/**
 * Joins `--pool` with a following value that starts with a minus, which excludes workers and would otherwise be parsed
 * as a flag.
 */
const joinExclusions = (args: ReadonlyArray<string>): ReadonlyArray<string> =>
  args.flatMap((arg, index) => {
    const isExclusion = (at: number) => args[at - 1] === "--pool" && /^-[^-]/.test(args[at] ?? "")
    if (isExclusion(index)) return []
    return isExclusion(index + 1) ? [`${arg}=${args[index + 1]}`] : [arg]
  })

/**
 * Translates `divisi help <command>` to the arguments that print the full help. Returns `undefined` for other commands.
 */
const asHelp = (
  described: CommandCompletions.CommandDescriptor,
  [first, ...names]: ReadonlyArray<string>
): ReadonlyArray<string> | undefined => {
  if (first !== "help" || names.some((name) => name.startsWith("-"))) return undefined
  const path: Array<string> = []
  for (let { subcommands } = described; subcommands.length > 0 && path.length < names.length; ) {
    const name = names[path.length]!
    path.push(name)
    const found = subcommands.find((command) => command.name === name)
    // An unknown name is passed on without `--help`, so that the parser rejects it and suggests the closest command. A
    // group without a subcommand does nothing.
    if (found === undefined) return path
    subcommands = found.subcommands
  }
  return [...path, "--help"]
}

/** Returns the names of a command's flags, including `--no-` forms and global flags. */
const longFlags = ({ flags }: CommandCompletions.CommandDescriptor): ReadonlyArray<string> => [
  ...flags.flatMap(({ aliases, name, negation = `no-${name}`, type }) =>
    type._tag === "Boolean" && negation !== false ? [name, ...aliases, negation] : [name, ...aliases]
  ),
  "help",
  "version",
  "completions"
]

/**
 * Returns the flags that start with the given word. Returns an empty list if the word is already a complete flag, or
 * not a flag.
 */
const begun = (word: string, flags: ReadonlyArray<string>): ReadonlyArray<string> => {
  const given = /^--([a-z][a-z-]*)(?:=|$)/.exec(word)?.[1]
  if (given === undefined || flags.includes(given)) return []
  return flags.filter((flag) => flag.startsWith(given) && (given.startsWith("no-") || !flag.startsWith("no-")))
}

/** Expands abbreviated flags: `--pol` becomes `--policy`. Arguments after `--` are left unchanged. */
const withWholeFlags = (
  described: CommandCompletions.CommandDescriptor,
  args: ReadonlyArray<string>
): Effect.Effect<ReadonlyArray<string>, Failure> => {
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
    return Effect.fail(usage(`Ambiguous flag ${equals < 0 ? arg : arg.slice(0, equals)}.${UsageError.meant(names)}`))
  })
}

/** Removes `--help` after an unknown subcommand, so that the parser rejects the subcommand. */
const withoutHelpOfUnknown = (
  described: CommandCompletions.CommandDescriptor,
  args: ReadonlyArray<string>
): ReadonlyArray<string> => {
  let { subcommands } = described
  for (const arg of args) {
    if (arg.startsWith("-") || subcommands.length === 0) return args
    const found = subcommands.find(({ name }) => name === arg)
    if (found === undefined) return args.filter((one) => one !== "--help" && one !== "-h")
    ;({ subcommands } = found)
  }
  return args
}

/** Runs the command line with the given arguments. */
export const run = (args: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const divisi = yield* Effect.promise(() => commandLine(args.filter((arg) => !arg.startsWith("-")).slice(0, 2)))
    const described = CommandCompletions.fromCommand(divisi)
    const whole = yield* withWholeFlags(described, args)
    const helped = asHelp(described, whole) ?? withoutHelpOfUnknown(described, joinExclusions(whole))
    yield* Command.runWith(divisi, { version: manifest.version })(helped)
  }).pipe(Effect.provide(layer(args[0] === "help")))

/**
 * Returns the exit code for a usage error, which has already been printed, or `undefined` for any other error. A group
 * without a subcommand, such as `divisi cluster`, is a usage error; `divisi` alone shows the help.
 */
export const exitCodeOf = (error: unknown): number | undefined => {
  if (!CliError.isCliError(error)) return undefined
  const isHelp = error._tag === "ShowHelp" && error.errors.length === 0 && error.commandPath.length < 2
  return isHelp ? 0 : exitCodes.usage
}
