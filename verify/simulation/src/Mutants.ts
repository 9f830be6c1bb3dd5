/**
 * Mutants: mistakes in the source code, most of which were actually made and fixed once. The simulation must detect
 * each of them.
 *
 * A mutant changes the text of a source file when it is loaded. Files on disk are unchanged.
 */
import { registerHooks } from "node:module"

/** A mistake: each `from` occurs exactly once in the file and is replaced. */
export interface Mutant {
  /** The file, in `packages`. */
  readonly file: string
  readonly edits: ReadonlyArray<{ readonly from: string; readonly to: string }>
  /**
   * A seed that finds the mistake. If it no longer does, search for another one: `pnpm simulate --mutant NAME --most
   * 1`.
   */
  readonly seed?: number
  /** Whether it is found in runs that survive their processes (`--survival`). */
  readonly survival?: true
  /** Whether it is found in programs (`--programs`). */
  readonly programs?: true
  /** A test file that finds it, if no seed does. */
  readonly test?: string
}

/** The order of two neighbours in `pipeline.ts` is swapped. */
const swapped = (outer: string, inner: string, indent = "      "): Pick<Mutant, "file" | "edits"> => ({
  file: "core/src/loop/pipeline.ts",
  edits: [{ from: `${indent}${outer},\n${indent}${inner}`, to: `${indent}${inner},\n${indent}${outer}` }]
})

/** The indent of the middleware of a step. */
const ofStep = "          "

const retryLine = "retry(options.retry ?? defaultRetry, settings.salt, run)"
const replayLine = "isReplayed ? replay(run, settings) : undefined"
const fitLine = "fit(run.ledger.isLimited || payer !== undefined)"
const cacheLine =
  "isReplayed || settings.cache !== undefined ? cache(settings.cache, run, settings.cachedAnswers) : undefined"
const gateLine = "settings.gate && gate(settings.gate, run)"
const nestedTest = "verify/simulation/test/nestedRuns.test.ts"
const callTest = "packages/core/test/pipeline.test.ts"

const concurrentTest = "packages/core/test/concurrentCalls.test.ts"

