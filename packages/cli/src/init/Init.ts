/** `divisi init`: detects available models, writes a config and an example script, and prints the next steps. */
import { existsSync } from "node:fs"
import { createRequire } from "node:module"
import path from "node:path"
import { Nearest } from "@divisi/core"
import { WholeFile } from "@divisi/files"
import * as ProcessGroup from "@divisi/files/ProcessGroup"
import { read } from "@divisi/recipes/Environment"
import * as Vendor from "@divisi/recipes/Vendor"
import * as Prompt from "effect/cli/Prompt"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Terminal from "effect/Terminal"
import manifest from "../../package.json" with { type: "json" }
import * as ConfigFile from "../config/ConfigFile.ts"
import * as Clone from "../invocation/Clone.ts"
import { exitCodes, type Failure, failed, messageOf, silent, usage } from "../invocation/Failure.ts"
import { quotedPath } from "../invocation/Hint.ts"
import * as Output from "../invocation/Output.ts"
import * as KnownModels from "../vendors/KnownModels.ts"
import * as Found from "./Found.ts"
import type { InitInput } from "./flags.ts"
import * as Project from "./Project.ts"
import * as Team from "./Team.ts"

// -------------------------------------------------------------------------------------------------------------------
// Questions to the user
// -------------------------------------------------------------------------------------------------------------------

/**
 * Shows a prompt on the terminal. Ctrl-C ends the command. Prompts write directly to the terminal, so names are
 * sanitized first.
 */
const ask = <A>(prompt: Prompt.Prompt<A>): Effect.Effect<A, Failure, Prompt.Environment> =>
  Effect.flatMap(Terminal.Terminal, (terminal) => {
    const output = Output.drawing(Output.stdout)
    const display = (text: string) => Effect.sync(() => void output.write(text))
    return Effect.provideService(prompt, Terminal.Terminal, { ...terminal, display })
  }).pipe(Effect.mapError(() => silent(exitCodes.interrupted)))

const nameOf = ({ model, vendor }: Team.Model): string => `${vendor}:${model}`

const foundModels = (found: ReadonlyArray<Found.Found>): ReadonlyArray<Team.Model> =>
  found.flatMap(({ models, vendor }) => models.map((model) => ({ vendor, model })))

const gym = "gym"

/** Returns a model of a vendor, or of a server whose base URL is set; `undefined` for anything else. */
const namedModel = Effect.fnUntraced(function* (text: string): Effect.fn.Return<Team.Model | undefined> {
  const model = Vendor.parse(text)
  if (model === undefined || Team.vendors.includes(model.vendor)) return model
  const environment = yield* Vendor.environment([], [model.vendor])
  const server = Vendor.find([], model.vendor, environment)
  if (server === undefined) return undefined
  return {
    ...model,
    baseURL: Vendor.connection(server, environment).baseURL,
    keyVariable: server.keys.find((name) => environment[name] !== undefined)
  }
})

const namedModels = (names: string): Effect.Effect<ReadonlyArray<Team.Model>, Failure> => {
  if (names === gym) return Effect.succeed([])
  return Effect.forEach(names.split(","), (name) => {
    const text = name.trim()
    const vendors = Team.vendors.join(", ")
    const hint = Nearest.didYouMean(KnownModels.fullName(text))
    return Effect.filterOrFail(namedModel(text), Predicate.isNotUndefined, () =>
      usage(
        text === gym
          ? `--models: ${gym} cannot be combined with other models.`
          : `--models: unknown model "${text}".${hint} Use vendor:model with one of ${vendors}, or your own server (home:<model> with HOME_BASE_URL set). Use ${gym} for the offline gym.`
      )
    )
  })
}

const chosenModels = Effect.fnUntraced(function* (
  input: InitInput,
  found: ReadonlyArray<Found.Found>,
  isAsking: boolean
) {
  if (Option.isSome(input.models)) return yield* namedModels(input.models.value)
  const models = foundModels(found)
  if (!isAsking || models.length === 0) return models
  const choices = models.map((model) => ({ title: nameOf(model), value: model, selected: true }))
  return yield* ask(
    Prompt.MultiSelect({ message: "Which models should the team use? (none: the offline gym)", choices })
  )
})

const chosenLanguage = (input: InitInput, isAsking: boolean) => {
  if (Option.isSome(input.language)) return Effect.succeed(input.language.value)
  const choices = [
    { title: "TypeScript", value: "typescript" as const },
    { title: "JavaScript", value: "javascript" as const }
  ]
  return isAsking ? ask(Prompt.Select({ message: "Which language?", choices })) : Effect.succeed("typescript" as const)
}

