/**
 * Converts reasoning settings between vendors: an effort, or a number of tokens. Used for requests in which reasoning
 * is a preference that must not fail the call.
 */
import type { Reasoning } from "@divisi/core/Worker"

/** A reasoning effort. */
export type Effort = Extract<Reasoning, { type: "effort" }>["effort"]

/** The efforts, from lowest to highest. */
export const efforts: ReadonlyArray<Effort> = ["minimal", "low", "medium", "high"]

/**
 * The number of tokens equivalent to each effort, for models that accept a number of tokens. The figures are Google's.
 * Source: https://ai.google.dev/gemini-api/docs/openai, read in November 2026.
 */
export const budgetOf: Readonly<Record<Effort, number>> = { minimal: 1024, low: 1024, medium: 8192, high: 24_576 }

/** Returns the supported effort nearest to the given one; the lower one in a tie. */
export const nearest = (effort: Effort, known: ReadonlyArray<Effort>): Effort | undefined => {
  const distance = (one: Effort) => Math.abs(efforts.indexOf(one) - efforts.indexOf(effort))
  const [first, ...rest] = efforts.filter((one) => known.includes(one))
  return first && rest.reduce((best, one) => (distance(one) < distance(best) ? one : best), first)
}

/** Returns the lowest effort equivalent to at least the given number of tokens. */
export const effortOf = (tokens: number, known: ReadonlyArray<Effort>): Effort | undefined =>
  nearest(efforts.find((effort) => effort !== "minimal" && budgetOf[effort] >= tokens) ?? "high", known)

/** Clamps a number of tokens to the range that a model accepts; `undefined` if the range is empty. */
export const fitted = (tokens: number, least: number, most: number): number | undefined =>
  most < least ? undefined : Math.min(Math.max(tokens, least), most)
