/**
 * The worker pool of the gym, modeled on a real one: generalists with different strengths, exact specialists, a strong
 * but error-prone worker, a checker, and cheap, unreliable workers. Each of them answers at most three quarters of the
 * tasks correctly.
 */
import { Options as Tables } from "@divisi/core"
import * as WorkerPool from "@divisi/core/WorkerPool"
import type { AnyFamilyName } from "./Family.ts"
import * as GymWorker from "./GymWorker.ts"

type Profile = GymWorker.Profile

/** Play-money pricing, modeled on what comparable real models may cost. */
const price = (inputPerMillion: number, outputPerMillion: number) => ({
  inputPerMillion,
  outputPerMillion,
  isPlay: true
})

// -------------------------------------------------------------------------------------------------------------------
// Generalists
// -------------------------------------------------------------------------------------------------------------------

const professor: Profile = {
  id: "professor",
  description:
    "Strong and dear generalist: good at mathematics, logic and programs, less sure with the calendar and old units.",
  pricing: price(5, 25),
  generalist: true,
  thorough: true,
  pace: 2.5,
  partsRead: 2,
  carriedDigits: 4,
  skills: {
    arithmetic: { habits: { significantDigits: 10 }, slips: 0.02 },
    algebra: { slips: 0.1 },
    units: { habits: { roundsFactors: true } },
    calendar: { habits: { ignoresLeapYears: true }, slips: 0.05 },
    text: { habits: { wordsRead: 8 }, slips: 0.05 },
    logic: { habits: { cluesRead: 5 }, slips: 0.04 },
    statistics: { slips: 0.05 },
    program: { habits: { linesRead: 9 }, slips: 0.05 },
    stock: { slips: 0.03 }
  },
  tools: true
}

const editor: Profile = {
  id: "editor",
  description: "Literary generalist: good with words, dates and logic, weak in mathematics.",
  pricing: price(3, 15),
  generalist: true,
  thorough: true,
  pace: 1.8,
  partsRead: 2,
  carriedDigits: 3,
  skills: {
    arithmetic: { habits: { significantDigits: 6 }, slips: 0.06 },
    algebra: { habits: { linearOnly: true }, slips: 0.1 },
    units: { habits: { roundsFactors: true }, slips: 0.05 },
    calendar: { slips: 0.06 },
    text: { slips: 0.03 },
    logic: { habits: { exclusiveOr: true }, slips: 0.05 },
    statistics: { habits: { forgetsToSort: true }, slips: 0.05 },
    program: { habits: { linesRead: 6 }, slips: 0.1 }
  }
}

const engineer: Profile = {
  id: "engineer",
  description: "Technical generalist: good at units, programs and data, careless with words and dates.",
  pricing: price(1.25, 10),
  generalist: true,
  thorough: true,
  pace: 1.5,
  partsRead: 1,
  skills: {
    arithmetic: { slips: 0.04 },
    algebra: { habits: { dropsSigns: true }, slips: 0.04 },
    units: { slips: 0.04 },
    calendar: { habits: { thirtyDayMonths: true } },
    text: { habits: { overlooksCapitals: true }, slips: 0.1 },
    logic: { habits: { impliesMeansAnd: true, cluesRead: 3 }, slips: 0.05 },
    statistics: { habits: { sampleDeviation: true }, slips: 0.04 },
    program: { slips: 0.04 },
    stock: { slips: 0.04 }
  },
  tools: true
}

const student: Profile = {
  id: "student",
  description: "Eager and cheap generalist that tries everything; fine for easy questions, sloppy with hard ones.",
  pricing: price(0.25, 1),
  generalist: true,
  pace: 0.7,
  partsRead: 1,
  skills: {
    arithmetic: { habits: { leftToRight: true, significantDigits: 8 }, slips: 0.1 },
    algebra: { habits: { linearOnly: true, dropsSigns: true }, slips: 0.1 },
    units: { habits: { roundsFactors: true }, slips: 0.1 },
    calendar: { habits: { ignoresLeapYears: true, countsBothEnds: true }, slips: 0.05 },
    text: { habits: { wordsRead: 6 }, slips: 0.1 },
    logic: { habits: { cluesRead: 3, exclusiveOr: true }, slips: 0.1 },
    statistics: { habits: { forgetsToSort: true, sampleDeviation: true }, slips: 0.1 },
    program: { habits: { stopsLoopsEarly: true, linesRead: 9 }, slips: 0.1 },
    stock: { habits: { articlesRead: 1 }, slips: 0.1 }
  },
  tools: true
}

