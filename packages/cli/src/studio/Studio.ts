/** `divisi studio`: serves the app with the runs from a folder or a journal, or exports it. */
import { existsSync, statSync } from "node:fs"
import path from "node:path"
import { Journal, Transcript } from "@divisi/core"
import { JournalStream } from "@divisi/core/streams"
import { ReportFile } from "@divisi/evals"
import { DiskJournal, WholeFile } from "@divisi/files"
import { Export, Sessions, StudioServer, Summary } from "@divisi/studio"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { type Failure, failed, messageOf, usage } from "../invocation/Failure.ts"
import * as FolderOf from "../invocation/FolderOf.ts"
import { stdout } from "../invocation/Output.ts"
import * as TextFile from "../invocation/TextFile.ts"
import * as Recording from "../replay/Recording.ts"
import * as Journals from "../stores/Journals.ts"
import * as Folders from "./Folders.ts"
import type { Input } from "./flags.ts"
import * as Recordings from "./Recordings.ts"

const write = (text: string): void => void stdout.write(`${text}\n`)

/** Returns a source for the runs in a journal. */
const ofJournal = (journal: Journal.Journal): StudioServer.Source => ({
  list: (limit) => Recordings.readable(Effect.map(journal.list({ limit }), (runs) => runs.map(Journal.listed))),
  read: (id) =>
    Recordings.readable(
      Effect.gen(function* () {
        const summary = yield* journal.find(id)
        const transcript = Transcript.fromEvents(Journal.eventsOf(yield* journal.read(id)))
        return summary === undefined || transcript === undefined
          ? undefined
          : { summary: { ...Summary.fromTranscript(transcript), ...Journal.listed(summary) }, transcript }
      })
    ),
  follow: async (id, from) => {
    if ((await Recordings.readable(journal.find(id))) === undefined) return undefined
    let next = from
    const events = Stream.flatMap(JournalStream.follow(journal, id, { from }), (entry) => {
      const seq = next
      next += 1
      return entry.type === "event" ? Stream.succeed({ seq, event: entry.event }) : Stream.empty
    })
    return Stream.toAsyncIterable(events)
  }
})

const empty: StudioServer.Source = {
  list: async () => [],
  read: async () => undefined,
  follow: async () => undefined
}

/** Returns a source for the journal in a file. A missing file is not created, but read once a run has been stored. */
const ofFile = Effect.fnUntraced(function* (file: string): Effect.fn.Return<StudioServer.Source, Failure, Scope.Scope> {
  const open = Effect.map(Journals.open(Option.some(file)), ofJournal)
  if (existsSync(file)) return yield* open
  const opened = yield* Effect.cached(Scope.provide(open, yield* Effect.scope))
  const source = async () => (existsSync(file) ? await Recordings.readable(opened) : empty)
  return {
    list: async (limit) => (await source()).list(limit),
    read: async (id) => (await source()).read(id),
    follow: async (id, from, signal) => (await source()).follow(id, from, signal)
  }
})

/** Returns a source whose only entry is a journal that cannot be opened. */
const ofDamaged = (file: string, { message }: Journal.JournalError): StudioServer.Source => {
  const id = path.basename(file)
  return {
    list: async () => [Recordings.damaged(id, message, 0)],
    read: async (wanted) => {
      if (wanted === id) throw new StudioServer.Unreadable(message)
      return undefined
    },
    follow: async () => undefined
  }
}

/** Returns a source for the recorded runs in a folder. */
const ofFolder = (place: string): StudioServer.Source => {
  const recordings = Recordings.open(place)
  return {
    list: async (limit) => (await recordings.list()).slice(0, limit).map(({ summary }) => summary),
    read: async (id) => {
      const found = await recordings.find(id)
      const transcript = found && Recordings.transcriptIn(found.file)
      return found === undefined || transcript === undefined ? undefined : { summary: found.summary, transcript }
    },
    follow: async (id, from) => {
      const found = await recordings.find(id)
      const events = found && Recordings.eventsIn(found.file)
      return (
        events &&
        (async function* () {
          for (const [seq, event] of events.entries()) if (seq >= from) yield { seq, event }
        })()
      )
    }
  }
}

/** Combines several sources. If two of them contain the same run, the first takes precedence. */
const together = (sources: ReadonlyArray<StudioServer.Source>): StudioServer.Source => {
  const first = async <A>(ask: (source: StudioServer.Source) => Promise<A | undefined>): Promise<A | undefined> => {
    for (const source of sources) {
      const found = await ask(source)
      if (found !== undefined) return found
    }
    return undefined
  }
  return {
    list: async (limit) => {
      const runs = new Map<string, Summary.Summary>()
      for (const source of sources) {
        for (const run of await source.list(limit)) if (!runs.has(run.id)) runs.set(run.id, run)
      }
      return [...runs.values()].sort((one, other) => other.started_at - one.started_at).slice(0, limit)
    },
    read: (id) => first((source) => source.read(id)),
    follow: (id, from, signal) => first((source) => source.follow(id, from, signal))
  }
}

