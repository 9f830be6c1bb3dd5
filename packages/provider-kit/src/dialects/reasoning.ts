/**
 * How much a model thinks, in one vendor's words or in another's: an effort, or a number of tokens. For requests in which
 * this is a preference, which must not fail a call.
 */
import type { Reasoning } from "@divisi/core/Worker"

/** An effort, as a request names it. */
export type Effort = Extract<Reasoning, { type: "effort" }>["effort"]

/** The efforts, the least first. */
export const efforts: ReadonlyArray<Effort> = ["minimal", "low", "medium", "high"]

/**
 * The tokens that stand for an effort where a model takes a number of tokens; Google's own figures. Source:
 * https://ai.google.dev/gemini-api/docs/openai, read in November 2026.
 */
export const budgetOf: Readonly<Record<Effort, number>> = { minimal: 1024, low: 1024, medium: 8192, high: 24_576 }

/** The effort that a model has and that is nearest to another; of two as near, the lower one. */
export const nearest = (effort: Effort, known: ReadonlyArray<Effort>): Effort | undefined => {
  const distance = (one: Effort) => Math.abs(efforts.indexOf(one) - efforts.indexOf(effort))
  const [first, ...rest] = efforts.filter((one) => known.includes(one))
  return first && rest.reduce((best, one) => (distance(one) < distance(best) ? one : best), first)
}

/** The effort that stands for a number of tokens: the least whose tokens are as many. */
export const effortOf = (tokens: number, known: ReadonlyArray<Effort>): Effort | undefined =>
  nearest(efforts.find((effort) => effort !== "minimal" && budgetOf[effort] >= tokens) ?? "high", known)

/** A number of tokens within what a model takes; nothing where nothing is within. */
export const fitted = (tokens: number, least: number, most: number): number | undefined =>
  most < least ? undefined : Math.min(Math.max(tokens, least), most)
