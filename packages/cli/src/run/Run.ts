/** `divisi run`: runs a question through a Conductor and displays the progress. */
import { randomUUID } from "node:crypto"
import { Journal, type RunEvent, StepFailure, Transcript } from "@divisi/core"
import * as Conductor from "@divisi/core/Conductor"
import * as WorkerPool from "@divisi/core/WorkerPool"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as ConfigFile from "../config/ConfigFile.ts"
import type { Config } from "../config.ts"
import { exitCodes, type Failure, failed, silent, usage } from "../invocation/Failure.ts"
import * as FolderOf from "../invocation/FolderOf.ts"
import * as Hint from "../invocation/Hint.ts"
import * as NoEffect from "../invocation/NoEffect.ts"
import * as Output from "../invocation/Output.ts"
import * as StandardInput from "../invocation/StandardInput.ts"
import * as ResumeCommand from "../runs/ResumeCommand.ts"
import * as Services from "../stores/Services.ts"
import type { Profiles } from "../team/Profiles.ts"
import * as RunOptions from "../team/RunOptions.ts"
import * as Approval from "../view/Approval.ts"
import { oneLine } from "../view/Line.ts"
import * as View from "../view/View.ts"
import type { Input } from "./flags.ts"
import * as Question from "./Question.ts"

const codes: { readonly [O in RunEvent.Ending]: number } = {
  answered: exitCodes.answered,
  refused: exitCodes.refused,
  failed: exitCodes.failed,
  budget: exitCodes.budget,
  suspended: exitCodes.suspended,
  interrupted: exitCodes.interrupted
}

/**
 * Creates the view for a run. If standard output is not a terminal, only the answer is written to it, and all other
 * output goes to standard error. Events are plain JSON values, so `--json` needs no schema.
 */
const makeView = ({ json, quiet }: Pick<Input, "json" | "quiet">, run: View.Source): Effect.Effect<View.View> => {
  if (json) return Effect.succeed(View.json(Output.stdout, JSON.stringify))
  const { stderr } = process
  const { stdout } = Output
  if (quiet) return Effect.succeed(View.quiet(stderr, run, stdout))
  if (stdout.isTTY !== true) return Effect.succeed(View.plain(stderr, run, stdout))
  return Effect.map(View.terminal, (terminal) =>
    View.isLive(stdout, terminal) ? View.live(Output.drawing(stdout), run, Date.now) : View.plain(stdout, run)
  )
}

/** Whether a person can be prompted: on a terminal, and not in continuous integration. */
const isSomebodyThere = (json: boolean): Effect.Effect<boolean> =>
  Effect.map(
    View.terminal,
    ({ CI = "" }) =>
      !json && process.stdin.isTTY === true && Output.stdout.isTTY === true && ["", "0", "false"].includes(CI)
  )

/** Prompts below the view, which is paused until the user has answered. */
const askBelow =
  (view: View.View): Approval.Ask =>
  (lines) =>
    Effect.ensuring(
      Effect.suspend(() => {
        view.hold(lines)
        return StandardInput.line
      }),
      Effect.sync(view.goOn)
    )

/** Describes how to resume a suspended run. */
const waits = ({ waitingFor }: Conductor.RunResult, resume: string | undefined): string => {
  const plan = waitingFor.find((waiting) => waiting.for === "plan")
  const how =
    resume === undefined
      ? "Run this command in a terminal to approve it, or use --durable to approve it later."
      : `Approve it with: ${resume} --approve ${plan?.id}`
  const names = (what: "approval" | "result") => [
    ...new Set(waitingFor.flatMap((waiting) => (waiting.for === what ? oneLine(waiting.call.name) : [])))
  ]
  const [approvals, results] = [names("approval").join(","), names("result").join(", ")]
  return [
    ...(plan === undefined ? [] : [`The plan needs approval. ${how}`]),
    ...(approvals === ""
      ? []
      : [`These tools need approval: ${approvals}. Run in a terminal, or use --approve ${approvals}.`]),
    ...(results === "" ? [] : [`The config has no function for ${results}. Add one, or resume the run from code.`])
  ]
    .map((text) => `divisi: ${text}\n`)
    .join("")
}

/** Failures that `divisi pool check` explains: the vendor refuses the worker's calls, or does not respond. */
const unavailable: ReadonlySet<StepFailure.StepFailure["reason"]> = new Set([
  "Authentication",
  "Network",
  "Overloaded",
  "Quota",
  "RateLimited",
  "Timeout"
])

