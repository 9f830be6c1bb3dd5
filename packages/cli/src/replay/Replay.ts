/** `divisi replay`: displays a recorded run as if it were live. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { type Failure, usage } from "../invocation/Failure.ts"
import * as Output from "../invocation/Output.ts"
import * as StandardInput from "../invocation/StandardInput.ts"
import * as TextFile from "../invocation/TextFile.ts"
import * as PlainView from "../view/PlainView.ts"
import * as View from "../view/View.ts"
import type { Input } from "./flags.ts"
import * as Recording from "./Recording.ts"

const readText = (file: string): Effect.Effect<string, Failure> =>
  file === "-" ? Effect.map(StandardInput.read(), (text) => text ?? "") : TextFile.named(file, "the run")

/** Prints the events at `speed` times their original speed, or all at once if `speed` is 0. */
const print = Effect.fnUntraced(function* ({ run }: Recording.Recording, speed: number) {
  let shown = run.startedAt
  for (const { at, lines } of PlainView.entries(run)) {
    if (speed > 0 && at > shown) {
      yield* Effect.sleep((at - shown) / speed)
      shown = at
    }
    Output.stdout.write(`${lines.join("\n")}\n`)
  }
})

/** Animates the run, or shows only its final state if the speed is 0. */
const play = ({ at, endedAt, run }: Recording.Recording, speed: number): Effect.Effect<void> =>
  Effect.suspend(() => {
    const since = Date.now()
    const now = () => (speed === 0 ? endedAt : Math.min(endedAt, run.startedAt + (Date.now() - since) * speed))
    const view = View.live(Output.drawing(Output.stdout), () => at(now()), now)
    const wait = speed === 0 ? Effect.void : Effect.sleep((endedAt - run.startedAt) / speed)
    return Effect.ensuring(wait, Effect.sync(view.close))
  })

/** Shows the run again. */
export const replay = Effect.fnUntraced(function* (input: Input): Effect.fn.Return<void, Failure> {
  const text = yield* readText(input.file)
  const read = Recording.read(text)
  if (Result.isFailure(read))
    return yield* usage(`${input.file === "-" ? "Standard input" : input.file} ${read.failure}`)
  const isLive = View.isLive(Output.stdout, yield* View.terminal)
  const speed = Option.getOrElse(input.speed, () => (isLive ? 1 : 0))
  yield* isLive ? play(read.success, speed) : print(read.success, speed)
})
