/** Counts of right and wrong verdicts of the maths grader, and every case that it got wrong. */

import * as Task from "@divisi/core/Task"
import { Algebra, MathGrader } from "@divisi/graders/math"
import * as Effect from "effect/Effect"
import type { Case, Suite } from "./Suites.ts"

/** A case that was graded otherwise than expected. */
export interface Miss extends Case {
  readonly suite: string
  readonly rung: string
}

/** How a suite was graded. */
export interface Confusion {
  readonly suite: string
  readonly equal: { readonly right: number; readonly missed: number }
  readonly different: { readonly right: number; readonly falseCredit: number }
  readonly rungs: Readonly<Record<string, number>>
  readonly misses: ReadonlyArray<Miss>
}

/** Patient: what it misses does not depend on how busy the machine is. */
const grader = MathGrader.make({ algebra: Algebra.make({ timeoutMillis: 30_000 }) })

const grade = ({ answer, gold }: Case) =>
  grader.grade(Task.make({ question: "?", id: "case", reference: gold }), answer)

/** Grades every case of a suite. */
export const measure = ({ cases, name }: Suite) =>
  Effect.gen(function* () {
    const counts = { right: 0, missed: 0, refused: 0, falseCredit: 0 }
    const rungs: Record<string, number> = {}
    const misses: Array<Miss> = []
    for (const one of cases) {
      const { correct, rung } = yield* grade(one)
      if (one.expected) counts[correct ? "right" : "missed"]++
      else counts[correct ? "falseCredit" : "refused"]++
      if (correct) rungs[rung] = (rungs[rung] ?? 0) + 1
      if (correct !== one.expected) misses.push({ suite: name, ...one, rung })
    }
    return {
      suite: name,
      equal: { right: counts.right, missed: counts.missed },
      different: { right: counts.refused, falseCredit: counts.falseCredit },
      rungs,
      misses
    } satisfies Confusion
  })