/** Suggests to check the workers that ended a run without an answer. */
const advice = (transcript: Transcript.Transcript, config: Option.Option<string>): string => {
  const failures = StepFailure.failuresOf(transcript).filter(({ reason }) => unavailable.has(reason))
  if (failures.length === 0) return ""
  const pool = [...new Set(failures.map(({ worker }) => oneLine(worker)))].join(",")
  const check = Hint.command(`divisi pool check --pool ${Hint.quoted(pool)}`, { config })
  return `divisi: check the failed workers with: ${check}\n`
}

/** Advice for questions that the offline gym cannot answer. */
const realModels = [
  "",
  "The offline gym cannot answer this question. To use real models:",
  '  divisi run "…" --pool ollama:<model>      (on this machine; no key)',
  '  divisi run "…" --pool openai:gpt-6.1-sol  (with OPENAI_API_KEY)',
  ""
].join("\n")

/**
 * Returns a function that writes a run's transcript to a file, after checking that the file is writable. Without a
 * file, the function does nothing.
 */
const transcriptWriter = Effect.fnUntraced(function* (
  file: string | undefined
): Effect.fn.Return<(transcript: Transcript.Transcript) => Effect.Effect<void, Failure>, Failure> {
  if (file === undefined) return () => Effect.void
  const TranscriptFile = yield* Effect.promise(() => import("../stores/TranscriptFile.ts"))
  yield* FolderOf.check(file, "write", "transcript")
  return (transcript) => TranscriptFile.write(file, transcript)
})

const profilesOf = ({ profiles }: Team): Effect.Effect<Profiles | undefined, Failure> =>
  Option.match(profiles, {
    onNone: () => Effect.succeed(undefined),
    onSome: (place) =>
      Effect.flatMap(
        Effect.promise(() => import("../team/Profiles.ts")),
        (Profiles) => Profiles.read(place)
      )
  })

/** Adds the parts of the gym that the question requires to the config. */
export const equipped = (config: Config, question: string): Effect.Effect<Config> =>
  Effect.map(
    Effect.promise(() => import("../team/OfflineGym.ts")),
    (OfflineGym) => OfflineGym.configOf(config, question)
  )

/** Options for creating and displaying a run. */
type Team = Omit<Input, "question" | "file" | "durable" | "runId" | "journal" | "dryRun">

/** A durable run and its journal. */
interface Kept {
  readonly journal: Journal.Journal
  readonly runId: string
  /** Whether the run has already finished. If so, its stored result is returned. */
  readonly hasEnded: boolean
  /** Flags that identify where the run is stored. */
  readonly place: Pick<Hint.Place, "journal" | "database">
}

/** Prints how to resume a durable run that has not finished. */
const hint = (runId: string, flags: ResumeCommand.Flags, exit: Exit.Exit<Conductor.RunResult, unknown>): void => {
  const result = Exit.isSuccess(exit) ? exit.value : undefined
  const ending = result?.ending
  // After a mismatch, the same flags would send a different call again.
  if (ending === "answered" || ending === "refused" || result?.error?._tag === "JournalMismatch") return
  const command = ResumeCommand.text(runId, flags, { isOverBudget: ending === "budget" })
  process.stderr.write(`divisi: run saved. Resume it with: ${command}\n`)
}

/**
 * Starts a run with `begin`, displays it, and waits until it ends. An interruption stops its calls; completed and paid
 * work is still displayed and stored.
 */
