/**
 * Trains a reading Conductor from a seed, or resumes interrupted training. The model is written to `reader.gguf` in the
 * folder.
 *
 *   pnpm --filter @divisi/tiny-conductor reader [--out runs/reader] [--seed 1] [--readers 3] [--steps 10000] [--teams 5400]
 *     [--rollouts 20] [--words words.gguf]
 *
 * By default, word vectors are taken from the published model file.
 */
import path from "node:path"
import { parseArgs } from "node:util"
import { Reader } from "@divisi/gguf"
import * as ReadingPolicy from "@divisi/policy-tiny/ReadingPolicy"
import * as Effect from "effect/Effect"
import { givenFile } from "../givenFile.ts"
import * as Training from "./Training.ts"

const { values } = parseArgs({
  options: {
    out: { type: "string", default: "runs/reader" },
    seed: { type: "string", default: "1" },
    readers: { type: "string", default: "3" },
    steps: { type: "string", default: "10000" },
    teams: { type: "string", default: "5400" },
    rollouts: { type: "string", default: "20" },
    words: { type: "string", default: ReadingPolicy.file }
  }
})

const folder = givenFile(values.out)
const numberOf = (name: "seed" | "readers" | "steps" | "teams" | "rollouts") => Number(values[name])
const [seed, steps, teams, rollouts] = [numberOf("seed"), numberOf("steps"), numberOf("teams"), numberOf("rollouts")]
const ordinals = Array.from({ length: numberOf("readers") }, (_, index) => index + 1)

const say = (line: object) => {
  const { system, user } = process.cpuUsage()
  console.log(JSON.stringify({ ...line, cpuSeconds: Math.round((user + system) / 1e6) }))
}

const program = Effect.gen(function* () {
  const vectors = yield* Reader.loadVectors(givenFile(values.words))
  const readers = yield* Effect.forEach(ordinals, (reader) =>
    Training.trainReader({
      folder: path.join(folder, `reader-${reader}`),
      seed: 10 * seed + reader,
      steps,
      vectors,
      onCheckpoint: (step, loss) => say({ reader, step, loss: Number(loss.toFixed(4)) })
    })
  )
  const onRollouts = (step: number, reward: number) => say({ rollouts: step, reward: Number(reward.toFixed(3)) })
  const onGate = (before: number, after: number) =>
    say({ gateBefore: before, gateAfter: after, isKept: after > before })
  const head = yield* Training.trainHead(readers, {
    folder: path.join(folder, "whole-runs"),
    seed,
    teams,
    rollouts,
    onRollouts,
    onGate
  })
  const file = path.join(folder, "reader.gguf")
  yield* ReadingPolicy.save(
    file,
    { readers, head },
    {
      "general.name": "divisi-reader",
      "divisi.seed": String(seed),
      "divisi.readers": String(readers.length),
      "divisi.steps": String(steps),
      "divisi.teams": String(teams),
      "divisi.rollouts": String(rollouts)
    }
  )
  say({ file })
})

await Effect.runPromise(program)
