/**
 * Schedules workflows with items, conditions or quorums. Runs cells (`cells.ts`) in the same way as `scheduler.ts` runs
 * steps, with the same guarantees. In addition:
 *
 * - A cell starts as soon as the last cell that it waits for has ended, regardless of its step's other items.
 * - The event for a decision not to wait for an answer precedes all effects of that decision, so that a resumed run
 *   decides in the same way.
 * - A late cell, which no other cell needs any longer, is stopped and settled. A resumed run reports its payments again
 *   and makes no new calls for it.
 */
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import type { Of, WaitingCall } from "../events/RunEvent.ts"
import { defined } from "../Fields.ts"
import { within } from "../run/Caller.ts"
import type { BudgetExceeded } from "../task/Usage.ts"
import { isSeen, listOf, waitsFor } from "../workflow/program.ts"
import type { Workflow } from "../workflow/Workflow.ts"
import type { Answered, CallContext } from "./call.ts"
import { type Cell, itemOf, make } from "./cells.ts"
import { isLeftOut, make as makeViews } from "./cellViews.ts"
import { itemsOf } from "./lists.ts"
import type { Plan } from "./plan.ts"
import { fail, running, start, workerName } from "./reports.ts"
import { failedAnswer } from "./reserved.ts"
import type { Execution } from "./scheduler.ts"
import {
  answering,
  isFatal,
  type Running,
  type Step,
  type StepAsk,
  type StepEnd,
  type StepError,
  type StepFailure
} from "./step.ts"

type Driven = Effect.Effect<void, StepFailure>

const all = { concurrency: "unbounded", discard: true } as const

const together = (driven: ReadonlyArray<Driven>): Driven => Effect.forEach(driven, (one) => one, all)

/**
 * Whether all items become known at the same time and continue independently, so that concurrency can be limited by the
 * number of fibers.
 */
const isOneList = ({ steps }: Workflow, axes: ReadonlyArray<ReadonlyArray<number>>): boolean => {
  const [list] = axes.find((own) => own.length > 0) ?? []
  return axes.every((own, step) => {
    if (own.length === 0) return true
    if (own.length > 1 || own[0] !== list) return false
    return axes.every((other, earlier) => other.length > 0 || earlier === list || !waitsFor(steps[step]!, earlier))
  })
}