export const perform = Effect.fnUntraced(function* (
  config: Config,
  input: Team,
  question: string,
  kept: Kept | undefined,
  begin: (
    conductor: Conductor.Conductor["Service"],
    options: Conductor.RunOptions
  ) => Effect.Effect<Conductor.RunResult>
): Effect.fn.Return<void, Failure, Scope.Scope> {
  if (input.json && input.quiet) return yield* usage("Use either --json or --quiet.")
  const isGym = RunOptions.isGym(config, input)
  const options = yield* RunOptions.resolve(isGym ? yield* equipped(config, question) : config, input, {
    profiles: yield* profilesOf(input),
    areNotesShown: true
  })
  const writeTranscript = yield* transcriptWriter(Option.getOrUndefined(input.transcript))
  const recorder = Transcript.recorder()
  const view = yield* makeView(input, recorder.transcript)
  const listener = (event: RunEvent.RunEvent) => {
    recorder.listener(event)
    view.show(event)
  }
  const finish = (exit: Exit.Exit<Conductor.RunResult, unknown>) =>
    Effect.suspend(() => {
      view.close()
      const transcript = recorder.transcript()
      if (kept !== undefined && transcript !== undefined) hint(kept.runId, { ...input, ...kept.place }, exit)
      return transcript === undefined ? Effect.void : writeTranscript(transcript)
    })
  const ask = (yield* isSomebodyThere(input.json)) ? askBelow(view) : undefined
  const approve = ask && Approval.make()(ask)
  const approvePlan = ask && Approval.ofPlan(ask, WorkerPool.isPlay(options.pool))
  const result = yield* Effect.onExit(
    Services.provide(
      begin(Conductor.make(options), { listener, approve, approvePlan, journal: kept?.journal, runId: kept?.runId }),
      {
        ...Services.of(config, input),
        isGym
      }
    ),
    finish
  )
  const transcript = recorder.transcript()
  // If the journal is unusable, the run did not start and nothing was displayed.
  if (transcript === undefined) {
    const { detail = "The run cannot start.", error } = result
    return yield* error?._tag === "OptionsError" ? usage(detail) : failed(detail)
  }
  const OwnOutcomes = yield* Effect.promise(() => import("../stores/OwnOutcomes.ts"))
  yield* OwnOutcomes.note(transcript, { isPlay: isGym, isLogged: kept?.hasEnded === true })
  if (!isGym && result.ending === "failed") process.stderr.write(advice(transcript, input.config))
  const isPlanRefused = transcript.rounds.at(-1)?.decision?.decision === "refused"
  if (result.ending === "refused" && isGym && !isPlanRefused) process.stderr.write(realModels)
  if (result.ending === "suspended")
    process.stderr.write(waits(result, kept && ResumeCommand.text(kept.runId, { ...input, ...kept.place })))
  const code = codes[result.ending]
  if (code !== exitCodes.answered) return yield* silent(code)
})

/** Shows the plan for a question without executing it. */
const dryRun = Effect.fnUntraced(function* (
  config: Config,
  input: Input,
  question: string
): Effect.fn.Return<void, Failure, Scope.Scope> {
  const DryRun = yield* Effect.promise(() => import("./DryRun.ts"))
  const isGym = RunOptions.isGym(config, input)
  const options = yield* RunOptions.resolve(isGym ? yield* equipped(config, question) : config, input, {
    profiles: yield* profilesOf(input),
    areNotesShown: true
  })
  yield* DryRun.show(options, question, input.json, (run) =>
    Services.provide(run, { ...Services.of(config, input), isGym })
  )
})

/** Opens the journal if the run is durable: with `--durable`, `--run-id` or `--journal`. */
const keeping = ({ durable, journal, runId }: Input): Effect.Effect<Kept | undefined, Failure, Scope.Scope> => {
  if (!durable && Option.isNone(runId) && Option.isNone(journal)) return Effect.succeed(undefined)
  return Effect.gen(function* () {
    const Journals = yield* Effect.promise(() => import("../stores/Journals.ts"))
    const opened = yield* Journals.create(journal)
    const id = Option.getOrElse(runId, () => randomUUID())
    const known = yield* Journals.named(opened, id)
    const hasEnded = known?.ending !== undefined && Journal.isFinal(known.ending)
    return { journal: opened, runId: id, hasEnded, place: { journal } }
  })
}

const answer = Effect.fnUntraced(function* (input: Input): Effect.fn.Return<void, Failure, Scope.Scope> {
  const { config } = yield* ConfigFile.resolve(Option.getOrUndefined(input.config))
  const question = yield* Question.resolve(input)
  const { approve, durable, journal, mcp, quiet, runId, tool, transcript } = input
  if (input.noTools) yield* NoEffect.besides("no-tools", { tool, approve, mcp: mcp.length > 0 })
  if (input.dryRun) {
    yield* NoEffect.besides("dry-run", { durable, "run-id": runId, journal, transcript, quiet, approve })
    return yield* dryRun(config, input, question)
  }
  const kept = yield* keeping(input)
  yield* perform(config, input, question, kept, (conductor, options) => conductor.run(question, options))
})

/** Runs a question to its end. */
export const run = (input: Input): Effect.Effect<void, Failure> => Effect.scoped(answer(input))