/** Returns the source of the displayed runs. */
const sourceOf = Effect.fnUntraced(function* ({
  folder,
  journal
}: Input): Effect.fn.Return<StudioServer.Source, Failure, Scope.Scope> {
  if (Option.isSome(journal)) yield* FolderOf.check(journal.value, "read", "journal")
  if (Option.isNone(folder)) return yield* ofFile(yield* Journals.fileOf(journal))
  const place = path.resolve(folder.value)
  if (!existsSync(place)) return yield* usage(`${folder.value} does not exist.`)
  const files = yield* Effect.try({
    try: () => Recordings.filesIn(place, /\.sqlite$/),
    catch: (error) => usage(`Cannot read ${folder.value}: ${messageOf(error)}.`)
  })
  const open = (file: string) => DiskJournal.make({ file })
  // A folder can contain other databases, such as the answers of an evaluation. A file that is specified explicitly
  // is a journal.
  const isNamed = files.length === 1 && files[0] === place
  const isOther = (file: string, { reason }: Journal.JournalError) =>
    reason._tag === "Foreign" && path.basename(file) !== ReportFile.names.runs
  const found = yield* Effect.forEach(files, (file) =>
    Effect.match(open(file), {
      onSuccess: (journal) => Effect.succeedSome(ofJournal(journal)),
      onFailure: (error) =>
        isNamed
          ? failed(error.message)
          : Effect.succeed(isOther(file, error) ? Option.none() : Option.some(ofDamaged(file, error)))
    }).pipe(Effect.flatten)
  )
  const given = yield* Effect.forEach(Option.toArray(journal), ofFile)
  return together([...found.flatMap(Option.toArray), ...given, ofFolder(place)])
})

/** Fails with the problem of a named file that contains nothing that the studio can show. */
const checkFile = Effect.fnUntraced(function* (
  place: string,
  source: StudioServer.Source
): Effect.fn.Return<void, Failure> {
  if (statSync(place).isDirectory()) return
  const [runs, folders] = yield* Effect.tryPromise({
    try: () => Promise.all([source.list(1), Folders.everything(place)]),
    catch: (error) => failed(`Cannot read ${place}: ${messageOf(error)}.`)
  })
  if (runs.length > 0 || Object.keys(folders).length > 0 || place.endsWith(".sqlite")) return
  const read = Recording.read(yield* TextFile.named(place, "the run"))
  return yield* usage(`${place} ${Result.isFailure(read) ? read.failure : "contains no run."}`)
})

const put = (file: string, text: string): Effect.Effect<void, Failure> =>
  Effect.mapError(WholeFile.write(file, text), ({ message }) => failed(`Cannot write the page. ${message}`))

/** Exports the app as a folder or as a single file. */
const exportTo = Effect.fnUntraced(function* (
  out: string,
  source: StudioServer.Source,
  place: string | undefined
): Effect.fn.Return<void, Failure> {
  const runs = yield* Effect.tryPromise({
    try: async () => {
      const list = await source.list()
      for (const { damaged } of list) if (damaged !== undefined) process.stderr.write(`divisi: skipped ${damaged}\n`)
      const read = await Promise.all(list.flatMap(({ damaged, id }) => (damaged === undefined ? source.read(id) : [])))
      return read.flatMap((run) => run ?? [])
    },
    catch: (error) => failed(`Cannot read the runs: ${messageOf(error)}.`)
  })
  const folders = yield* Effect.tryPromise({
    try: async () => (place === undefined ? {} : Folders.everything(place)),
    catch: (error) => failed(`Cannot read the evaluations and trainings: ${messageOf(error)}.`)
  })
  if (runs.length === 0 && Object.keys(folders).length === 0)
    return yield* usage("Nothing to export: no runs, evaluations or training runs were found.")
  const costs = {
    [Sessions.path]: Sessions.open({ title: "All runs", runs: runs.map(({ transcript }) => transcript) })
  }
  const more = runs.length > 1 ? { ...folders, ...costs } : folders
  const built = <A>(make: () => A) => Effect.try({ try: make, catch: (error) => failed(messageOf(error)) })
  if (out.endsWith(".html")) {
    yield* put(out, yield* built(() => Export.onePage(runs, more)))
  } else {
    const files = yield* built(() => Export.folder(runs, more))
    yield* Effect.mapError(WholeFile.makeFolder(out), ({ message }) => failed(`Cannot write the page. ${message}`))
    yield* Effect.forEach(files, ([name, text]) => put(path.join(out, name), text), { discard: true })
  }
  write(`${out}: ${runs.length} ${runs.length === 1 ? "run" : "runs"}`)
})

/** Serves the app until the process is stopped, or exports it. */
export const studio = (input: Input): Effect.Effect<void, Failure> =>
  Effect.scoped(
    Effect.gen(function* () {
      const source = yield* sourceOf(input)
      const place = Option.getOrUndefined(Option.map(input.folder, (folder) => path.resolve(folder)))
      if (place !== undefined) yield* checkFile(place, source)
      if (Option.isSome(input.export)) return yield* exportTo(input.export.value, source, place)
      const listening = Effect.tryPromise({
        try: () =>
          StudioServer.listen({
            source,
            ...(place !== undefined && { route: Folders.route(place) }),
            port: input.port,
            onError: (error) => void process.stderr.write(`divisi: ${messageOf(error)}\n`)
          }),
        catch: (error) =>
          failed(
            (error as NodeJS.ErrnoException).code === "EADDRINUSE"
              ? `Port ${input.port} is in use. Choose another port (0 for any free port).`
              : `Cannot open the studio: ${messageOf(error).replace(/\.$/, "")}.`
          )
      })
      const { url } = yield* Effect.acquireRelease(listening, ({ close }) => Effect.promise(close))
      write(input.json ? JSON.stringify({ event: "listening", url }) : `Studio: ${url}\nPress Ctrl-C to stop.`)
      return yield* Effect.onInterrupt(Effect.never, () => Effect.sync(() => void process.stderr.write("Stopped.\n")))
    })
  )