/** Prepares a workflow to run cell by cell. */
export const scheduleProgram = (context: CallContext, plan: Plan, answer: Step): Execution => {
  const { emit, recorded } = context
  const { round, settings, wanted, workflow } = plan
  const { steps } = workflow
  const { itemsAtOnce } = settings
  const isWanted = (step: number) => wanted === undefined || wanted.has(step)
  const hasQuorums = steps.some(({ enough }) => enough !== undefined)
  const waitingFor: Array<WaitingCall> = []
  /** Cells with a quorum whose items have just become known. They are examined once their list is complete. */
  const unfolded: Array<Cell> = []
  let held: ReadonlyArray<Cell> = []
  let stopped: BudgetExceeded | undefined

  const cells = make(workflow, isWanted, {
    unfolded: (group, items) => {
      emit?.(defined({ type: "step-unfolded", round, step: group.step, item: itemOf(group), items }))
      plan.kept?.unfolded(group.step, leaves(group).map(textOf))
      if (steps[group.step]!.enough === undefined) return
      for (const cell of group.items ?? []) {
        cell.answered = seenBy(cell).filter(({ answer, isDone }) => isDone && answer?.type === "answered").length
        unfolded.push(cell)
      }
    },
    joined: (root) => {
      if (isLateWhole(root)) return skip(root, "late")
      const answer = answerOf(root)
      const message = answer?.type === "failed" ? answer.message : undefined
      emit?.(defined({ type: "step-joined", round, step: root.step, message }))
    }
  })
  const { axes, isGroup, leaves, nameOf, parts, roots, seen, textOf } = cells
  const { answerOf, viewOf } = makeViews(workflow, cells)
  const answerStep = answering(context, plan, answer)
  const permits = isOneList(plan.workflow, axes) ? undefined : Semaphore.makeUnsafe(itemsAtOnce)

  // -----------------------------------------------------------------------------------------------------------------
  // Views
  // -----------------------------------------------------------------------------------------------------------------

  /** Returns the known cells that a cell sees, and groups whose list is not known yet. */
  const seenBy = (cell: Cell): ReadonlyArray<Cell> => {
    const one = steps[cell.step]!
    const found: Array<Cell> = []
    for (let step = 0; step < cell.step; step++) {
      const of = isSeen(one, step) ? seen(cell, step) : undefined
      if (of !== undefined) found.push(...parts(of))
    }
    return found
  }

  // -----------------------------------------------------------------------------------------------------------------
  // Order
  // -----------------------------------------------------------------------------------------------------------------

  const skip = (cell: Cell, reason: Of<"step-skipped">["reason"]) => {
    const { step } = cell
    const worker = workerName(plan, steps[step]!.worker)
    emit?.(defined({ type: "step-skipped", round, step, item: itemOf(cell), worker, reason }))
  }

  const skipped = (cell: Cell, reason: "budget" | "revised"): Array<Cell> => {
    cell.isStarted = true
    skip(cell, reason)
    return cells.end(cell)
  }

  /** Runs each cell in a separate fiber. The settings limit the number of concurrent items. */
  const drive = (ready: ReadonlyArray<Cell>): Driven => {
    if (ready.length === 0) return Effect.void
    if (ready.length === 1) return one(ready[0]!)
    if (ready.length <= itemsAtOnce) return Effect.forEach(ready, one, all)
    const isItem = ({ path }: Cell) => path.length > 0
    const items = ready.filter(isItem)
    const bounded = Effect.forEach(items, one, { concurrency: itemsAtOnce, discard: true })
    if (items.length === ready.length) return bounded
    const others = ready.filter((cell) => !isItem(cell))
    return together([bounded, Effect.forEach(others, one, all)])
  }

  /** Ends a cell, and runs the cells for which it was the last input or which have now reached their quorum. */
  const release = (cell: Cell): Driven => {
    const ready = cells.end(cell)
    if (!hasQuorums) return drive(ready)
    const soon = withEnough(cell)
    if (soon.length === 0) return drive(ready)
    return together([drive(ready), ...soon.map(afterGrace)])
  }

  // -----------------------------------------------------------------------------------------------------------------
  // Quorums
  // -----------------------------------------------------------------------------------------------------------------

  const isStarting = (cell: Cell) => cell.isStarted || cell.pending === 0 || cell.isDue

  /** Whether a cell has reached its quorum. A resumed run follows its record. */
  const hasEnough = (cell: Cell): boolean => {
    const before = recorded?.without(round, cell.step, itemOf(cell))
    if (before === undefined) return cell.answered >= steps[cell.step]!.enough!.answers
    if (before.length === 0) return false
    const without = new Set(before)
    if (!seenBy(cell).every((one) => one.isDone || isLeftOut(one, without, nameOf))) return false
    cell.without = without
    return true
  }

  /** Returns the cells that reach their quorum because a cell has ended. */
  const withEnough = (cell: Cell): ReadonlyArray<Cell> => {
    const found: Array<Cell> = []
    const isAnswered = cell.answer?.type === "answered"
    for (let later = cell.step + 1; later < steps.length; later++) {
      const waiter = steps[later]!
      if (waiter.enough === undefined || !isWanted(later) || !isSeen(waiter, cell.step)) continue
      const under = seen(cell, later)
      if (under === undefined) continue
      for (const leaf of leaves(under)) {
        if (unfolded.includes(leaf)) continue
        if (isAnswered) leaf.answered += 1
        if (!isStarting(leaf) && hasEnough(leaf)) found.push(leaf)
      }
    }
    for (const leaf of unfolded.splice(0)) if (!isStarting(leaf) && hasEnough(leaf)) found.push(leaf)
    for (const leaf of found) leaf.isDue = true
    return found
  }

  const afterGrace = (cell: Cell): Driven => {
    const graceMillis = cell.without === undefined ? (steps[cell.step]!.enough!.graceMillis ?? 0) : 0
    const begin = Effect.suspend(() => (cell.isStarted ? Effect.void : beginEarly(cell)))
    if (graceMillis === 0) return begin
    const complete = Effect.callback<void>((resume) => {
      cell.begin = () => resume(Effect.void)
      if (cell.pending === 0) cell.begin()
    })
    return Effect.andThen(Effect.raceFirst(Effect.sleep(graceMillis), complete), begin)
  }

  /** Whether a cell was late in the original run. */
  const wasLate = (cell: Cell): boolean => hasQuorums && recorded?.isLate(round, cell.step, itemOf(cell)) === true

  /** Whether all items of a group, or the list that they come from, were late. */
  const isLateWhole = (cell: Cell): boolean => {
    if (!isGroup(cell)) return cell.isLate
    const { items = [], path, step } = cell
    if (items.length > 0) return items.every(isLateWhole)
    const source = seen(cell, axes[step]![path.length]!)
    return source !== undefined && isLateWhole(source)
  }

  /** Whether a cell became known only after the one step that needs it had started. */
  const isOfLateGroup = ({ parent }: Cell): boolean =>
    hasQuorums && parent !== undefined && (parent.isLate || isOfLateGroup(parent))

  /** Whether a cell's answer is final, even if the cell has not ended. */
  const isSettled = ({ answer, isDone, step }: Cell): boolean =>
    isDone || (answer !== undefined && steps[step]!.check === undefined)

  /** Returns the steps whose cells for the same items are needed only by this cell, directly or indirectly. */
  const onlyFor = ({ path, step }: Cell): ReadonlySet<number> => {
    const only = new Set<number>()
    if (workflow.answer === "majority") return only
    for (let earlier = step - 1; earlier >= 0; earlier--) {
      const isShared = path.every((_, at) => axes[earlier]![at] === axes[step]![at])
      const users = steps.flatMap((other, later) =>
        later > earlier && isWanted(later) && waitsFor(other, earlier) ? [later] : []
      )
      const isOnly = users.length > 0 && users.every((user) => user === step || only.has(user))
      if (isShared && isOnly) only.add(earlier)
    }
    return only
  }

  /** Runs a cell before everything that it sees has ended. Cells that no other cell needs are stopped. */
  const beginEarly = (cell: Cell): Driven => {
    const late: Array<Cell> = []
    // A record of the inputs that it did not wait for also determines which cells were late; all others continue as
    // before.
    for (const step of cell.without === undefined ? onlyFor(cell) : []) {
      const under = seen(cell, step)
      if (under === undefined) continue
      for (const part of parts(under)) {
        if (isGroup(part)) part.isLate = true
        else if (!isSettled(part) && !wasLate(part)) late.push(part)
      }
    }
    if (cell.without === undefined) {
      const without = seenBy(cell).flatMap((one) => (isSettled(one) ? [] : [nameOf(one)]))
      if (without.length > 0) cell.without = new Set(without)
    }
    for (const leaf of late) {
      leaf.isLate = true
      skip(leaf, "late")
    }
    // Stopping a cell runs its dependents immediately, so cells that must not start are marked first.
    const unstarted = late.filter(({ isStarted }) => !isStarted)
    for (const leaf of unstarted) leaf.isStarted = true
    const begun = one(cell)
    return Effect.suspend(() => {
      for (const leaf of late) leaf.stop?.()
      const rest = unstarted.flatMap((leaf) => cells.end(leaf)).filter(({ isStarted }) => !isStarted)
      return rest.length === 0 ? begun : together([begun, drive(rest)])
    })
  }

  /** Runs a cell until it ends, or until it is stopped because no other cell needs it any longer. */
  const stoppable = <A, E>(cell: Cell, answered: Effect.Effect<A, E>): Effect.Effect<A | "late", E> => {
    const isStopped = Effect.callback<"late">((resume) => {
      cell.stop = () => resume(Effect.succeed("late"))
      // The cell may be stopped between its start and its first call.
      if (cell.isLate) cell.stop()
    })
    return Effect.map(Effect.raceFirst(isStopped, answered), (end) => {
      cell.stop = undefined
      if (end === "late") cell.answer = undefined
      return end
    })
  }

  // -----------------------------------------------------------------------------------------------------------------
  // Cells
  // -----------------------------------------------------------------------------------------------------------------

  /** Whether a condition prevents a cell from running. If so, it adopts the checked answer. */
  const isSpared = (cell: Cell): boolean => {
    const { when } = steps[cell.step]!
    if (when === undefined) return false
    const checked = seen(cell, when.failed)
    if (checked?.verdict?.passed === false) return false
    cell.answer = checked?.answer
    const most = listOf(steps[cell.step]!.gives)
    const list = most !== undefined && cell.answer?.type === "answered" ? itemsOf(cell.answer.text) : undefined
    if (list !== undefined && list.length <= most!) cell.list = list
    cell.standsFor = when.failed
    return true
  }

  /** Handles the end of a cell: runs its dependents, unless it holds them back. */
  const settled = (cell: Cell, { holds }: Running): Driven => {
    if (!holds || stopped !== undefined) return release(cell)
    held = [...held, cell]
    return Effect.void
  }

  /** Restores an earlier process's decision not to wait for some of a cell's inputs. */
  const recall = (cell: Cell) => {
    if (!hasQuorums || cell.without !== undefined || steps[cell.step]!.enough === undefined) return
    const before = recorded?.without(round, cell.step, itemOf(cell)) ?? []
    if (before.length > 0) cell.without = new Set(before)
  }

  const one = (cell: Cell): Driven =>
    Effect.suspend(() => {
      if (cell.isStarted) return Effect.void
      cell.isStarted = true
      const isKept = cell.step === plan.kept?.step
      if (stopped !== undefined && !isKept) return drive(skipped(cell, "budget"))
      if (isKept) plan.kept!.release()
      if (isSpared(cell)) {
        skip(cell, "condition")
        return release(cell)
      }
      recall(cell)
      if (wasLate(cell)) return replayed(cell)
      if (isOfLateGroup(cell)) {
        cell.isLate = true
        skip(cell, "late")
        return release(cell)
      }
      if (cell.path.length > 0) plan.kept?.begin(cell.step)
      const started = start(context, plan, cell.step, itemOf(cell), cell.without && [...cell.without])
      started.isLimited = stopped !== undefined
      const answered = ask(cell, started)
      const isStoppable = hasQuorums && cell.step < steps.length - 1
      return Effect.matchEffect(isStoppable ? stoppable(cell, answered) : answered, {
        onSuccess: (end) => {
          over(cell)
          return end === "late" ? release(cell) : ended(cell, started, end)
        },
        onFailure: (error) => failed(cell, started, error)
      })
    })

  const ask = (cell: Cell, running: Running) => {
    const { step } = cell
    const keep = ({ finishReason, text }: Answered) => {
      const isRefused = finishReason === "refusal"
      cell.answer = isRefused ? { type: "refused", text, worker: running.worker } : { type: "answered", text }
      if (listOf(steps[step]!.gives) !== undefined && !isRefused) cell.list = itemsOf(text)
    }
    const judged: StepAsk["judged"] = (verdict, holds) => {
      cell.verdict = verdict
      running.holds = holds
    }
    const answered = answerStep(viewOf(cell), running, { keep, judged })
    const asked = within(context, { type: "step", runId: context.runId, step, item: running.item }, answered)
    return permits === undefined || running.item === undefined ? asked : permits.withPermit(asked)
  }

  /** Adjusts the budget that is reserved for the answering step to an item's answer. */
  const over = ({ answer, path, step }: Cell) => {
    if (path.length > 0) plan.kept?.end(step, answer)
  }

  const ended = (cell: Cell, running: Running, end: StepEnd): Driven => {
    if (end.type === "answered") {
      stopped ??= end.stopped
      return settled(cell, running)
    }
    // Cells that see it are suspended along with it; all others continue.
    waitingFor.push(...end.calls)
    running.emit?.({ type: "step-waiting", round, step: cell.step, worker: running.worker, calls: end.calls })
    return Effect.void
  }

  const failed = (cell: Cell, running: Running, error: StepError): Driven => {
    cell.answer = failedAnswer(plan, error, cell.answer)
    over(cell)
    fail(context, plan, running, error)
    if (error._tag === "BudgetExceeded") stopped ??= error
    else if (settings.onStepFailure === "end" || isFatal(settings, error)) return Effect.fail(error)
    return settled(cell, running)
  }

  /**
   * Reports the payments of a late cell from an earlier process. Calls beyond its record are interrupted, so that they
   * are not made.
   */
  const replayed = (cell: Cell): Driven => {
    cell.isLate = true
    skip(cell, "late")
    const before = running({ ...context, isReplayed: true }, plan, cell.step, itemOf(cell))
    const ended = Effect.suspend(() => {
      cell.answer = undefined
      cell.list = undefined
      return release(cell)
    })
    return Effect.matchCauseEffect(ask(cell, before), { onSuccess: () => ended, onFailure: () => ended })
  }

  return {
    run: Effect.suspend(() => {
      const ready: Array<Cell> = []
      for (const root of roots) {
        if (!isWanted(root.step)) skip(root, "unseen")
        else if (root.pending === 0 && !isGroup(root)) ready.push(root)
      }
      return drive(ready)
    }),
    goOn: Effect.suspend(() => {
      const ready = held
      held = []
      return Effect.forEach(ready, release, all)
    }),
    skipHeld: (reason) => {
      let ready = held.flatMap((cell) => cells.end(cell))
      held = []
      while (ready.length > 0) ready = ready.flatMap((cell) => skipped(cell, reason))
    },
    results: () => ({
      answers: roots.map((root) => answerOf(root)),
      verdicts: roots.map(({ verdict }) => verdict),
      held: held.map(({ step }) => step),
      stopped,
      waitingFor
    })
  }
}
