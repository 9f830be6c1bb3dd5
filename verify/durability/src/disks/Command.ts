/** The commands of `divisi` that write files, and the expected result of each. */
import { createHash } from "node:crypto"
import fs from "node:fs"
import path from "node:path"
import { fileURLToPath } from "node:url"
import * as Process from "./Process.ts"
import type * as Training from "./Training.ts"
import * as Watch from "./Watch.ts"

/** A violated condition. */
export class Broken extends Error {}

/** A command that writes to a disk. */
export interface Command {
  readonly name: string
  /** Creates the input of the command while the disk has space. */
  readonly prepare?: (disk: string) => Promise<void>
  readonly args: (disk: string) => ReadonlyArray<string>
  /** The command that continues its work, if this is not the same command. */
  readonly again?: (disk: string) => ReadonlyArray<string>
  readonly environment?: (disk: string) => Readonly<Record<string, string>>
  /** Whether its output goes to a file on the disk. */
  readonly isOutputKept?: boolean
  /** Whether it refuses to do again what is done. */
  readonly isDoneOnce?: boolean
  /** Its output without times. This must be the same in every case. */
  readonly left: (disk: string) => unknown
  /** Files that must not stay half written. A lock file shows that no process is writing them. */
  readonly swept?: (disk: string) => ReadonlyArray<string>
}

/** Runs a command that has to end well. */
const done = async (args: ReadonlyArray<string>) => {
  const { code, errors } = await Process.divisi(args)
  if (code !== 0) throw new Broken(`divisi ${args.join(" ")}: ${code} ${errors}`)
}

const json = (...parts: ReadonlyArray<string>) => JSON.parse(fs.readFileSync(path.join(...parts), "utf8"))

const lines = (...parts: ReadonlyArray<string>) =>
  fs
    .readFileSync(path.join(...parts), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line))

const within = (name: string) => (disk: string) => path.join(disk, name)
const evaluation = within("evaluation")
const training = within("training")

const filesOf = (folder: (disk: string) => string, names: ReadonlyArray<string>) => (disk: string) =>
  names.map((name) => path.join(folder(disk), name))

const kept = {
  evaluation: filesOf(evaluation, ["journal.jsonl", "results.json", "samples.jsonl"]),
  training: filesOf(training, ["config.json", "metrics.jsonl", "spent.json", "best.json", "checkpoints/next"])
}

const evaluate = (disk: string) => [
  ...["eval", "--policy", "lexical,random", "--limit", "8", "--transcripts"],
  ...["--out", evaluation(disk)]
]

const evaluated = (disk: string) => ({
  extent: json(evaluation(disk), "results.json").extent,
  samples: lines(evaluation(disk), "samples.jsonl").map(({ answer, policy, score, task }) => [
    policy,
    task,
    answer,
    score
  ])
})

const train = (disk: string) => ["train", "--recipe", "toy", "--iterations", "3", "--out", training(disk)]

const isBegun = (disk: string) => fs.existsSync(path.join(training(disk), "config.json"))

const trained = (disk: string) => {
  const folder = path.join(training(disk), "checkpoints")
  const last = fs
    .readdirSync(folder)
    .filter((name) => /^\d+$/.test(name))
    .sort()
    .at(-1)!
  return { last, state: json(folder, last, "trainer.json"), iterations: lines(training(disk), "metrics.jsonl").length }
}

const filesIn = (folder: string) =>
  fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .sort()
    .map((file) => [path.relative(folder, file), fs.readFileSync(file, "utf8")])

/** The template that `divisi provider new` copies. It exists after the CLI is built. */
const template = fileURLToPath(new URL("dist/templates/provider", import.meta.resolve("@divisi/cli/package.json")))

/** Of the size of several pages. */
export const model = Buffer.concat([Buffer.from("GGUF"), Buffer.alloc(300_000, 7)])

const newProvider: Command = {
  name: "provider new",
  args: (disk) => ["provider", "new", "acme", "--directory", path.join(disk, "acme")],
  isDoneOnce: true,
  left: (disk) => filesIn(path.join(disk, "acme"))
}

