/** `divisi runs report`: generates a page of the studio about the cost of a journal's runs and each worker's share. */
import { Nearest, Transcript } from "@divisi/core"
import { WholeFile } from "@divisi/files"
import { Reports, Sessions } from "@divisi/studio"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import * as ConfigFile from "../config/ConfigFile.ts"
import { type Failure, failed, messageOf, usage } from "../invocation/Failure.ts"
import * as Hint from "../invocation/Hint.ts"
import { stdout } from "../invocation/Output.ts"
import * as Journals from "../stores/Journals.ts"
import * as Catalog from "../vendors/Catalog.ts"
import * as Prices from "../vendors/Prices.ts"
import type { ReportInput } from "./flags.ts"

const print = (text: string): void => void stdout.write(`${text}\n`)

/** Returns the runs in a journal that have changed since the given time, ordered by start time. */
const runsOf = (
  file: Option.Option<string>,
  database: Option.Option<Redacted.Redacted>,
  since: number
): Effect.Effect<ReadonlyArray<Transcript.Transcript>, Failure> =>
  Effect.scoped(
    Effect.gen(function* () {
      const journal = yield* Journals.open(file, database)
      const summaries = (yield* Journals.list(journal)).filter(({ changedAt }) => changedAt >= since)
      const runs = yield* Effect.forEach(summaries, ({ run }) =>
        Effect.map(Journals.events(journal, run), (events) => Transcript.fromEvents(events) ?? [])
      )
      return runs.flat().toSorted((left, right) => left.startedAt - right.startedAt)
    })
  )

/** Returns the model to compare with and its price: the user's price, or the vendor's list price. */
const reference = Effect.fnUntraced(function* (
  worker: string,
  input: ReportInput
): Effect.fn.Return<Sessions.Reference, Failure> {
  const { config } = yield* ConfigFile.resolve(Option.getOrUndefined(input.config))
  const said = Prices.of(config, input)
  const pricing = (Object.hasOwn(said, worker) ? said[worker] : undefined) ?? (yield* Catalog.pricingOf(worker))
  if (pricing !== undefined) return { worker, pricing }
  const meant = Nearest.nearest(
    worker,
    (yield* Catalog.models).map(({ name }) => name)
  )
  return yield* usage(
    `--against: the price of ${worker} is unknown.${Nearest.didYouMean(meant)} Set it in USD per million input and output tokens: --price ${worker}=0.5/1.5`
  )
})

/** Writes the page and prints its path, or prints only the figures. */
export const write = Effect.fnUntraced(function* (input: ReportInput): Effect.fn.Return<void, Failure> {
  const { alone, newerThan, out, title } = input
  const now = yield* Clock.currentTimeMillis
  const against = Option.isNone(input.against) ? undefined : yield* reference(input.against.value, input)
  const runs = yield* runsOf(
    input.journal,
    input.database,
    Option.match(newerThan, { onNone: () => 0, onSome: (age) => now - age })
  )
  if (runs.length === 0)
    return yield* usage(
      `No runs found. List runs with: ${Hint.command("divisi runs", { journal: input.journal, database: input.database })}`
    )
  const done = Option.isNone(alone) ? undefined : yield* runsOf(alone, Option.none(), 0)
  if (done?.length === 0) return yield* usage(`--alone: there are no runs in ${Option.getOrElse(alone, () => "")}.`)
  const session: Sessions.Session = { title, runs, against, alone: done }
  if (input.json) return print(JSON.stringify(Sessions.figures(session), null, 2))
  const page = yield* Effect.try({ try: () => Reports.session(session), catch: (error) => failed(messageOf(error)) })
  yield* Effect.mapError(WholeFile.write(out, page), ({ message }) => failed(`Cannot write the page. ${message}`))
  print(out)
})
