/**
 * Runs commands on disks that are full, temporarily full, read-only, shared by two processes, or removed with a kill.
 * Each command must report what is wrong and, once the fault is gone, must produce its usual result.
 */
import fs from "node:fs"
import http from "node:http"
import os from "node:os"
import path from "node:path"
import { Seed } from "@divisi/core"
import * as Command from "./disks/Command.ts"
import * as Disk from "./disks/Disk.ts"
import * as Process from "./disks/Process.ts"
import * as Training from "./disks/Training.ts"
import * as Watch from "./disks/Watch.ts"

type Ended = Process.Ended

/** A fault that happens while a command runs. */
interface Condition {
  readonly name: string
  readonly during: (trial: Trial) => Promise<ReadonlyArray<Ended>>
  /** Removes the fault afterwards. */
  readonly after?: (disk: Disk.Disk) => void
  /** Why the fault cannot be simulated with folders instead of mounted disks. */
  readonly needsMount?: string | undefined
}

interface Trial {
  readonly command: Command.Command
  readonly disk: Disk.Disk
  readonly draw: Seed.Draw
  /** The pages that the command needs without a fault. */
  readonly pages: number
}

const start = (
  { command, disk }: Pick<Trial, "command" | "disk">,
  args: (disk: string) => ReadonlyArray<string>,
  options: Process.Options = {}
): Promise<Ended> => {
  const { environment, isOutputKept } = command
  const file = isOutputKept === true ? path.join(disk.folder, "output") : undefined
  let outputFile: number | undefined
  try {
    outputFile = file === undefined ? undefined : fs.openSync(file, "w")
  } catch (error) {
    // The shell reports the error and does not start the command.
    return Promise.resolve({ code: 1, output: "", errors: (error as Error).message })
  }
  const within = [...disk.within(), ...(options.within ?? [])]
  const ended = Process.divisi(args(disk.folder), {
    ...options,
    within,
    environment: environment?.(disk.folder),
    outputFile
  })
  return ended.finally(() => outputFile !== undefined && fs.closeSync(outputFile))
}

const once = async (trial: Trial) => [await start(trial, trial.command.args)]

/** A number of pages smaller than the command needs without a fault. */
const fill = ({ disk, draw, pages }: Trial) => disk.fill(Seed.below(draw, pages))

const empty = ({ empty }: Disk.Disk) => empty()

export const conditions: ReadonlyArray<Condition> = [
  {
    name: "full",
    during: (trial) => {
      fill(trial)
      return once(trial)
    },
    after: empty
  },
  {
    name: "full for a moment",
    needsMount: "no room comes back while a command runs",
    during: async (trial) => {
      fill(trial)
      const room = Watch.until(trial.disk.isFull, Seed.below(trial.draw, 60))
      void room.reached.then(trial.disk.empty)
      return once(trial).finally(room.stop)
    },
    after: empty
  },
  {
    name: "read-only",
    needsMount: Disk.isRoot ? "root writes anywhere" : undefined,
    during: (trial) => {
      trial.disk.setReadOnly(true)
      return once(trial)
    },
    after: ({ setReadOnly }) => setReadOnly(false)
  },
  {
    name: "two processes",
    during: (trial) => Promise.all([start(trial, trial.command.args), start(trial, trial.command.args)])
  },
  {
    name: "a process of another namespace",
    needsMount: "there are no namespaces",
    during: (trial) =>
      Promise.all([start(trial, trial.command.args), start(trial, trial.command.args, { within: Disk.otherProcesses })])
  },
  {
    name: "kill -9",
    during: async (trial) => {
      const before = trial.disk.used()
      const pages = 1 + Seed.below(trial.draw, trial.pages)
      const killed = Watch.until(() => trial.disk.used() >= before + pages, Seed.below(trial.draw, 20))
      return [await start(trial, trial.command.args, { killed: killed.reached }).finally(killed.stop)]
    }
  }
]

/** A case that failed. */
export interface Problem {
  readonly seed: number
  readonly command: string
  readonly condition: string
  readonly problem: string
}

/** The outcome of a case: the command was refused, or succeeded. */
export type Outcome = "refused" | "done"

