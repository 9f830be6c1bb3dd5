/**
 * Cases for misbehaving vendors: for any input, each call ends with the correct answer or with a typed error that
 * blames the vendor. The transcript can be parsed, all budgets are respected, and no secret is revealed.
 */
import assert from "node:assert/strict"
import { Seed } from "@divisi/core"
import type { WorkerErrorReason } from "@divisi/core/Worker"
import type { Dialect } from "../../Dialect.ts"
import * as MisbehavingVendor from "../../MisbehavingVendor.ts"
import type { Case } from "../../ProviderContract.ts"
import * as Script from "../../Script.ts"
import { type Played, play } from "../play.ts"
import { assertHidden, type Connection, isStreaming, type Subject } from "../subject.ts"
import { clock, weather } from "./tools.ts"

type Misbehaviour = MisbehavingVendor.Misbehaviour

type Judge = (played: Played, misbehaviour: Misbehaviour) => void

/** Maximum number of answers tried per case, unless the test is thorough. */
const most = 48

/** Returns every nth item in a list. The offset differs between cases, so that together they cover all values. */
const someOf = <A>(id: string, all: ReadonlyArray<A>): ReadonlyArray<A> => {
  const step = Math.ceil(all.length / most)
  return all.filter((_, index) => (index + Seed.derive(0, id)) % step === 0)
}

type Behaviours = (dialect: Dialect, isStream: boolean) => ReadonlyArray<Misbehaviour>

/** Returns the behaviours that a case tries: all of them, or a sample. */
const triedBy = ({ options }: Subject, id: string, behaviours: Behaviours): ReadonlyArray<Misbehaviour> => {
  const isThorough = options.isThorough ?? process.env.DIVISI_CONTRACT === "thorough"
  const possible = behaviours(options.dialect, isStreaming(options))
  return isThorough ? possible : someOf(id, possible)
}

const serveAll = ({ serve }: Subject, all: ReadonlyArray<Misbehaviour>) =>
  serve((_, index) => all[index]?.script ?? Script.refusal("server-error"))

/** Adds the name of the misbehaviour to an error. */
const named = async (one: Misbehaviour, run: () => Promise<void>): Promise<void> => {
  try {
    await run()
  } catch (error) {
    throw new Error(`${one.name}: ${error instanceof Error ? error.message : error}`, { cause: error })
  }
}

const misbehaving = (
  id: string,
  name: string,
  behaviours: Behaviours,
  judge: Judge,
  settings: Omit<Connection, "baseURL" | "apiKey"> = {}
): Case => ({
  id: `vendor/${id}`,
  name,
  run: async (subject) => {
    const all = triedBy(subject, id, behaviours)
    const server = await serveAll(subject, all)
    const one = subject.worker(server, settings)
    for (const misbehaviour of all) {
      await named(misbehaviour, async () => judge(await play(one, subject.apiKey), misbehaviour))
    }
    const sent = server.exchanges.length
    // On a busy machine, a time limit may expire before its request arrives.
    const isOnce = settings.timeoutMillis === undefined ? sent === all.length : sent <= all.length
    assert.ok(isOnce, `Every request is sent once: ${all.length} were to be, ${sent} were.`)
  }
})

/** Accepted failure reasons for invalid data in a stream. */
const nonsense: ReadonlySet<string> = new Set(["Malformed", "Network", "Overloaded"])

const assertFailed = (reason: WorkerErrorReason | undefined, tags: ReadonlySet<string>) => {
  assert.ok(reason, "The call must fail, but it ended well.")
  assert.ok(
    tags.has(reason._tag),
    `The call must fail with ${[...tags].join(" or ")}, not ${reason._tag} (${reason.detail}).`
  )
}

/**
 * //Depending on the changed value, a chunk may be lost with an unknown event, have different text, or no longer count
 * as reasoning.
 */
const [first = "", second = ""] = MisbehavingVendor.pieces
const possible = new RegExp(
  `^${["hm", first, second, ""].map((piece) => `(?:${piece}|odd|constructor|__proto__)?`).join("")}$`
)

