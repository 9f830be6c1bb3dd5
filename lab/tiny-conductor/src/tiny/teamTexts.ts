/**
 * Reworded descriptions of the gym's workers, and workers that are not in the gym. The tiny Conductor was trained on
 * neither.
 */
import type { GymWorker } from "@divisi/gym"

/** By worker: the same skill in a different sentence, with the same words for the skill. */
export const sameWords: Readonly<Record<string, string>> = {
  professor: "A strong generalist for mathematics, logic and programs. It costs much and is weaker at dates.",
  editor: "A generalist with a sense for words, dates and logic; no good at mathematics.",
  engineer: "A generalist for units, programs and data who is careless with words and dates.",
  student: "A cheap generalist who tries every question, and is sloppy where it is hard.",
  intern: "The cheapest: any question, answered at once and often wrong.",
  abacus: "A calculator for exact arithmetic, however long the numbers are.",
  algebraist: "Solves equations for their unknowns; quick, but careless now and then.",
  converter: "Exact when it converts units of measurement, and for nothing but that.",
  almanac: "Dates, weekdays, leap years and the days between: an exact calendar.",
  typesetter: "Letters, words, digits, spelling and alphabetical order of a text, exactly.",
  logician: "Puzzles and logic by deduction and reasoning. Careless at times.",
  statistician: "Data: averages, medians and spreads, exactly; arithmetic, too.",
  interpreter: "Says what the code of JavaScript programs prints, as it runs them in a sandbox.",
  gambler: "Cheap at statistics, dates and equations, and wrong one time in four.",
  courier: "Cheap and exact at text and units, but overloaded: one call in four has to be tried again.",
  proofreader: "Says which of several answers to logic and algebra is right. Has no answers of its own."
}

/** By worker: the same skill without the gym's words for it. */
export const otherWords: Readonly<Record<string, string>> = {
  professor: "The senior fellow: sums, proofs and scripts are safe here, schedules less so. Expensive.",
  editor: "Has read everything; good company for prose and history, helpless with sums.",
  engineer: "Builds things: knows metres from feet and what a loop does. Do not let it proofread.",
  student: "In the second year of its studies. Willing, affordable, shaky where it gets hard.",
  intern: "Started on Monday. Fast, nearly free, mostly mistaken.",
  abacus: "Adds, subtracts, multiplies and divides without a slip.",
  algebraist: "Finds x.",
  converter: "Turns miles into kilometres, pounds into kilos, and hours into seconds.",
  almanac: "Knows on which Monday Easter was, and how long it is until the next.",
  typesetter: "Counts what is printed, turns it around and sorts it.",
  logician: "Knights, knaves, and who lives in the yellow house.",
  statistician: "Means, medians and deviations of any list.",
  interpreter: "Give it a script and it shows what appears on the console.",
  gambler: "Guesses x, the mean or the Monday for a cent; three times in four it is lucky.",
  courier: "Miles or metres, vowels or capitals: cheap, if the line is not busy.",
  proofreader: "Shown two solutions, it says whose x is right."
}

const price = (inputPerMillion: number, outputPerMillion: number) => ({ inputPerMillion, outputPerMillion })

const profile = (id: string, description: string, skills: GymWorker.Profile["skills"]): GymWorker.Profile => ({
  id,
  description,
  pricing: price(0.5, 2),
  skills
})

/** Workers that are not in the gym, with skills of the gym. */
export const newcomers: readonly [GymWorker.Profile, ...ReadonlyArray<GymWorker.Profile>] = [
  profile("chronologist", "Exact with dates, weekdays, leap years and logic puzzles.", { calendar: {}, logic: {} }),
  profile("accountant", "Bookkeeper: exact arithmetic, averages and sums of long lists.", {
    arithmetic: {},
    statistics: {}
  }),
  profile("surveyor", "Measures land: exact with units of length and area.", { units: {} }),
  profile("poet", "Knows letters, words and rhymes; a few slips in long texts.", { text: { slips: 0.05 } }),
  profile("hacker", "Reads programs quickly, and is sometimes wrong about what they print.", {
    program: { slips: 0.15 }
  }),
  profile("detective", "Deduction from clues; careful and slow.", { logic: { slips: 0.02 } }),
  profile("tutor", "Equations with one unknown, step by step.", { algebra: { slips: 0.05 } }),
  profile("clerk", "Fills in dates and forms, not always correctly.", { calendar: { slips: 0.2 } })
]