const project = within("project")

const initialise = (disk: string, ...flags: ReadonlyArray<string>) => [
  ...["init", "--yes", "--models", "gym", "--directory", project(disk)],
  ...flags
]

/** In a clone it packs the packages that the project needs; unless they are built, it builds them first, for a minute. */
const init: Command = {
  name: "init",
  args: (disk) => initialise(disk),
  // Files that are there are overwritten when they are meant to be.
  again: (disk) => initialise(disk, "--force"),
  left: (disk) =>
    filesIn(project(disk)).map(([name, text]) =>
      name!.endsWith(".tgz") ? [name, createHash("sha256").update(text!).digest("hex")] : [name, text]
    )
}

const exportTo = (disk: string) => path.join(disk, "adapter.gguf")

/** All commands. `address` is the URL of a model to download, `exportable` a training whose weights can be exported. */
export const all = (address: string, exportable: Training.Training): ReadonlyArray<Command> => [
  {
    name: "run --transcript",
    args: (disk) => ["run", "--transcript", path.join(disk, "run.json")],
    left: (disk) => {
      const { answer, ending, rounds } = json(disk, "run.json")
      return { answer, ending, rounds: rounds.length }
    }
  },
  {
    name: "run --cache",
    args: (disk) => ["run", "--cache", path.join(disk, "cache.sqlite")],
    left: (disk) => fs.existsSync(path.join(disk, "cache.sqlite"))
  },
  { name: "eval", args: evaluate, left: evaluated, swept: kept.evaluation },
  {
    name: "eval regrade",
    prepare: (disk) => done(evaluate(disk)),
    args: (disk) => ["eval", "regrade", evaluation(disk)],
    left: evaluated,
    swept: kept.evaluation
  },
  {
    name: "eval export",
    prepare: (disk) => done(evaluate(disk)),
    args: (disk) => ["eval", "export", evaluation(disk), "--to", "answers", "--out", path.join(disk, "answers.jsonl")],
    left: (disk) => lines(disk, "answers.jsonl").length
  },
  {
    name: "train",
    args: train,
    again: (disk) => (isBegun(disk) ? ["train", "resume", training(disk)] : train(disk)),
    left: trained,
    swept: kept.training
  },
  {
    name: "train resume",
    prepare: async (disk) => {
      const checkpoint = path.join(training(disk), "checkpoints/000000")
      const killed = Watch.until(() => fs.existsSync(checkpoint))
      await Process.divisi(train(disk), { killed: killed.reached })
      killed.stop()
    },
    args: (disk) => ["train", "resume", training(disk)],
    left: trained,
    swept: kept.training
  },
  {
    name: "train report",
    prepare: (disk) => done(train(disk)),
    args: (disk) => ["train", "report", training(disk)],
    left: (disk) =>
      fs
        .readFileSync(path.join(training(disk), "report.html"), "utf8")
        .trimEnd()
        .endsWith("</html>")
  },
  {
    name: "train export",
    prepare: exportable.copyTo,
    args: (disk) => [
      "train",
      "export",
      exportable.within(disk),
      "--to",
      "gguf-lora",
      "--out",
      exportTo(disk),
      ...exportable.config
    ],
    environment: () => exportable.environment,
    left: (disk) =>
      createHash("sha256")
        .update(fs.readFileSync(exportTo(disk)))
        .digest("hex")
  },
  {
    name: "models download",
    args: () => ["models", "download", address],
    environment: (disk) => ({ XDG_CACHE_HOME: disk }),
    left: (disk) => filesIn(disk).some(([name, text]) => name!.endsWith(".gguf") && text === model.toString("utf8"))
  },
  ...(fs.existsSync(template) ? [newProvider] : []),
  init,
  {
    name: "gym sample > file",
    args: () => ["gym", "sample", "--count", "200", "--json"],
    isOutputKept: true,
    left: (disk) => lines(disk, "output").length
  }
]