// -------------------------------------------------------------------------------------------------------------------
// Files
// -------------------------------------------------------------------------------------------------------------------

interface File {
  readonly name: string
  readonly text: string
}

/**
 * Returns an existing config with a different file name, which would take precedence over the new one or conflict with
 * it.
 */
const otherConfig = (folder: string, name: string): string | undefined =>
  ConfigFile.names.find((other) => other !== name && existsSync(path.join(folder, other)))

/** Returns the files to write: new files, and existing ones that may be overwritten. */
const allowed = Effect.fnUntraced(function* (
  folder: string,
  files: ReadonlyArray<File>,
  force: boolean,
  isAsking: boolean
) {
  const there = force ? [] : files.filter(({ name }) => existsSync(path.join(folder, name)))
  if (there.length > 0 && !isAsking) {
    const names = there.map(({ name }) => name).join(" and ")
    return yield* failed(`${names} already ${there.length === 1 ? "exists" : "exist"}. Overwrite with --force.`)
  }
  const kept = yield* Effect.filter(there, ({ name }) =>
    Effect.map(ask(Prompt.Confirm({ message: `${name} already exists. Overwrite it?` })), (yes) => !yes)
  )
  return files.filter((file) => !kept.includes(file))
})

const writeAll = (folder: string, files: ReadonlyArray<File>) =>
  Effect.gen(function* () {
    // Files in a project get default permissions, so that they are as readable as the rest of the project.
    yield* WholeFile.makeFolder(folder, "umask")
    for (const { name, text } of files) yield* WholeFile.write(path.join(folder, name), text, { access: "umask" })
  }).pipe(Effect.mapError(({ message }) => failed(message)))

// -------------------------------------------------------------------------------------------------------------------
// Installation
// -------------------------------------------------------------------------------------------------------------------

/** Subfolder for packages built from a clone. */
const packedFolder = "divisi-packages"

// Loaded with `require`, because some bundlers rewrite imports of other packages' JSON into a form that Node no longer
// supports.
const core: { readonly peerDependencies: { readonly effect: string } } = createRequire(import.meta.url)(
  "@divisi/core/package.json"
)

const versions: Readonly<Record<string, string>> = { effect: `effect@${core.peerDependencies.effect}` }

const versionOf = (name: string): string => versions[name] ?? `${name}@${manifest.version}`

/**
 * Returns the package manager's arguments: package versions from the registry, or packages built from this command's
 * clone.
 */
