/** `divisi replay`: a recorded run, shown like one that happens. */
import { readFileSync } from "node:fs"
import type { RunEvent } from "@divisi/core/RunEvent"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { type Failure, failed, messageOf, usage } from "../invocation/Failure.ts"
import * as StandardInput from "../invocation/StandardInput.ts"
import * as View from "../view/View.ts"
import type { Input } from "./flags.ts"
import * as Recording from "./Recording.ts"

const readText = (file: string): Effect.Effect<string, Failure> =>
  file === "-"
    ? Effect.map(StandardInput.read(), (text) => text ?? "")
    : Effect.try({
        try: () => readFileSync(file, "utf8"),
        catch: (error) => usage(`Cannot read the recording: ${messageOf(error)}.`)
      })

/** Shows the events, each when it is its turn: `speed` times as fast as they happened, or at once where that is 0. */
const play = Effect.fnUntraced(function* (events: ReadonlyArray<RunEvent>, view: View.View, speed: number) {
  let shown = events[0]!.at
  for (const event of events) {
    if (speed > 0 && event.at > shown) {
      yield* Effect.sleep((event.at - shown) / speed)
      shown = event.at
    }
    view.show(event)
  }
})

/** Shows the run again. */
export const replay = Effect.fnUntraced(function* (input: Input): Effect.fn.Return<void, Failure> {
  const text = yield* readText(input.file)
  const read = Recording.read(text)
  if (Result.isFailure(read))
    return yield* failed(`${input.file === "-" ? "Standard input" : input.file} ${read.failure}`)
  const events = read.success
  const isLive = View.isLive(process.stdout, process.env)
  const speed = Option.getOrElse(input.speed, () => (isLive ? 1 : 0))
  const from = events[0]!.at
  const since = Date.now()
  // Without a speed of its own, time stands where the last event left it.
  const now = () => (speed === 0 ? events.at(-1)!.at : from + (Date.now() - since) * speed)
  const view = isLive ? View.live(process.stdout, now) : View.plain(process.stdout)
  yield* Effect.ensuring(play(events, view, speed), Effect.sync(view.close))
})
