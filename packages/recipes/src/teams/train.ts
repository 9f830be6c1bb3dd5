/**
 * Trains a Conductor that reads, from a seed, and goes on where a training stopped. The model is `reader.gguf` in the
 * folder.
 *
 *   pnpm --filter @divisi/recipes reader [--out runs/reader] [--seed 1] [--steps 8000] [--teams 840] [--rollouts 20]
 *     [--words words.gguf]
 *
 * Vectors of words are those of the file that ships, unless another is named.
 */
import path from "node:path"
import { parseArgs } from "node:util"
import * as Reader from "@divisi/gguf/Reader"
import * as ReadingPolicy from "@divisi/policy-tiny/ReadingPolicy"
import * as Effect from "effect/Effect"
import { givenFile } from "../givenFile.ts"
import * as Training from "./Training.ts"

const { values } = parseArgs({
  options: {
    out: { type: "string", default: "runs/reader" },
    seed: { type: "string", default: "1" },
    steps: { type: "string", default: "8000" },
    teams: { type: "string", default: "840" },
    rollouts: { type: "string", default: "20" },
    words: { type: "string", default: ReadingPolicy.file }
  }
})

const folder = givenFile(values.out)
const [seed, steps, teams, rollouts] = [values.seed, values.steps, values.teams, values.rollouts].map(Number) as [
  number,
  number,
  number,
  number
]

const say = (line: object) => {
  const { system, user } = process.cpuUsage()
  console.log(JSON.stringify({ ...line, cpuSeconds: Math.round((user + system) / 1e6) }))
}

const program = Effect.gen(function* () {
  const onCheckpoint = (step: number, loss: number) => say({ step, loss: Number(loss.toFixed(4)) })
  const vectors = yield* Reader.loadVectors(givenFile(values.words))
  const reader = yield* Training.trainReader({ folder, seed, steps, vectors, onCheckpoint })
  const onRollouts = (step: number, reward: number) => say({ rollouts: step, reward: Number(reward.toFixed(3)) })
  const onGate = (before: number, after: number) =>
    say({ gateBefore: before, gateAfter: after, isKept: after >= before })
  const head = yield* Training.trainHead(reader, {
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
    { reader, head },
    {
      "general.name": "divisi-reader",
      "divisi.seed": String(seed),
      "divisi.steps": String(steps),
      "divisi.teams": String(teams),
      "divisi.rollouts": String(rollouts)
    }
  )
  say({ file })
})

await Effect.runPromise(program)
