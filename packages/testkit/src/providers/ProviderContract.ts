/**
 * The contract for providers: how every worker for a vendor's model must behave. The suite runs over real sockets,
 * through the vendor's real SDK, against a local server.
 *
 * A provider declares unsupported features: settings that its vendor does not support as rejected, anything else as a
 * gap with its reason. The cases of gaps run as well, and are expected to fail.
 */

import type { Capabilities } from "@divisi/core/Worker"
import { answers } from "./internal/cases/answers.ts"
import { connections } from "./internal/cases/connections.ts"
import { failures } from "./internal/cases/failures.ts"
import { faults } from "./internal/cases/faults.ts"
import { interruption } from "./internal/cases/interruption.ts"
import { misbehaviour } from "./internal/cases/misbehaviour.ts"
import { requests } from "./internal/cases/requests.ts"
import { secrets } from "./internal/cases/secrets.ts"
import { settings } from "./internal/cases/settings.ts"
import { shapes } from "./internal/cases/shapes.ts"
import { sights } from "./internal/cases/sights.ts"
import { toolCalls } from "./internal/cases/toolCalls.ts"
import { tools } from "./internal/cases/tools.ts"
import { toolTurns } from "./internal/cases/toolTurns.ts"
import { capabilitiesOf, isStreaming, type Options, type Subject, withSubject } from "./internal/subject.ts"

export type { About, Connection, Expectation, Expectations, Options, Setting, Subject } from "./internal/subject.ts"

/** A requirement of providers. */
export interface Case {
  /** Identifies the case, for example when it is declared as a gap: `usage/cached`. */
  readonly id: string
  /** Describes the expected behaviour of the worker in one sentence. */
  readonly name: string
  /** Whether the case requires streaming. Default: `false`. */
  readonly needsStream?: boolean | undefined
  /** The capabilities that a worker must declare for this case. Default: none. */
  readonly needs?: keyof Capabilities | undefined
  /** Throws an error if the worker violates the requirement. */
  readonly run: (subject: Subject) => Promise<void>
}

/** The functions of a test runner, such as vitest or `node:test`. */
export interface Runner {
  readonly describe: (name: string, body: () => void) => unknown
  readonly it: (name: string, body: () => Promise<void>) => unknown
}

/** Reasons why cases are expected to fail, keyed by case id. */
export type Gaps = Readonly<Record<string, string>>

/** All cases of the contract, in the order of a call: requests, answers and faults. */
export const cases: ReadonlyArray<Case> = [
  ...requests,
  ...settings,
  ...answers,
  ...tools,
  ...toolCalls,
  ...toolTurns,
  ...sights,
  ...shapes,
  ...failures,
  ...faults,
  ...connections,
  ...interruption,
  ...secrets,
  ...misbehaviour
]

/**
 * Whether a case applies to a provider. It does not if it requires streaming or a capability that the provider lacks.
 */
const isAsked = ({ needs, needsStream }: Case, options: Options, can: Capabilities): boolean =>
  (needsStream !== true || isStreaming(options)) && (needs === undefined || can[needs] === true)

/**
 * Runs one case against a provider, using temporary servers. Skips the case if it requires capabilities that the worker
 * does not declare.
 */
export const check = async (one: Case, options: Options): Promise<void> => {
  if (one.needs === undefined || capabilitiesOf(options)[one.needs] === true) await withSubject(options, one.run)
}

const checkGap = async (one: Case, options: Options, reason: string): Promise<void> => {
  // A gap may affect only one of many answers.
  const passed = await check(one, { ...options, isThorough: true }).then(
    () => true,
    () => false
  )
  if (passed) throw new Error(`${one.id} is declared as a gap ("${reason}"), but it passes: remove the declaration.`)
}

const kinds = ["tools", "images", "files", "jsonSchema"] as const

const notes = (
  { settings: expectations, ...options }: Options,
  gaps: Gaps,
  can: Capabilities
): ReadonlyArray<string> => [
  ...(isStreaming(options) ? [] : ["streams: false: answers come as a whole"]),
  ...kinds.filter((kind) => can[kind] !== true).map((kind) => `no ${kind}`),
  ...Object.entries(gaps).map(([id, reason]) => `gap: ${id}: ${reason}`),
  ...Object.entries(expectations ?? {}).flatMap(([setting, expectation]) =>
    expectation === undefined || expectation === "passed"
      ? []
      : [`${expectation.type}: ${setting}: ${expectation.reason}`]
  )
]

/**
 * Registers the suite for a provider.
 *
 * **Details**
 *
 * Registers the contract as tests. `make` is called once to read the capabilities, and then once per case with a
 * server's address and a key. `settings` declares whether each setting is passed on (the default), rejected with an
 * `InvalidRequest` that names it, or need not be sent. `gaps` maps the cases that the provider does not pass to a
 * reason. Settings and gaps are listed in the output. The test fails if a gap passes or names an unknown case. `skips`
 * maps the cases that are not run to a reason: cases whose outcome depends on the machine because the provider's SDK
 * needs several seconds for them. A provider that requests complete answers declares `streams: false`: stream cases are
 * skipped, and complete answers are broken instead of streams. Cases about tools, images, files and shapes run if the
 * worker's `capabilities` include them.
 *
 * **Example**
 *
 * ```ts
 * import { it } from "node:test"
 * import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
 * import { ProviderContract, OpenAiChat } from "@divisi/testkit/providers"
 *
 * const names: Array<string> = []
 * ProviderContract.contract({
 *   name: "scripted",
 *   dialect: OpenAiChat.dialect,
 *   make: () => ScriptedWorker.echo("scripted"),
 *   describe: (_, body) => body(),
 *   it: (name) => names.push(name) // a real suite passes `it` of its test runner
 * })
 * names.length > 50 // => true
 * ```
 */
export const contract = (
  options: Options & Runner & { readonly gaps?: Gaps | undefined; readonly skips?: Gaps | undefined }
): void => {
  const { describe, gaps = {}, it, name, skips = {} } = options
  const unknown = Object.keys({ ...gaps, ...skips }).filter((id) => !cases.some((one) => one.id === id))
  describe(`${name} keeps the contract of providers`, () => {
    const can = capabilitiesOf(options)
    const skipped = Object.entries(skips).map(([id, reason]) => `skipped: ${id}: ${reason}`)
    const declared = [...notes(options, gaps, can), ...skipped]
    it(`declares its gaps: ${declared.length === 0 ? "none" : declared.join("; ")}`, async () => {
      if (unknown.length > 0) throw new Error(`No case of the contract is called ${unknown.join(", ")}.`)
      for (const note of declared) console.info(`${name}: ${note}`)
    })
    for (const one of cases) {
      if (!isAsked(one, options, can) || skips[one.id] !== undefined) continue
      const reason = gaps[one.id]
      if (reason === undefined) it(`${one.id}: ${one.name}`, () => check(one, options))
      else it(`gap: ${one.id}: ${reason}`, () => checkGap(one, options, reason))
    }
  })
}
