/** Slips: how an error-prone worker corrupts a correct answer. */
import type { Draw } from "./draw.ts"

const weekdays = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]

const opposites: Readonly<Record<string, string>> = { true: "false", false: "true", knight: "knave", knave: "knight" }

const ofNumber = (draw: Draw, answer: string): string => {
  const digits = answer.replace(/[-.]/g, "").length
  const value = Number(answer)
  const off = digits > 2 && draw.chance(0.5) ? 10 ** draw.int(1, digits - 1) : 1
  const slipped = draw.chance(0.5) ? value + off : value - off
  const decimals = answer.split(".")[1]?.length ?? 0
  if (!Number.isSafeInteger(Math.trunc(value))) return answer.replace(/.$/, (last) => String((Number(last) + 1) % 10))
  return slipped.toFixed(decimals)
}

const ofWord = (draw: Draw, answer: string, question: string): string => {
  const alike = /^[A-Z]/.test(answer) ? /\b[A-Z][a-z]+(?= is | says )/g : /\b[a-z]{4,}\b/g
  const others = [...new Set(question.match(alike))].filter((word) => word !== answer)
  if (question.includes(answer) && others.length > 0) return draw.pick(others)
  if (answer.length < 3) return answer + answer
  const at = draw.int(0, answer.length - 2)
  const swapped = answer.slice(0, at) + answer[at + 1] + answer[at] + answer.slice(at + 2)
  return swapped === answer ? answer.slice(0, -1) : swapped
}

/** Returns a wrong answer that resembles the correct one. */
export const slip = (draw: Draw, answer: string, question: string): string => {
  const opposite = opposites[answer]
  if (opposite !== undefined) return opposite
  if (/^-?\d+(?:\.\d+)?$/.test(answer)) return ofNumber(draw, answer)
  if (weekdays.includes(answer)) return weekdays[(weekdays.indexOf(answer) + 1) % 7]!
  if (/^\d{4}-\d\d-\d\d$/.test(answer)) {
    const date = Number(answer.slice(8))
    return `${answer.slice(0, 8)}${String(date > 1 ? date - 1 : date + 1).padStart(2, "0")}`
  }
  return ofWord(draw, answer, question)
}
