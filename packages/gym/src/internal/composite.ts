/** Composite questions: two or three problems from different families, in which later problems use earlier answers. */

import { type AnyFamilyName, type Difficulty, families, type Given, type Problem } from "../Family.ts"
import { join } from "../families/arithmetic.ts"
import type { Draw } from "./draw.ts"

/** A part of a question: its text, its family, and the earlier parts that it uses. */
export interface PlannedPart<Name extends AnyFamilyName = AnyFamilyName> {
  readonly family: Name
  readonly question: string
  readonly needs: ReadonlyArray<number>
}

/** A composite question with its answer and parts. */
export interface Composite {
  readonly question: string
  readonly answer: string
  readonly parts: ReadonlyArray<PlannedPart>
}

interface Link {
  readonly family: AnyFamilyName
  readonly problem: Problem
  readonly needs: ReadonlyArray<number>
}

const attempts = 40
/** Letters for naming answers. No family uses them, and they are not English words. */
const letters = ["M", "N"]

type Form = "sequence" | "numbered" | "named" | "plain"

/** Returns how a part refers to the answer at an index. */
const given = (form: Form, { answer, kind }: Problem, index: number, joining: boolean): Given => {
  if (form === "named") return { value: answer, kind, noun: letters[index]!, many: letters[index]! }
  if (joining) {
    const noun = `the answer to part ${index + 1}`
    return { value: answer, kind, noun, many: noun }
  }
  return { value: answer, kind, noun: kind === "word" ? "that word" : "that number", many: "that many" }
}

const others = (names: ReadonlyArray<AnyFamilyName>, used: ReadonlyArray<AnyFamilyName>) =>
  names.filter((name) => !used.includes(name))

const first = (draw: Draw, names: ReadonlyArray<AnyFamilyName>, difficulty: Difficulty): Link => {
  const family = draw.pick(names)
  return { family, problem: families[family].generate(draw, difficulty), needs: [] }
}

/** Builds a composite in which each part continues from the previous one. */
const chain = (
  draw: Draw,
  names: ReadonlyArray<AnyFamilyName>,
  difficulty: Difficulty,
  length: number,
  form: Form
): ReadonlyArray<Link> | undefined => {
  const links = [first(draw, names, difficulty)]
  while (links.length < length) {
    const { problem } = links.at(-1)!
    const left = others(
      names,
      links.map((link) => link.family)
    )
    if (left.length === 0) return undefined
    const family = draw.pick(left)
    const next = families[family].continueFrom(draw, difficulty, given(form, problem, links.length - 1, false))
    if (next === undefined) return undefined
    links.push({ family, problem: next, needs: [links.length - 1] })
  }
  return links
}

/** Builds a composite of two independent parts, and a third part that joins them. */
const tree = (
  draw: Draw,
  names: ReadonlyArray<AnyFamilyName>,
  difficulty: Difficulty,
  form: Form
): ReadonlyArray<Link> | undefined => {
  if (!names.includes("arithmetic")) return undefined
  const [left, right] = draw.some(others(names, ["arithmetic"]), 2)
  if (left === undefined || right === undefined) return undefined
  const links = [left, right].map(
    (family): Link => ({ family, problem: families[family].generate(draw, difficulty), needs: [] })
  )
  const [one, two] = links.map(({ problem }, index) => given(form, problem, index, true)) as [Given, Given]
  const problem = join(draw, one, two)
  return problem === undefined ? undefined : [...links, { family: "arithmetic", problem, needs: [0, 1] }]
}

const lower = (text: string): string =>
  /^(?:[A-Z][a-z]* is (?:older|younger|taller|shorter|faster|slower|heavier|lighter)|True|Everyone|[A-Z]\b)/.test(text)
    ? text
    : text.charAt(0).toLowerCase() + text.slice(1)

const word = (form: Form, draw: Draw, texts: ReadonlyArray<string>): string => {
  const last = texts.length - 1
  switch (form) {
    case "numbered":
      return `${texts.map((text, index) => `${index + 1}. ${text}`).join("\n")}\nGive only the last answer.`
    case "named":
      return texts
        .map((text, index) => (index === last ? text : `${text} Call the answer ${letters[index]}.`))
        .join(" ")
    case "plain":
      return texts.join(" ")
    case "sequence": {
      const middle = draw.pick(["Then", "Next", "After that"])
      return texts
        .map((text, index) => {
          const opening = index === 0 ? "First" : index === last && last > 1 ? "Finally" : middle
          return `${opening}, ${lower(text)}`
        })
        .join(" ")
    }
  }
}

/**
 * Generates a composite from the given families. If `having` is set, at least one part is of that family. Returns
 * `undefined` if all attempts fail.
 */
export const generate = (
  draw: Draw,
  names: ReadonlyArray<AnyFamilyName>,
  difficulty: Difficulty,
  having?: AnyFamilyName
): Composite | undefined => {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const joining = draw.chance(0.25)
    const form = joining
      ? draw.pick<Form>(["numbered", "named"])
      : draw.pick<Form>(["sequence", "numbered", "named", "plain"])
    const links = joining
      ? tree(draw, names, difficulty, form)
      : chain(draw, names, difficulty, draw.chance(difficulty === 1 ? 0 : 0.4) ? 3 : 2, form)
    if (links === undefined) continue
    if (having !== undefined && links.every(({ family }) => family !== having)) continue
    return {
      question: word(
        form,
        draw,
        links.map(({ problem }) => problem.question)
      ),
      answer: links.at(-1)!.problem.answer,
      parts: links.map(({ family, needs, problem }) => ({ family, question: problem.question, needs }))
    }
  }
  return undefined
}