const judgeShape: Judge = ({ reason, text }, { instead, name }) => {
  if (text === undefined) assertFailed(reason, nonsense)
  else assert.match(text, possible, "The answer is another text than the vendor sent.")
  const isText = MisbehavingVendor.pieces.includes(String(instead))
  // Text may be a list of parts, including an empty one.
  if (isText && !/: (?:"|null|\[)/.test(name)) assertFailed(reason, new Set(["Malformed"]))
}

/** Tool calls arrive unchanged or with the text that the vendor sent instead; otherwise, the call fails. */
const misbehavingCalls = (instead: string): Case => ({
  id: `vendor/calls/${instead}`,
  name: `reads calls of tools in which any value is ${instead}, or fails as the vendor's fault`,
  needs: "tools",
  run: async (subject) => {
    const all = triedBy(subject, `calls/${instead}`, (dialect, isStream) =>
      MisbehavingVendor.callShapes(dialect, instead, isStream)
    )
    const one = subject.worker(await serveAll(subject, all))
    for (const misbehaviour of all) {
      await named(misbehaviour, async () => {
        const { calls, error } = await subject.call(one, { tools: [weather, clock] })
        if (error !== undefined) return assertFailed(error.reason, nonsense)
        // An object among the arguments of a call reads like another call that the vendor merged with it.
        const own = calls.filter(({ arguments: text }) => text !== instead)
        assert.ok(own.length <= MisbehavingVendor.calls.length, "More tools are asked for than there were.")
      })
    }
  }
})

const judgeUsage: Judge = ({ reason, text }) => {
  if (text === undefined) assertFailed(reason, nonsense)
  else assert.equal(text, MisbehavingVendor.pieces.join(""))
}

const fails =
  (...tags: ReadonlyArray<string>): Judge =>
  ({ reason }) =>
    assertFailed(reason, new Set(tags))

const refused = (kind: Script.RefusalKind, status: number, ...tags: ReadonlyArray<string>): Case =>
  misbehaving(
    `refusal/${status}`,
    `fails with ${tags.join(" or ")} on status ${status}, whatever the body is`,
    (dialect) => MisbehavingVendor.refusals(dialect, kind, status),
    fails(...tags)
  )

// -------------------------------------------------------------------------------------------------------------------
// Redirects
// -------------------------------------------------------------------------------------------------------------------

const redirect = (status: number, location: string): Script.Script => ({
  type: "raw",
  status,
  contentType: "text/plain",
  body: "moved",
  headers: { location }
})

/**
 * Returns redirect targets at which a server would answer: another port, another host, another scheme, and the same
 * server.
 */
const locationsOf = (other: string): ReadonlyArray<string> => [
  `${other}/v1?key=in-the-query`,
  `${other.replace("127.0.0.1", "localhost")}/v1`,
  `${other.replace("http:", "https:")}/v1`,
  other.replace("http:", ""),
  "/elsewhere",
  "http://[nonsense"
]

const redirected = async ({ apiKey, serve, worker }: Subject, status: number) => {
  const other = await serve([Script.answer("taken from another server")])
  for (const location of locationsOf(other.url)) {
    const server = await serve([redirect(status, location), Script.answer("taken after a redirect")])
    const { reason } = await play(worker(server), apiKey)
    // The request is valid: an InvalidRequest would reach the client of a server as status 400.
    assertFailed(reason, new Set(["Malformed", "Network"]))
    assert.equal(server.exchanges.length, 1, `A redirect to ${location} was followed.`)
    assert.doesNotMatch(reason?.detail ?? "", /in-the-query/, "The error shows the query.")
  }
  assert.equal(other.exchanges.length, 0, "Another server was asked.")
}

/** The error for a redirect that may be intended must say what to do about it. */
const pointed = async ({ apiKey, serve, worker }: Subject) => {
  const server = await serve([redirect(308, "https://llm.example.org:8443/v2?key=in-the-query")])
  const { reason } = await play(worker(server), apiKey)
  assertFailed(reason, new Set(["Malformed"]))
  assert.match(reason?.detail ?? "", /https:\/\/llm\.example\.org:8443/, "The error does not say where it points.")
  const remedy = reason !== undefined && "remedy" in reason ? reason.remedy : undefined
  assert.match(remedy ?? "", /base.?URL/i, "The error does not say what to do, or the call is retried.")
}

// -------------------------------------------------------------------------------------------------------------------
// Secrets
// -------------------------------------------------------------------------------------------------------------------

/** Encodings of a key that the reader of a log could reverse. */
const dresses: Readonly<Record<string, (key: string) => string>> = {
  base64: (key) => Buffer.from(key).toString("base64"),
  "the base64 of its header": (key) => Buffer.from(`Bearer ${key}`).toString("base64"),
  "the base64 of an account": (key) => Buffer.from(`user:${key}`).toString("base64url"),
  spaces: (key) => [...key].join(" "),
  tags: (key) => `${key.slice(0, 9)}<b class="x">${key.slice(9)}</b>`,
  "marks that nobody sees": (key) => [...key].join("\u200b"),
  "marks of direction": (key) => `${key.slice(0, 9)}\u202e${key.slice(9)}`
}

const plain = (text: string): string => text.replaceAll(/<(?!hidden>)[^<>]*>|[\s\p{Cf}\p{Cc}]/gu, "")

/** Maximum length of a part of an encoded key that may appear. In base64, text next to a key can equal part of it. */
const shown = 12

const assertUndressed = (detail: string, dressed: string) => {
  const [text, key] = [plain(detail), plain(dressed)]
  for (let at = 0; at + shown <= key.length; at++) {
    assert.ok(!text.includes(key.slice(at, at + shown)), `A part of the key shows: ${detail}`)
  }
}

const dressed = async ({ apiKey, serve, worker }: Subject, dress: (key: string) => string) => {
  const written = dress(apiKey)
  const after = [{ type: "text" as const, text: "half" }]
  for (const kind of ["invalid-request", "server-error", "authentication"] as const) {
    const server = await serve([
      Script.refusal(kind, { echo: written }),
      Script.refusal("overloaded", { echo: written, after })
    ])
    for (let call = 0; call < 2; call++) {
      const { reason } = await play(worker(server), apiKey)
      assert.ok(reason, "A refused call must fail.")
      assertUndressed(reason.detail ?? "", written)
    }
  }
}

const withPassword = async ({ apiKey, serve, worker }: Subject) => {
  const { url } = await serve([Script.answer("ok")])
  const password = "hunter2-of-the-base-url"
  try {
    const { reason } = await play(worker(url.replace("//", `//me:${password}@`)), password)
    assert.ok(reason, "A base URL with a password must be refused.")
  } catch (error) {
    if (error instanceof assert.AssertionError) throw error
    assertHidden(error, password)
    assertHidden(error, apiKey)
  }
}

// -------------------------------------------------------------------------------------------------------------------
// The cases
// -------------------------------------------------------------------------------------------------------------------

export const misbehaviour: ReadonlyArray<Case> = [
  ...MisbehavingVendor.replacements.map((instead) =>
    misbehaving(
      `shape/${instead}`,
      `reads an answer in which any value is ${instead}, or fails as the vendor's fault`,
      (dialect, isStream) => MisbehavingVendor.shapes(dialect, instead, isStream),
      judgeShape
    )
  ),
  ...MisbehavingVendor.replacements.map(misbehavingCalls),
  misbehaving(
    "usage",
    "keeps every budget, whatever figures the vendor reports",
    (dialect, isStream) =>
      MisbehavingVendor.figures.flatMap((instead) => MisbehavingVendor.usages(dialect, instead, isStream)),
    judgeUsage
  ),
  misbehaving(
    "half-characters",
    "reads what is no whole character as none, unless the whole text follows",
    MisbehavingVendor.halfCharacters,
    (played) => {
      if (played.text === undefined) assertFailed(played.reason, nonsense)
      else assert.match(played.text, /^a(?:\ufffd+|🌍)b$/u)
    }
  ),
  refused("rate-limited", 429, "RateLimited"),
  refused("server-error", 500, "Overloaded"),
  refused("authentication", 401, "Authentication"),
  misbehaving(
    "failure",
    "fails on an error in the middle of a stream, whatever its shape",
    MisbehavingVendor.failures,
    fails("Malformed", "Network", "Overloaded")
  ),
  misbehaving(
    "body",
    "fails on a success that is no answer",
    MisbehavingVendor.bodies,
    fails("Malformed", "Network", "Overloaded")
  ),
  misbehaving(
    "endless",
    "ends an answer that has no end",
    MisbehavingVendor.endless,
    fails("Malformed", "Timeout", "Overloaded", "Network"),
    { timeoutMillis: 300 }
  ),
  ...[301, 302, 303, 307, 308].map(
    (status): Case => ({
      id: `vendor/redirect/${status}`,
      name: `follows no redirect of status ${status}: no key, header or question goes elsewhere, and no answer is taken`,
      run: (subject) => redirected(subject, status)
    })
  ),
  {
    id: "vendor/redirect/host",
    name: "says which server a redirect points to, and that the base URL can be set to it",
    run: pointed
  },
  ...Object.entries(dresses).map(
    ([dress, write]): Case => ({
      id: `vendor/secret/${dress}`,
      name: `hides its key where the vendor repeats it with or in ${dress}`,
      run: (subject) => dressed(subject, write)
    })
  ),
  {
    id: "vendor/secret/base-url",
    name: "takes no base URL with a password, and does not show it",
    run: withPassword
  }
]
