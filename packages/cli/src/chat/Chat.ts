/** `divisi chat`: runs each turn of a conversation as a separate run, all charged to one account. */
import { existsSync } from "node:fs"
import { Budget, type RunEvent, Transcript } from "@divisi/core"
import * as Conductor from "@divisi/core/Conductor"
import { WholeFile } from "@divisi/files"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as ConfigFile from "../config/ConfigFile.ts"
import { exitCodes, type Failure, silent } from "../invocation/Failure.ts"
import * as Output from "../invocation/Output.ts"
import * as Services from "../stores/Services.ts"
import * as Profiles from "../team/Profiles.ts"
import * as RunOptions from "../team/RunOptions.ts"
import * as Approval from "../view/Approval.ts"
import * as Format from "../view/Format.ts"
import { oneLine } from "../view/Line.ts"
import * as View from "../view/View.ts"
import * as Conversation from "./Conversation.ts"
import type { ChatInput } from "./flags.ts"
import * as Lines from "./Lines.ts"
import * as Talk from "./Talk.ts"

/** A conversation in progress, and the services it uses. */
interface Chat {
  readonly conductor: Conductor.Conductor["Service"]
  readonly ledger: Budget.Ledger
  readonly lines: Lines.Lines
  readonly talk: Talk.Talk
  readonly isTyped: boolean
  readonly approving: ReturnType<typeof Approval.make>
  conversation: Conversation.Conversation
}

// -------------------------------------------------------------------------------------------------------------------
// Turns
// -------------------------------------------------------------------------------------------------------------------

/** Runs one turn and returns how the run ended. A stopped turn has no answer, but the calls made before are charged. */
const turn = Effect.fnUntraced(function* (chat: Chat, question: string) {
  const recorder = Transcript.recorder()
  const view = chat.talk.turn(chat.conductor.maxRounds, recorder.transcript)
  const listener = (event: RunEvent.RunEvent) => {
    recorder.listener(event)
    view.listen(event)
  }
  const messages = Conversation.asked(chat.conversation, question)
  const ask: Approval.Ask = (lines) =>
    Effect.suspend(() => {
      view.ask(lines)
      return chat.lines.next
    })
  const approve = chat.isTyped ? chat.approving(ask) : undefined
  const running = chat.conductor.run({ messages }, { ledger: chat.ledger, listener, approve })
  const finish = Effect.sync(() => {
    const run = recorder.transcript()
    view.end(run, run?.answer)
    if (run !== undefined) chat.conversation = Conversation.after(chat.conversation, question, run, run.answer)
  })
  yield* Effect.ensuring(Effect.raceFirst(running, chat.lines.stopped), finish)
  return chat.conversation.runs.at(-1)?.ending ?? "interrupted"
})

// -------------------------------------------------------------------------------------------------------------------
// Commands
// -------------------------------------------------------------------------------------------------------------------

const help = [
  "/plan    show the last plan",
  "/cost    show the cost of each turn",
  "/reset   clear the conversation",
  "/save    write the conversation to a file: /save talk.json",
  "/exit    end (Ctrl-D)"
]

const save = (chat: Chat, name: string): Effect.Effect<void> => {
  const file = name === "" ? `divisi-chat-${new Date().toISOString().slice(0, 19).replaceAll(":", "-")}.json` : name
  if (existsSync(file)) return Effect.sync(() => chat.talk.note(`${file} already exists. Choose another file.`))
  return WholeFile.write(file, Conversation.saved(chat.conversation)).pipe(
    Effect.match({
      onSuccess: () => chat.talk.note(`Saved to ${file}.`),
      onFailure: ({ message }) => chat.talk.note(message)
    })
  )
}

/** Executes a slash command. Returns whether the conversation continues. */
const command = Effect.fnUntraced(function* (chat: Chat, line: string) {
  const [name = "", ...rest] = line.trim().split(/\s+/)
  const last = chat.conversation.runs.at(-1)
  switch (name) {
    case "/plan":
      if (last === undefined) chat.talk.note("No question has been asked yet.")
      else chat.talk.plan(last)
      return true
    case "/cost":
      chat.talk.note(...Conversation.costs(chat.conversation))
      return true
    case "/reset":
      chat.conversation = Conversation.reset(chat.conversation)
      chat.talk.note("Conversation cleared.")
      return true
    case "/save":
      yield* save(chat, rest.join(" "))
      return true
    case "/exit":
    case "/quit":
      return false
    default:
      chat.talk.note(...help)
      return true
  }
})

// -------------------------------------------------------------------------------------------------------------------
// The conversation
// -------------------------------------------------------------------------------------------------------------------

const isCommand = (line: string): boolean => /^\/[a-z]+(?:\s|$)/.test(line) && !line.includes("\n")

const talkOn = Effect.fnUntraced(function* (chat: Chat): Effect.fn.Return<void, Failure> {
  for (;;) {
    const line = yield* chat.lines.next
    if (line === undefined) return
    if (line.trim() === "") continue
    if (isCommand(line)) {
      if (!chat.isTyped)
        chat.talk.note(`Sending "${line.trim()}" as a question, because commands work only in a terminal.`)
      else if (yield* command(chat, line)) continue
      else return
    }
    const ending = yield* turn(chat, line)
    // When input is piped, the remaining lines assume an answer that does not exist.
    if (!chat.isTyped && ending !== "answered") return yield* silent(exitCodes[ending])
  }
})

const open = Effect.gen(function* () {
  const isTyped = process.stdin.isTTY === true && Output.stdout.isTTY === true
  const output = Output.drawing(Output.stdout)
  const talk = isTyped
    ? Talk.onTerminal(output, View.isLive(Output.stdout, yield* View.terminal))
    : Talk.onPipe(Output.stdout, process.stderr)
  return { isTyped, talk, lines: isTyped ? Lines.typed(output, "› ") : Lines.piped() }
})

const start = Effect.fnUntraced(function* (input: ChatInput): Effect.fn.Return<void, Failure, Scope.Scope> {
  const { config } = yield* ConfigFile.resolve(Option.getOrUndefined(input.config))
  const profiles = Option.isNone(input.profiles) ? undefined : yield* Profiles.read(input.profiles.value)
  const options = yield* RunOptions.resolve(config, input, { profiles, areNotesShown: true })
  const isGym = RunOptions.isGym(config, input)
  // The limits in the config apply to each turn; this one applies to the whole conversation.
  const ledger = Budget.make({ costUsd: Option.getOrUndefined(input.maxCost) })
  const chat: Chat = {
    conductor: Conductor.make(options),
    ledger,
    approving: Approval.make(),
    conversation: Conversation.empty,
    ...(yield* open)
  }
  if (chat.isTyped) {
    const ids = options.pool.workers.map(({ id }) => oneLine(id))
    chat.talk.note(
      `Chatting with ${ids.length > 6 ? Format.count(ids.length, "worker") : ids.join(", ")}. Type /help for a list of commands.`
    )
  }
  const finish = Effect.sync(() => {
    chat.lines.close()
    if (chat.conversation.runs.length === 0) return
    // The gym's workers are priced in play money.
    chat.talk.note(`${Conversation.total(chat.conversation)}${isGym ? " of play money" : ""}`)
  })
  yield* Effect.ensuring(Services.provide(talkOn(chat), { ...Services.of(config, input), isGym }), finish)
})

/** Runs a conversation until the user ends it. The total cost is always printed, even after an error. */
export const chat = (input: ChatInput): Effect.Effect<void, Failure> => Effect.scoped(start(input))