/** The mistakes by name. */
export const mutants: Readonly<Record<string, Mutant>> = {
  // A resumed run finds concurrent calls by their order instead of their requests.
  "calls-by-order": {
    test: concurrentTest,
    file: "core/src/loop/numbering.ts",
    edits: [{ from: "const found = unused.find(digest, isRecorded)", to: "const found = undefined" }]
  },
  "transcript-by-order": {
    test: concurrentTest,
    file: "core/src/middleware/replay/replay.ts",
    edits: [{ from: "same === undefined ? isNext : same === request", to: "isNext" }]
  },
  "critic-by-order": {
    test: concurrentTest,
    file: "core/src/journal/RecordedRun.ts",
    edits: [{ from: "(answer.turn ?? index) === turn", to: "index === turn" }]
  },
  // The middleware of a call in another order. Two swaps break no guarantee: `cache` with `payerReported`, because only
  // calls that are made are settled, and `timeout` with `intent`, which decides whether a slow journal uses the time of
  // the call.
  "order-replay-fit": { test: callTest, ...swapped(replayLine, fitLine) },
  "order-fit-cache": { test: callTest, ...swapped(fitLine, cacheLine) },
  // The answers of the journal are used after those of the cache.
  "order-replay-cache": {
    test: callTest,
    file: "core/src/loop/pipeline.ts",
    edits: [
      { from: `      ${replayLine},\n`, to: "" },
      { from: `      ${cacheLine},\n`, to: `      ${cacheLine},\n      ${replayLine},\n` }
    ]
  },
  "order-payer-retry": {
    test: callTest,
    ...swapped("payer?.onPaid && payerReported(payer, run)", retryLine)
  },
  "order-retry-meter": { test: callTest, ...swapped(retryLine, "meter(run)") },
  "order-meter-payer": { test: callTest, ...swapped("meter(run)", "payer && payerCharged(payer, run)") },
  "order-payer-gate": { test: callTest, ...swapped("payer && payerCharged(payer, run)", gateLine) },
  "order-gate-timeout": {
    test: callTest,
    ...swapped(gateLine, "timeout(run, timeoutMillis)")
  },
  // The middleware of a step in another order. Four swaps break no guarantee: `reassign` with
  // `nested`, because only workers take over steps, and only from workers; `settings` with `context` and `context` with
  // `shape`, because `context` compares only messages; and `shape` with `tools`, because a shape is for answers, not for
  // turns that ask for tools.
  "order-check-reassign": {
    test: "packages/core/test/revise.test.ts",
    ...swapped(
      "isChecked ? check(context, recorded, plan) : undefined",
      'isChecked || settings.reassign !== "never" ? reassign(context, plan) : undefined',
      ofStep
    )
  },
  "order-tools-conversed": {
    test: "packages/core/test/tools.test.ts",
    ...swapped(
      "equipment.tools && tools(context, recording, plan, equipment.tools)",
      "isConversed ? conversed(context) : undefined",
      ofStep
    )
  },
  "order-conversed-capable": {
    test: "packages/core/test/tools.test.ts",
    file: "core/src/loop/pipeline.ts",
    edits: [
      {
        from: `${ofStep}isConversed ? conversed(context) : undefined,\n${ofStep}capable(plan)`,
        to: `${ofStep}capable(plan),\n${ofStep}isConversed ? conversed(context) : undefined`
      }
    ]
  },
  "order-nested-settings": {
    test: "packages/core/test/stepSettings.test.ts",
    ...swapped("delegate && nested(plan, delegate)", "isSet ? settingsOf(plan) : undefined", ofStep)
  },
  // A run that a call starts does not know the reservation of the call, and reserves in addition to it.
  "nested-unknown": {
    test: nestedTest,
    file: "core/src/loop/call.ts",
    edits: [
      {
        from: "return isCarried ? Effect.provideService(asked, Caller, callerOf(run, at)) : asked",
        to: "return asked"
      }
    ]
  },
  // Nested runs wait for what only their own callers could free.
  "nested-stuck": {
    test: nestedTest,
    file: "core/src/run/Caller.ts",
    edits: [{ from: "for (const check of [...waits]) if (waits.has(check)) check()", to: "" }]
  },
  // A waiter that is granted in the turn in which it settles is granted twice, and keeps the second grant.
  "granted-twice": {
    seed: 28,
    file: "core/src/run/MemoryLedger.ts",
    edits: [{ from: "if (this.isServing) return", to: "" }]
  },
  // An amount that is granted at the moment of an interruption stays reserved.
  "grant-kept": {
    seed: 29,
    file: "core/src/loop/call.ts",
    edits: [
      {
        from: "Effect.flatMapEager(reserve(ledger, ask, at), (own) =>",
        to: "Effect.flatMap(restore(reserve(ledger, ask, at)), (own) =>"
      }
    ]
  },
  // An answer that arrives while another step ends the run is paid and not reported.
  "answer-untold": {
    seed: 120,
    file: "core/src/loop/step.ts",
    edits: [
      { from: "      onNotice,\n      onAnswer\n", to: "      onNotice,\n      onAnswer: () => {}\n" },
      {
        from: 'return Effect.map(made, () => ({ type: "answered", ordinal, tried }))',
        to: `return Effect.map(made, (answered) => {
      onAnswer(answered)
      return { type: "answered", ordinal, tried }
    })`
      }
    ]
  },
  // The usage that a vendor reports is not checked.
  "usage-unchecked": {
    seed: 15,
    file: "core/src/loop/receive.ts",
    edits: [
      {
        from: "Usage.checked(part.usage, () => estimateOf(call, written), boundsOf(call, isBounded, written))",
        to: "part.usage"
      }
    ]
  },
  // An endless answer is read without a limit.
  "read-without-end": {
    seed: 116,
    file: "core/src/loop/receive.ts",
    edits: [{ from: "size > leastCharacters && size > bound(call) ?", to: "size < 0 ?" }]
  },
  // An error that throws when it is formatted does not end the call.
  "hostile-words": {
    seed: 55,
    file: "core/src/Thrown.ts",
    edits: [
      {
        from: 'return plain(String(said(thrown)))\n  } catch {\n    return "something that cannot be shown"\n  }',
        to: "return plain(String(said(thrown)))\n  } finally {\n  }"
      }
    ]
  },
  // A length of time is a difference of the wall clock.
  "wall-clock": {
    seed: 29,
    file: "core/src/Elapsed.ts",
    edits: [{ from: "Number(clock.monotonicTimeNanosUnsafe()) / 1_000_000", to: "clock.currentTimeMillisUnsafe()" }]
  },
  // A lookup that starts to wait when the answer arrives is never resumed.
  "joins-late": {
    seed: 64,
    file: "core/src/run/ResponseCache.ts",
    edits: [
      { from: "        flight.add(waiter)\n", to: "" },
      { from: "restore(join(waiter))", to: "restore(Effect.suspend(() => (flight.add(waiter), join(waiter))))" }
    ]
  },
  // A call that is interrupted when the gate admits it keeps its slot.
  "place-kept": {
    seed: 240,
    file: "provider-kit/src/internal/line.ts",
    edits: [{ from: "Effect.flatMap(enter,", to: "Effect.flatMap(restore(enter)," }]
  },
  // A worker sees every earlier step.
  "sees-all": {
    seed: 2,
    file: "core/src/workflow/StepMessages.ts",
    edits: [{ from: "of Workflow.visible(workflow, step)", to: "of answers.slice(0, step).keys()" }]
  },
  // The end of a stopped run is reported twice.
  "ends-twice": {
    seed: 1,
    file: "core/src/loop/result.ts",
    edits: [
      {
        from: '  context.emit?.(\n    defined({ type: "run-finished"',
        to: `  if (ending === "interrupted") context.emit?.(defined({ type: "run-finished", ending, spend, durationMillis }))
  context.emit?.(\n    defined({ type: "run-finished"`
      }
    ]
  },
  // A step continues with an answer that failed its check, before the policy has decided.
  "not-held": {
    seed: 155,
    file: "core/src/loop/scheduler.ts",
    edits: [{ from: "if (!holds || stopped !== undefined)", to: "if (!holds || holds)" }]
  },
  // A run that is stopped in the middle of a round returns the last answer of that round instead of the accepted one.
  "stops-with-last": {
    seed: 2304,
    file: "core/src/loop/round.ts",
    edits: [
      { from: "answer: textOf(state, revision.answer), revision", to: "answer: answerOf(workflow, results), revision" }
    ]
  },
  // A step that was held by a failed check is never released.
  "held-for-ever": {
    seed: 365,
    file: "core/src/loop/scheduler.ts",
    edits: [{ from: "const ready = held.flatMap(released)", to: "const ready = held.slice(1).flatMap(released)" }]
  },
  // The policy is called while steps wait for tools, before their answers exist.
  "asked-early": {
    seed: 95,
    survival: true,
    file: "core/src/middleware/revise/revise.ts",
    edits: [{ from: "stopped === undefined && waitingFor.length === 0", to: "stopped === undefined" }]
  },
  // A check is called again when a run is resumed, and its new verdict is used.
  "verdict-anew": {
    seed: 95,
    survival: true,
    file: "core/src/middleware/check/check.ts",
    edits: [
      { from: "known !== undefined && !isAsking(check)", to: "known !== undefined && known.objection === ''" },
      { from: "= known ?? now", to: "= now" }
    ]
  },
  // A call is sent before its intent is in the journal.
  "intent-late": {
    seed: 0,
    survival: true,
    file: "core/src/middleware/intent/intent.ts",
    edits: [
      {
        from: "Effect.flatMap(intend(run, slot, ask, at), () => sent) : sent",
        to: "Effect.tap(sent, () => intend(run, slot, ask, at)) : sent"
      }
    ]
  },
  // With two concurrent writers, the second reports success before the write of the first is complete.
  "written-beside": {
    seed: 0,
    survival: true,
    file: "core/src/run/Recording.ts",
    edits: [
      {
        from: "Deferred.await(current), () => reach(length, next))",
        to: "Effect.sync(() => (written = length)), () => reach(length, next))"
      }
    ]
  },
  // An answer is used and not written.
  "answer-unwritten": {
    seed: 0,
    survival: true,
    file: "core/src/middleware/replay/replay.ts",
    edits: [{ from: 'recording.note({ call, attempt, type: "answered"', to: 'void ({ call, attempt, type: "answered"' }]
  },
  // An unconfirmed call costs nothing.
  "lost-uncharged": {
    seed: 12,
    survival: true,
    file: "core/src/middleware/replay/replay.ts",
    edits: [
      {
        from: "Effect.map(bookDoubt(run.ledger, name, worst), (paid) => reportLost(run, ask, paid, name))",
        to: "Effect.sync(() => reportLost(run, ask, { costUsd: worst.costUsd, usage: worst.usage }, name))"
      }
    ]
  },
  // A process that was taken over writes on.
  unfenced: {
    seed: 0,
    survival: true,
    file: "core/src/journal/MemoryJournal.ts",
    edits: [
      {
        from: "if (isOver || kept?.epoch !== epoch || kept.owner !== self || kept.entries.length !== seq)",
        to: "if (kept === undefined)"
      }
    ]
  },
  // The number of a written entry is not checked.
  "number-unchecked": {
    seed: 33,
    survival: true,
    file: "core/src/journal/MemoryJournal.ts",
    edits: [{ from: "kept.entries.length !== seq)", to: "kept.entries.length < seq)" }]
  },
  // A handler starts before its call is in the journal.
  "tool-unsaved": {
    seed: 1,
    survival: true,
    file: "core/src/middleware/tools/tools.ts",
    edits: [{ from: "Effect.andThen(recording.saved, spanned)", to: "spanned" }]
  },
  // An unconfirmed tool call is repeated, even if the tool is not repeatable.
  "tool-again": {
    seed: 11,
    survival: true,
    file: "core/src/middleware/tools/tools.ts",
    edits: [{ from: "if (isInDoubt && !prepared.isRepeatable)", to: "if (isInDoubt && prepared.isRepeatable)" }]
  },
  // A run that waits keeps what its calls had reserved.
  "suspended-reserved": {
    seed: 0,
    survival: true,
    file: "core/src/loop/call.ts",
    edits: [
      {
        from: "return Effect.mapEager(settleUnsafe(ledger, own, paid), () => {",
        to: "return Effect.map(ledger.charge(0), () => {"
      }
    ]
  },
  // An item sees the results of other items.
  "sibling-seen": {
    seed: 0,
    programs: true,
    file: "core/src/loop/cells.ts",
    edits: [
      {
        from: "groupAt(step, of.path, sharedAxes(axes[of.step]!, axes[step]!))",
        to: "groupAt(step, of.path, Math.max(0, sharedAxes(axes[of.step]!, axes[step]!) - 1))"
      }
    ]
  },
  // An item waits until all items have finished the previous step.
  barrier: {
    seed: 1,
    programs: true,
    file: "core/src/loop/cells.ts",
    edits: [
      {
        from: "if (sharedAxes(axes[step]!, axes[later]!) !== path.length) continue",
        to: "if (path.length > 0) continue"
      },
      {
        from: "const under = groupAt(later, path, path.length)\n      if (under",
        to: "const under = roots[later]\n      if (under"
      }
    ]
  },
  // A resumed run is not charged for the calls of late cells.
  "late-uncharged": {
    seed: 21,
    programs: true,
    file: "core/src/loop/programScheduler.ts",
    edits: [
      {
        from: "return Effect.matchCauseEffect(ask(cell, before), { onSuccess: () => ended, onFailure: () => ended })",
        to: "return before === undefined ? ended : ended"
      }
    ]
  },
  // The decision not to wait is not an event.
  "without-unreported": {
    seed: 17,
    programs: true,
    file: "core/src/loop/programScheduler.ts",
    edits: [{ from: "cell.without && [...cell.without])", to: "undefined)" }]
  },
  // Items that are not known yet are not reported as left out.
  "unknown-items": {
    seed: 2_001_106,
    programs: true,
    file: "core/src/loop/programScheduler.ts",
    edits: [{ from: "found.push(...parts(of))", to: "found.push(...leaves(of))" }]
  },
  // Items that become known after the only step that needs them has started are run.
  "late-items-started": {
    test: "packages/core/test/quorum.test.ts",
    file: "core/src/loop/programScheduler.ts",
    edits: [{ from: "if (isOfLateGroup(cell)) {", to: "if (false as boolean) {" }]
  },
  // A map is priced as one item.
  "price-of-one-item": {
    seed: 26,
    programs: true,
    file: "core/src/workflow/Price.ts",
    edits: [{ from: "product(plan, plan.axes[index]!) * attempts)", to: "attempts)" }]
  },
  // A plan is admitted at its likely price.
  "admitted-likely": {
    seed: 0,
    programs: true,
    file: "core/src/loop/price.ts",
    edits: [
      {
        from: "refused(planRefusal(ledger, price.most), price) ??",
        to: "refused(planRefusal(ledger, price.likely), price) ??"
      }
    ]
  },
  // Runs on a shared account take the room of an admitted plan.
  "plan-unpromised": {
    seed: 54,
    programs: true,
    file: "core/src/run/PlanBudget.ts",
    edits: [{ from: "one.promised.set(ledger, { most, base })", to: "void base" }]
  },
  // A plan is refused for its price before a person is asked, or a person approves a plan that never runs.
  "order-approve-admit": {
    test: "packages/core/test/admit.test.ts",
    file: "core/src/loop/pipeline.ts",
    edits: [
      {
        from: "[needsApproval ? approve(state) : undefined, isAdmitted ? admit(state) : undefined]",
        to: "[isAdmitted ? admit(state) : undefined, needsApproval ? approve(state) : undefined]"
      }
    ]
  },
  // A list that is too long loses its last items.
  "list-cut": {
    seed: 1,
    programs: true,
    file: "core/src/loop/lists.ts",
    edits: [
      {
        from: "return { isRight: true, text: JSON.stringify(items), value: items }",
        to: "return { isRight: true, text: JSON.stringify(items.slice(0, most)), value: items }"
      },
      { from: "if (items.length > most)", to: "if (items.length < 0)" }
    ]
  },
  // The items of an item are taken for the items of the last list only.
  "wrong-parent": {
    seed: 2,
    programs: true,
    file: "core/src/workflow/program.ts",
    edits: [{ from: "? [...before, each] : before)", to: "? [each] : before)" }]
  },
  // The tools of all items of a step have one name.
  "tool-of-step": {
    seed: 13,
    programs: true,
    file: "core/src/middleware/tools/tools.ts",
    edits: [{ from: "placeOf(step, item)", to: "step" }]
  },
  // A call of an item waits without the item.
  "waits-for-step": {
    seed: 13,
    programs: true,
    file: "core/src/middleware/tools/tools.ts",
    edits: [{ from: "    ...itemOf(item),\n    worker,\n    for: what", to: "    worker,\n    for: what" }]
  },
  // A handler does not receive the item for which it is called.
  "tool-without-item": {
    seed: 15,
    programs: true,
    file: "core/src/middleware/tools/tools.ts",
    edits: [{ from: "step, ...itemOf(item), worker, call: toolCall }", to: "step, worker, call: toolCall }" }]
  },
  // An unconfirmed tool call of an item is repeated, even if the tool is not repeatable.
  "item-tool-again": {
    seed: 1055,
    programs: true,
    file: "core/src/middleware/tools/tools.ts",
    edits: [{ from: "if (isInDoubt && !prepared.isRepeatable)", to: "if (isInDoubt && item === undefined)" }]
  },
  // A step that received some of the results it waits for continues to wait with the old list.
  "waits-for-all": {
    seed: 18,
    survival: true,
    file: "core/src/run/Recording.ts",
    edits: [{ from: "event.calls.map(({ id }) => id) : []", to: "[] : []" }]
  }
}

/** Plants a mutant into what this thread loads from now on. */
export const plant = (name: string, all: Readonly<Record<string, Mutant>> = mutants): void => {
  const mutant = all[name]
  if (mutant === undefined) throw new Error(`No mutant is called "${name}": ${Object.keys(all).join(", ")}.`)
  registerHooks({
    load: (url, context, next) => {
      const loaded = next(url, context)
      if (!url.endsWith(mutant.file)) return loaded
      return { ...loaded, source: mutate(mutant, String(loaded.source)) }
    }
  })
}

/** The source of a file with a mutant in it. Throws if the file has changed so that the mutant no longer fits. */
export const mutate = ({ edits, file }: Mutant, source: string): string =>
  edits.reduce((text, { from, to }) => {
    if (text.split(from).length !== 2) throw new Error(`${file} has changed: "${from}" does not stand in it once.`)
    return text.replace(from, () => to)
  }, source)