const intern: Profile = {
  id: "intern",
  description: "Cheapest of all: answers anything in no time, and is often wrong.",
  pricing: price(0.05, 0.2),
  generalist: true,
  pace: 0.4,
  partsRead: 1,
  skills: {
    arithmetic: { habits: { leftToRight: true, significantDigits: 4 }, slips: 0.25 },
    algebra: { habits: { linearOnly: true, dropsSigns: true }, slips: 0.25 },
    units: { habits: { roundsFactors: true, linearAreas: true }, slips: 0.25 },
    calendar: { habits: { thirtyDayMonths: true, countsBothEnds: true }, slips: 0.2 },
    text: { habits: { wordsRead: 4, overlooksCapitals: true }, slips: 0.2 },
    logic: { habits: { cluesRead: 2, exclusiveOr: true, impliesMeansAnd: true }, slips: 0.2 },
    statistics: { habits: { forgetsToSort: true, sampleDeviation: true }, slips: 0.25 },
    program: { habits: { stopsLoopsEarly: true, linesRead: 6 }, slips: 0.25 }
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Specialists
// -------------------------------------------------------------------------------------------------------------------

const abacus: Profile = {
  id: "abacus",
  description: "Calculator: exact arithmetic with numbers of any size, and nothing else.",
  pricing: price(0.3, 1.2),
  skills: { arithmetic: {} }
}

const algebraist: Profile = {
  id: "algebraist",
  description: "Algebra: equations and unknowns. Quick, and now and then careless, so have its answers checked.",
  pricing: price(1, 4),
  pace: 1.2,
  skills: { algebra: { slips: 0.1 } }
}

const converter: Profile = {
  id: "converter",
  description: "Converter: exact conversion between units of measurement. Declines everything else.",
  pricing: price(0.2, 0.8),
  skills: { units: {} }
}

const almanac: Profile = {
  id: "almanac",
  description: "Calendar: exact with dates, days between them, weekdays, leap years. Declines everything else.",
  pricing: price(0.4, 1.6),
  skills: { calendar: {} }
}

const typesetter: Profile = {
  id: "typesetter",
  description: "Text: exact with letters, words, spelling, alphabetical order, digits. Declines everything else.",
  pricing: price(0.3, 1.2),
  skills: { text: {} }
}

const logician: Profile = {
  id: "logician",
  description:
    "Logic: solves hard puzzles by deduction and reasoning; brilliant but careless, so have its answers checked.",
  pricing: price(1.5, 6),
  thorough: true,
  pace: 1.3,
  skills: { logic: { slips: 0.12 } }
}

const statistician: Profile = {
  id: "statistician",
  description: "Statistics: exact with data, averages, medians, spreads. Also arithmetic. Declines everything else.",
  pricing: price(0.8, 3.2),
  skills: { statistics: {}, arithmetic: {} }
}

const interpreter: Profile = {
  id: "interpreter",
  description: "Runs JavaScript programs in a sandbox and says exactly what the code prints. Declines everything else.",
  pricing: price(0.5, 2),
  pace: 1.2,
  skills: { program: {} }
}

// -------------------------------------------------------------------------------------------------------------------
// Flaky ones, and a checker
// -------------------------------------------------------------------------------------------------------------------

const gambler: Profile = {
  id: "gambler",
  description:
    "Gambler, cheap at equations, statistics and dates; wrong about one time in four, so ask it more than once.",
  pricing: price(0.1, 0.4),
  pace: 0.5,
  skills: { algebra: { slips: 0.25 }, statistics: { slips: 0.25 }, calendar: { slips: 0.25 } }
}

const courier: Profile = {
  id: "courier",
  description: "Overloaded, but cheap and exact at units and text: one call in four fails and has to be tried again.",
  pricing: price(0.1, 0.4),
  pace: 0.6,
  failures: 0.25,
  skills: { units: {}, text: {} }
}

const proofreader: Profile = {
  id: "proofreader",
  description: "Checks answers to logic and algebra that others gave, and says which is right. Answers nothing itself.",
  pricing: price(0.4, 1.6),
  checksOnly: true,
  skills: { logic: {}, algebra: {} }
}

/** Only added on request, so that the default pool does not change. */
const storekeeper: Profile = {
  id: "storekeeper",
  description:
    "Storekeeper: looks up with a tool what the warehouse has in stock of articles, and their worth. Nothing else.",
  pricing: price(0.3, 1.2),
  skills: { stock: {} },
  tools: true
}

// -------------------------------------------------------------------------------------------------------------------
// Pool
// -------------------------------------------------------------------------------------------------------------------

/** Profiles of the default workers, in pool order. */
export const profiles: ReadonlyArray<Profile> = [
  professor,
  editor,
  engineer,
  student,
  intern,
  abacus,
  algebraist,
  converter,
  almanac,
  typesetter,
  logician,
  statistician,
  interpreter,
  gambler,
  courier,
  proofreader
]

/**
 * Profiles of the default workers, followed by the storekeeper.
 *
 * @internal
 */
export const profilesWithStorekeeper: ReadonlyArray<Profile> = [...profiles, storekeeper]

/** Options for {@link make}. */
export interface Options extends GymWorker.Options {
  /**
   * Whether to include the storekeeper, which is exact in the family `stock` and requires the tool from `GymTools`.
   * Default: `false`.
   */
  readonly storekeeper?: boolean | undefined
  /**
   * Whether workers make the mistakes in their profiles: systematic habits, random slips, and limits on parts and
   * digits. If `false`, every answer is correct, but workers still decline tasks outside their skills. Default: `true`.
   */
  readonly mistakes?: boolean | undefined
}

/** Returns a copy of a profile without its mistakes. */
const withoutMistakes = ({ carriedDigits: _, partsRead: __, skills, ...profile }: Profile): Profile => ({
  ...profile,
  skills: Object.fromEntries(Object.keys(skills).map((family) => [family, {}]))
})

/** Default time per answer in milliseconds, at a `pace` of 1. Long enough to watch a team at work. */
const defaultLatencyMillis = 250

const table = {
  storekeeper: Tables.flag,
  mistakes: Tables.flag,
  ...GymWorker.optionsTable
} satisfies Tables.ShapeOf<Options>

/**
 * Creates the pool with all workers. To use a subset, see `WorkerPool.subset` and `WorkerPool.sample`.
 *
 * **Details**
 *
 * By default, each answer takes about a quarter of a second. Set `latencyMillis: 0` for training, measurements and
 * tests.
 *
 * **Example**
 *
 * ```ts
 * import * as WorkerPool from "@divisi/core/WorkerPool"
 * import * as GymPool from "@divisi/gym/GymPool"
 *
 * const pool = GymPool.make({ latencyMillis: 0 })
 * WorkerPool.ids(pool)[0] // => "professor"
 * ```
 */
export const make = (options: Options = {}): WorkerPool.WorkerPool => {
  Tables.check("GymPool.make", options, table)
  const { mistakes = true, storekeeper, ...rest } = options
  const profilesOfAll = storekeeper ? profilesWithStorekeeper : profiles
  const team = mistakes ? profilesOfAll : profilesOfAll.map(withoutMistakes)
  const ofWorkers = { ...rest, latencyMillis: options.latencyMillis ?? defaultLatencyMillis }
  return WorkerPool.makeUnsafe(team.map((profile) => GymWorker.make(profile, ofWorkers)))
}

/**
 * Estimates the share of a family's questions that a worker answers correctly, from 0 to 1: 0 without the skill, 1 if
 * exact, and 0.3 less with habits. A heuristic for planners, not a measurement.
 *
 * @internal
 */
export const expectedSkill = (profile: Profile, family: AnyFamilyName): number => {
  const skill = profile.skills[family]
  if (skill === undefined || profile.checksOnly) return 0
  return (1 - (skill.slips ?? 0)) * (skill.habits === undefined ? 1 : 0.7)
}