const specsOf = (folder: string, packages: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<string>, Failure> => {
  // The command line is a package of the project: its config imports the type, and `npx divisi` runs it.
  const all = [...packages, "@divisi/cli"]
  if (!Clone.isThere()) return Effect.succeed(all.map(versionOf))
  const ours = all.filter((name) => name.startsWith("@divisi/"))
  return Effect.tryPromise({
    try: async () => {
      const packed = Object.values(await Clone.pack(ours, path.join(folder, packedFolder)))
      return [
        ...packed.map((file) => `./${packedFolder}/${file}`),
        ...all.filter((name) => !ours.includes(name)).map(versionOf)
      ]
    },
    catch: (error) => failed(`Cannot pack the packages of this clone: ${messageOf(error)}`)
  })
}

const install = (folder: string, command: ReadonlyArray<string>, isQuiet: boolean): Effect.Effect<void, Failure> =>
  Effect.callback((resume) => {
    const isWindows = process.platform === "win32"
    const child = ProcessGroup.start(command, {
      cwd: folder,
      stdio: isQuiet ? ["ignore", 2, 2] : ["ignore", "inherit", "inherit"],
      // On Windows, npm is a batch file and requires a shell.
      shell: isWindows
    })
    child.once("error", (error) => {
      resume(Effect.fail(failed(`Cannot run ${command[0]}: ${messageOf(error)}.`)))
    })
    child.once("exit", (code, signal) => {
      const failure = failed(`"${command.join(" ")}" failed with ${signal ?? `exit code ${code}`}.`)
      resume(code === 0 ? Effect.void : Effect.fail(failure))
    })
    return Effect.promise(() => ProcessGroup.stop(child))
  })

// -------------------------------------------------------------------------------------------------------------------
// Output
// -------------------------------------------------------------------------------------------------------------------

const say = (...lines: ReadonlyArray<string>) => void Output.stdout.write(`${lines.join("\n")}\n`)

const foundLines = (found: ReadonlyArray<Found.Found>): ReadonlyArray<string> =>
  found.length === 0
    ? ["Found no API key in the environment and no model server on this machine."]
    : found.map(({ because, models, vendor }) => {
        const todo = models.length === 0 ? `; choose its models with --models ${vendor}:<model>` : ""
        return `Found ${vendor}: ${because}${todo}`
      })

interface NextSteps {
  /** The command that enters the folder, unless it is the current one. */
  readonly enter: ReadonlyArray<string>
  /** The command that installs the packages, unless they are installed. */
  readonly install: string | undefined
  readonly next: ReadonlyArray<string>
  /** Whether the user's own Node runs the script, not that of a clone. */
  readonly ownsNode: boolean
}

/** Returns the lines with the commands to run next. */
export const nextLines = ({ enter, install, next, ownsNode }: NextSteps): ReadonlyArray<string> => [
  ...(install === undefined ? [] : ["Install the packages:", ...[...enter, install].map((line) => `  ${line}`)]),
  ...(ownsNode
    ? []
    : ["The script needs Node 22.19 or newer, and yours is older. The command below uses this clone's Node."]),
  "Then:",
  ...[...(install === undefined ? enter : []), ...next].map((line) => `  ${line}`)
]

/** Detects models, writes the project files and prints the next steps. */
export const init = Effect.fnUntraced(function* (
  input: InitInput
): Effect.fn.Return<void, Failure, Prompt.Environment> {
  const isAsking = !input.yes && !input.json && process.stdin.isTTY === true && Output.stdout.isTTY === true
  const folder = path.resolve(input.directory)
  const environment = yield* read([...Found.variables, "npm_config_user_agent"])
  const found = yield* Found.look(environment)
  if (!input.json && Option.isNone(input.models)) say(...foundLines(found))
  const models = yield* chosenModels(input, found, isAsking)
  const language = yield* chosenLanguage(input, isAsking)
  const extension = Project.extensionOf(folder, language)
  const configFile = `divisi.config.${extension}`
  const scriptFile = `first.${extension}`
  const other = otherConfig(folder, configFile)
  if (other !== undefined) return yield* failed(`${other} already exists. Remove it to create ${configFile} instead.`)
  const located = models.map((model) => ({
    ...model,
    baseURL: model.baseURL ?? Found.addressOf(model.vendor, environment)
  }))
  const team = Team.make(located, { language, configFile, scriptFile })
  const files = yield* allowed(
    folder,
    [
      { name: configFile, text: team.config },
      { name: scriptFile, text: team.script }
    ],
    input.force,
    isAsking
  )
  const own = Project.needsManifest(folder) ? [{ name: "package.json", text: Project.manifest }] : []
  yield* writeAll(folder, [...files, ...own])
  const specs = yield* specsOf(folder, team.packages)
  const manager = Project.packageManagerOf(folder, environment.npm_config_user_agent)
  const command = Project.addCommand(manager, specs)
  const isInstalling =
    input.install || (isAsking && (yield* ask(Prompt.Confirm({ message: `Run ${command.join(" ")}?`, initial: true }))))
  if (isInstalling) yield* install(folder, command, input.json)
  const divisi = Clone.commandFor(folder)
  const names = models.map(nameOf)
  const written = [...files, ...own].map(({ name }) => name)
  const node = Clone.nodeFor(folder)
  const entered = path.relative(process.cwd(), folder)
  const enter = entered === "" ? [] : [`cd ${quotedPath(entered)}`]
  const next = [`${node} ${scriptFile}`, `${divisi} run "a question"`, `${divisi} chat`]
  if (input.json) {
    const facts = { found, models: names, files: written, folder, install: command, isInstalled: isInstalling, next }
    return say(JSON.stringify(facts))
  }
  say(
    `Wrote ${written.length === 0 ? "nothing" : written.join(", ")}${input.directory === "." ? "" : ` in ${input.directory}`}. Team: ${names.length === 0 ? "the offline gym, which answers only its own kinds of questions" : names.join(", ")}.`,
    ...(names.length === 0
      ? [
          "To use real models, set an API key such as OPENAI_API_KEY or start a server such as Ollama. Then run divisi init --force."
        ]
      : []),
    ...nextLines({ enter, install: isInstalling ? undefined : command.join(" "), next, ownsNode: node === "node" })
  )
})
