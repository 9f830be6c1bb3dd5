/** `divisi run`: one question through a Conductor, shown as it happens. */
import * as Conductor from "@divisi/core/Conductor"
import type { Ending, RunEvent } from "@divisi/core/RunEvent"
import * as Transcript from "@divisi/core/Transcript"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as ConfigFile from "../conductor/ConfigFile.ts"
import type { Profiles } from "../conductor/Profiles.ts"
import * as RunOptions from "../conductor/RunOptions.ts"
import * as Services from "../conductor/Services.ts"
import * as TranscriptFile from "../conductor/TranscriptFile.ts"
import type { Config } from "../config.ts"
import { exitCodes, type Failure, silent } from "../invocation/Failure.ts"
import * as Output from "../invocation/Output.ts"
import * as View from "../view/View.ts"
import type { Input } from "./flags.ts"
import * as Question from "./Question.ts"

const codes: { readonly [O in Ending]: number } = {
  answered: exitCodes.answered,
  refused: exitCodes.refused,
  failed: exitCodes.failed,
  budget: exitCodes.budget,
  suspended: exitCodes.suspended,
  interrupted: exitCodes.interrupted
}

/**
 * How a run is shown. On a terminal, there; where the output goes elsewhere, it gets the answer alone, and the error
 * output the rest. Events are plain JSON values, so what goes over the wire needs no schema.
 */
const makeView = (json: boolean, run: View.Source): Effect.Effect<View.View> => {
  if (json) return Effect.succeed(View.json(process.stdout, JSON.stringify))
  const { stderr, stdout } = process
  if (stdout.isTTY !== true) return Effect.succeed(View.plain(stderr, run, stdout))
  return Effect.map(View.terminal, (terminal) =>
    View.isLive(stdout, terminal) ? View.live(Output.drawing(stdout), run, Date.now) : View.plain(stdout, run)
  )
}

/** What to do where the offline gym cannot help. */
const realModels = [
  "",
  "The offline gym cannot answer this. To ask real models:",
  '  divisi run "…" --pool ollama:<model>   (on this machine; no key)',
  '  divisi run "…" --pool openai:gpt-5     (with OPENAI_API_KEY)',
  ""
].join("\n")

const profilesOf = ({ profiles }: Input): Effect.Effect<Profiles | undefined, Failure> =>
  Option.match(profiles, {
    onNone: () => Effect.succeed(undefined),
    onSome: (place) =>
      Effect.flatMap(
        Effect.promise(() => import("../conductor/Profiles.ts")),
        (Profiles) => Profiles.read(place)
      )
  })

/** The config with what the question needs of the gym. */
const equipped = (config: Config, question: string): Effect.Effect<Config> =>
  Effect.map(
    Effect.promise(() => import("../conductor/OfflineGym.ts")),
    (OfflineGym) => OfflineGym.configOf(config, question)
  )

/** Notes a run in the log of outcomes, so that it can be rated. */
const noted = (transcript: Transcript.Transcript | undefined): Effect.Effect<void> =>
  transcript === undefined
    ? Effect.void
    : Effect.flatMap(
        Effect.promise(() => import("../conductor/OwnOutcomes.ts")),
        (OwnOutcomes) => OwnOutcomes.note(transcript)
      )

/**
 * Runs a question to its end. An interruption stops its calls; what was done and paid is shown and written all the
 * same.
 */
export const run = (input: Input): Effect.Effect<void, Failure> => Effect.scoped(answer(input))

const answer = Effect.fnUntraced(function* (input: Input): Effect.fn.Return<void, Failure, Scope.Scope> {
  const { config } = yield* ConfigFile.resolve(Option.getOrUndefined(input.config))
  const question = yield* Question.resolve(input)
  const isGym = RunOptions.isGym(config, input)
  const options = yield* RunOptions.resolve(isGym ? yield* equipped(config, question) : config, input, {
    profiles: yield* profilesOf(input),
    areNotesShown: true
  })
  const file = Option.getOrUndefined(input.transcript)
  if (file !== undefined) yield* TranscriptFile.prepare(file)
  const recorder = Transcript.recorder()
  const view = yield* makeView(input.json, recorder.transcript)
  const listener = (event: RunEvent) => {
    recorder.listener(event)
    view.show(event)
  }
  const finish = Effect.suspend(() => {
    view.close()
    const transcript = recorder.transcript()
    return file === undefined || transcript === undefined ? Effect.void : TranscriptFile.write(file, transcript)
  })
  const result = yield* Effect.onExit(
    Services.provide(Conductor.make(options).run(question, { listener }), { ...Services.of(config, input), isGym }),
    () => finish
  )
  if (!isGym) yield* noted(recorder.transcript())
  if (result.ending === "refused" && isGym) process.stderr.write(realModels)
  const code = codes[result.ending]
  if (code !== exitCodes.answered) return yield* silent(code)
})
