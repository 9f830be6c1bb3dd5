/**
 * The descriptions of the workers that the tiny Conductor was trained with. The model reads nothing else about workers.
 */
export const knownWorkers: ReadonlyArray<string> = [
  "Strong and dear generalist: good at mathematics, logic and programs, less sure with the calendar and old units.",
  "Literary generalist: good with words, dates and logic, weak in mathematics.",
  "Technical generalist: good at units, programs and data, careless with words and dates.",
  "Eager and cheap generalist that tries everything; fine for easy questions, sloppy with hard ones.",
  "Cheapest of all: answers anything in no time, and is often wrong.",
  "Calculator: exact arithmetic with numbers of any size, and nothing else.",
  "Algebra: equations and unknowns. Quick, and now and then careless, so have its answers checked.",
  "Converter: exact conversion between units of measurement. Declines everything else.",
  "Calendar: exact with dates, days between them, weekdays, leap years. Declines everything else.",
  "Text: exact with letters, words, spelling, alphabetical order, digits. Declines everything else.",
  "Logic: solves hard puzzles by deduction and reasoning; brilliant but careless, so have its answers checked.",
  "Statistics: exact with data, averages, medians, spreads. Also arithmetic. Declines everything else.",
  "Runs JavaScript programs in a sandbox and says exactly what the code prints. Declines everything else.",
  "Gambler, cheap at equations, statistics and dates; wrong about one time in four, so ask it more than once.",
  "Overloaded, but cheap and exact at units and text: one call in four fails and has to be tried again.",
  "Checks answers to logic and algebra that others gave, and says which is right. Answers nothing itself."
]