const checkWords = ({ code, errors }: Ended, what: string) => {
  if (/unexpected:|TOO LONG|\n\s+at |Error \[/.test(errors)) throw new Command.Broken(`${what} said: ${errors}`)
  if (code !== 0 && code !== null && errors.trim() === "")
    throw new Command.Broken(`${what} ended with ${code} and no word`)
}

/** Puts all right, runs the command again, and compares what it has left. */
const goOn = async (trial: Trial, expected: unknown, isDone: boolean) => {
  const { command, disk } = trial
  if (!(command.isDoneOnce === true && isDone)) {
    const ended = await start(trial, command.again ?? command.args)
    checkWords(ended, "when all was well again, it")
    if (ended.code !== 0) throw new Command.Broken(`it could not go on: ${ended.errors}`)
  }
  const [found, wanted] = [JSON.stringify(command.left(disk.folder)), JSON.stringify(expected)]
  if (found !== wanted) throw new Command.Broken(`it left ${found.slice(0, 500)} instead of ${wanted?.slice(0, 500)}`)
  const left = (command.swept?.(disk.folder) ?? []).flatMap((file) =>
    fs
      .readdirSync(path.dirname(file))
      .filter((name) => name.startsWith(`${path.basename(file)}.`) && name.endsWith(".partial"))
  )
  if (left.length > 0) throw new Command.Broken(`it left ${left.join(", ")}`)
}

/** What a command leaves on disk without a fault, and the pages that it needs. */
interface Alone {
  readonly left: unknown
  readonly pages: number
}

/** The mounted disks, and what commands leave on them without a fault. */
export interface Bench {
  readonly root: string
  readonly conditions: ReadonlyArray<Condition>
  readonly makeDisk: (folder: string) => Disk.Disk
  readonly commands: ReadonlyArray<Command.Command>
  readonly alone: Map<string, Alone>
  readonly close: () => Promise<void>
}

/** The faults that are not tested with folders instead of mounted disks, and the reasons. */
export const untried: ReadonlyArray<string> = conditions.flatMap(({ name, needsMount }) =>
  needsMount === undefined ? [] : [`${name} (${needsMount})`]
)

/** Opens the bench: with mounted disks inside of `Disk.enter`, otherwise with folders. */
export const open = async (isMounted: boolean): Promise<Bench> => {
  const server = http.createServer((_, response) => response.end(Command.model))
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as { readonly port: number }
  const root = fs.mkdtempSync(path.join(os.tmpdir(), "divisi-disks-"))
  const training = await Training.serve(root)
  return {
    root,
    commands: Command.all(`http://127.0.0.1:${port}/model.gguf`, training),
    conditions: conditions.filter(({ needsMount }) => isMounted || needsMount === undefined),
    makeDisk: isMounted ? Disk.mount : Disk.folder,
    alone: new Map(),
    close: async () => {
      server.close()
      await training.close()
      fs.rmSync(root, { recursive: true, force: true })
    }
  }
}

const onDisk = async <A>({ makeDisk, root }: Bench, use: (disk: Disk.Disk) => Promise<A>): Promise<A> => {
  const disk = makeDisk(fs.mkdtempSync(path.join(root, "disk-")))
  try {
    return await use(disk)
  } finally {
    disk.unmount()
  }
}

const aloneOf = async (bench: Bench, command: Command.Command): Promise<Alone> => {
  const { alone } = bench
  const known = alone.get(command.name)
  if (known !== undefined) return known
  return onDisk(bench, async (disk) => {
    await command.prepare?.(disk.folder)
    const before = disk.used()
    const ended = await start({ command, disk }, command.args)
    if (ended.code !== 0) throw new Error(`${command.name} alone: ${ended.errors}`)
    const made = { left: command.left(disk.folder), pages: Math.max(1, disk.used() - before) }
    alone.set(command.name, made)
    return made
  })
}

const caseOf = ({ commands, conditions }: Bench, seed: number) => ({
  command: commands[seed % commands.length]!,
  condition: conditions[(seed + Math.floor(seed / commands.length)) % conditions.length]!
})

/** The fault of a case. */
export const conditionOf = (bench: Bench, seed: number): string => caseOf(bench, seed).condition.name

/** One case: a command and a condition, by the seed. */
export const run = async (bench: Bench, seed: number): Promise<Outcome | Problem> => {
  const draw = Seed.draw(Seed.spread(seed, "disks"))
  const { command, condition } = caseOf(bench, seed)
  try {
    const { left, pages } = await aloneOf(bench, command)
    return await onDisk(bench, async (disk) => {
      await command.prepare?.(disk.folder)
      const trial = { command, disk, draw, pages }
      const ended = await condition.during(trial)
      condition.after?.(disk)
      for (const one of ended) checkWords(one, "it")
      const isDone = ended.some(({ code }) => code === 0)
      await goOn(trial, left, isDone)
      return isDone ? "done" : "refused"
    })
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error)
    return { seed, command: command.name, condition: condition.name, problem }
  }
}
