/**
 * Encrypts the state of suspended runs so that clients can carry it. Any server with the same key can resume the run,
 * even if its journal has evicted the run or never contained it.
 *
 * A seal contains the journal entries added by one segment. A client returns all seals in its history; together they
 * form the complete journal. The question is omitted, because the history contains it.
 */
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from "node:crypto"
import { deflateRawSync, inflateRawSync } from "node:zlib"
import { Journal, type RunEvent } from "@divisi/core"
import type { Message } from "@divisi/core/Message"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { isObject } from "../wire/Json.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The journal entries added by one segment. */
export interface Piece {
  readonly runId: string
  /** Number of journal entries before this piece. */
  readonly from: number
  readonly entries: ReadonlyArray<Journal.Entry>
  /** The number of question messages in the client's history and their hash. */
  readonly messages: number
  readonly hash: string
}

/** Encrypts and decrypts pieces. Only servers with the same secret can create or read a seal. */
export interface Sealer {
  /** Returns the encrypted piece, or `undefined` if it is too long for clients to carry. */
  readonly seal: (owner: string, piece: Piece) => string | undefined
  /** Returns the decrypted piece, or `undefined` unless it was sealed for this owner with the same secret. */
  readonly open: (owner: string, sealed: string) => Piece | undefined
}

// -------------------------------------------------------------------------------------------------------------------
// Sealing
// -------------------------------------------------------------------------------------------------------------------

const algorithm = "aes-256-gcm"
const version = 1
const sizes = { nonce: 12, tag: 16 }

/**
 * Maximum length of a seal in characters, and of its decompressed content in bytes. Larger seals are not decompressed.
 */
const limits = { characters: 65_536, bytes: 4 * 2 ** 20 }

const isPiece = (value: unknown): value is Piece =>
  isObject(value) && typeof value.runId === "string" && Array.isArray(value.entries)

/**
 * Creates a sealer for a secret. Defaults to a random secret, so that seals become unreadable when the process ends.
 */
export const make = (secret: Redacted.Redacted = Redacted.make(randomBytes(32).toString("hex"))): Sealer => {
  const key = Buffer.from(hkdfSync("sha256", Redacted.value(secret), "", "divisi: the state of a run", 32))

  const seal = (owner: string, piece: Piece): string | undefined => {
    const nonce = randomBytes(sizes.nonce)
    const cipher = createCipheriv(algorithm, key, nonce).setAAD(Buffer.from(owner))
    const packed = deflateRawSync(JSON.stringify(piece))
    const sealed = Buffer.concat([Buffer.from([version]), nonce, cipher.update(packed), cipher.final()])
    const text = Buffer.concat([sealed, cipher.getAuthTag()]).toString("base64")
    return text.length > limits.characters ? undefined : text
  }

  const open = (owner: string, sealed: string): Piece | undefined => {
    const bytes = Buffer.from(sealed.slice(0, limits.characters), "base64")
    if (bytes[0] !== version || bytes.length <= 1 + sizes.nonce + sizes.tag) return undefined
    try {
      const nonce = bytes.subarray(1, 1 + sizes.nonce)
      const decipher = createDecipheriv(algorithm, key, nonce, { authTagLength: sizes.tag }).setAAD(Buffer.from(owner))
      decipher.setAuthTag(bytes.subarray(-sizes.tag))
      const packed = decipher.update(bytes.subarray(1 + sizes.nonce, -sizes.tag))
      const text = inflateRawSync(Buffer.concat([packed, decipher.final()]), { maxOutputLength: limits.bytes })
      const piece: unknown = JSON.parse(text.toString("utf8"))
      return isPiece(piece) ? piece : undefined
    } catch {
      // The seal was created by another server, or the text is not a seal at all.
      return undefined
    }
  }

  return { seal, open }
}

// -------------------------------------------------------------------------------------------------------------------
// The question
// -------------------------------------------------------------------------------------------------------------------

const hashOf = (messages: ReadonlyArray<Message>): string =>
  createHash("sha256").update(JSON.stringify(messages)).digest("base64")

type Messages = Extract<RunEvent.RunEvent, { readonly type: "run-started" }>["task"]["messages"]

/** Restores the question's messages in the entries. */
const withQuestion = (
  entries: ReadonlyArray<Journal.Entry>,
  runId: string,
  messages: Messages
): ReadonlyArray<Journal.Entry> =>
  entries.map((entry) => {
    if (entry.type !== "event" || entry.event.type !== "run-started" || entry.event.runId !== runId) return entry
    return { ...entry, event: { ...entry.event, task: { ...entry.event.task, messages } } }
  })

// -------------------------------------------------------------------------------------------------------------------
// Journals
// -------------------------------------------------------------------------------------------------------------------

const unasked: Messages = [{ role: "user", content: "" }]

/** Seals a suspended run, starting with the journal entry `from`. */
export const take = Effect.fnUntraced(function* (
  { seal }: Sealer,
  journal: Journal.Journal,
  run: { readonly runId: string; readonly owner: string; readonly from: number }
): Effect.fn.Return<string | undefined, Journal.JournalError> {
  const { from, owner, runId } = run
  const entries = yield* journal.read(runId)
  const first = Journal.eventsOf(entries).find((event) => event.type === "run-started")
  const messages = first?.type === "run-started" ? first.task.messages : unasked
  return seal(owner, {
    runId,
    from,
    entries: withQuestion(entries.slice(from), runId, unasked),
    messages: messages.length,
    hash: hashOf(messages)
  })
})

/** Returns the total number of entries in the pieces. */
export const lengthOf = (pieces: ReadonlyArray<Piece>): number =>
  pieces.reduce((sum, { entries }) => sum + entries.length, 0)

/** Returns a run's pieces from the client's history, in order and without gaps. */
export const piecesOf = (
  { open }: Sealer,
  { owner, runId, seals }: { readonly owner: string; readonly runId: string; readonly seals: ReadonlyArray<string> }
): ReadonlyArray<Piece> => {
  const opened = seals.flatMap((sealed) => open(owner, sealed) ?? []).filter((piece) => piece.runId === runId)
  const chain: Array<Piece> = []
  for (const piece of opened.toSorted((left, right) => left.from - right.from)) {
    const length = lengthOf(chain)
    if (piece.from > length) break
    // The history may contain the same seal twice.
    if (piece.from === length) chain.push(piece)
  }
  return chain
}

/** Writes a run to a journal that does not contain it, based on its pieces and the client's history. */
export const restore = Effect.fnUntraced(function* (
  journal: Journal.Journal,
  pieces: ReadonlyArray<Piece>,
  history: ReadonlyArray<Message>
): Effect.fn.Return<void, Journal.JournalError> {
  const [first] = pieces
  if (first === undefined) return
  const { runId } = first
  const [head, ...rest] = history.slice(0, first.messages)
  if (head === undefined || hashOf([head, ...rest]) !== first.hash) return
  const entries = withQuestion(
    pieces.flatMap((piece) => piece.entries),
    runId,
    [head, ...rest]
  )
  const claim = yield* journal.claim(runId)
  const write = claim.length > 0 ? Effect.void : journal.append({ run: runId, epoch: claim.epoch, seq: 0, entries })
  yield* Effect.ensuring(write, journal.release(runId, claim.epoch))
})
