/**
 * The recipe and settings of a run, stored in its folder next to the trainer's files so that the run can be resumed by
 * its folder name.
 */
import { existsSync, readFileSync } from "node:fs"
import path from "node:path"
import { WholeFile } from "@divisi/files"
import { RunLayout } from "@divisi/trainer"
import * as Effect from "effect/Effect"
import { type Failure, usage } from "../invocation/Failure.ts"
import { quoted } from "../invocation/Hint.ts"

/** A recipe and its settings. */
export interface Asked {
  readonly recipe: string
  readonly seed: number
  readonly engine?: string | undefined
  readonly baseModel?: string | undefined
}

const name = "recipe.json"

/** Whether a folder contains a training run. */
export const isRun = (folder: string): boolean => existsSync(path.join(folder, RunLayout.config))

/** Stores the request before the run starts. The folder must not contain a run yet. */
export const write = (folder: string, asked: Asked): Effect.Effect<void, Failure> =>
  WholeFile.makeFolder(folder).pipe(
    Effect.andThen(WholeFile.writeJson(path.join(folder, name), asked)),
    Effect.mapError(({ message }) => usage(`Cannot start the training run. ${message}`))
  )

const isAsked = (value: unknown): value is Asked =>
  typeof value === "object" && value !== null && "recipe" in value && "seed" in value

/** Reads the request of the run in a folder. */
export const read = (folder: string): Effect.Effect<Asked, Failure> =>
  Effect.suspend(() => {
    if (!isRun(folder)) {
      const problem = existsSync(folder) ? "contains no training run" : "does not exist"
      return Effect.fail(usage(`"${folder}" ${problem}. Start a training run with: divisi train --recipe <name>`))
    }
    try {
      const asked: unknown = JSON.parse(readFileSync(path.join(folder, name), "utf8"))
      if (isAsked(asked)) return Effect.succeed(asked)
    } catch {
      // The error below covers this case: the run was not started by this command.
    }
    return Effect.fail(
      usage(
        `The run in ${folder} has no ${name}, so it was not started by \`divisi train\`. Resume it from your own code.`
      )
    )
  })

/**
 * Returns the folder for a new run: the specified one, or the first unused one of `runs/gym`, `runs/gym-2` and so on.
 */
export const folderFor = (named: string | undefined, recipe: string): Effect.Effect<string, Failure> =>
  Effect.suspend(() => {
    if (named !== undefined) {
      return isRun(named)
        ? Effect.fail(
            usage(
              `${named} already contains a training run. Resume it with \`divisi train resume ${quoted(named)}\`, or choose another folder with --out.`
            )
          )
        : Effect.succeed(named)
    }
    const base = path.join("runs", recipe)
    let folder = base
    for (let number = 2; isRun(folder); number++) folder = `${base}-${number}`
    return Effect.succeed(folder)
  })
