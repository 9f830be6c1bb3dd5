/** Words for the kinds of question in descriptions: words for training, and words excluded from training. */
import type { Family } from "@divisi/gym"

/** The words for a kind, or for several kinds. */
export interface Topic {
  readonly kinds: ReadonlyArray<Family.FamilyName>
  readonly known: ReadonlyArray<string>
  /** Words close to known ones: other forms or compounds. */
  readonly related: ReadonlyArray<string>
  /** Words unlike all known ones: a reader needs general knowledge to understand them. */
  readonly unrelated: ReadonlyArray<string>
}

/** The kind of words in a description. */
export type Words = "known" | "related" | "unrelated"

const topic = (
  kinds: ReadonlyArray<Family.FamilyName>,
  known: string,
  related: string = known,
  unrelated: string = related
): Topic => ({ kinds, known: known.split("|"), related: related.split("|"), unrelated: unrelated.split("|") })

/** Topics of one kind each. */
export const single: ReadonlyArray<Topic> = [
  topic(
    ["arithmetic"],
    "arithmetic|sums|addition|subtraction|multiplication|division|products|quotients|remainders|totals|percentages|calculations|calculation|number crunching|mental arithmetic|adding numbers up|multiplying|dividing|long division|times tables|reckoning|big numbers|large integers|decimals|sums and products|order of operations|plus and minus|exact computation with numbers|figures|doing sums|adding and subtracting|products of long numbers",
    "arithmetical work|summing|additions|subtracting|multiplications|divisions|percentage work|calculating|a calculator's work|totalling|remainder tasks",
    "the abacus|cash registers|ledgers|tills|accounts receivable"
  ),
  topic(
    ["algebra"],
    "algebra|equations|unknowns|solving for x|linear equations|quadratic equations|systems of equations|polynomials|roots of equations|variables|symbolic mathematics|finding x|unknown numbers|equation solving|simultaneous equations|quadratics|factoring|solving equations|number riddles with an unknown|expressions with variables|two equations with two unknowns|algebraic problems",
    "algebraic work|equation systems|an unknown|polynomial roots|quadratic problems|variable juggling|solvable equations|factorisation|linear systems",
    "balancing both sides|x and y|the missing letter|isolating symbols"
  ),
  topic(
    ["units"],
    "units|unit conversion|units of measure|conversions|measures|measurements|converting units|metric and imperial|kilometres and miles|lengths and weights|temperatures|speeds and areas|feet and metres|litres and gallons|converting measures|celsius and fahrenheit|weights and measures|conversion tables|metric conversion|pounds and kilograms|units of length|units of time and weight|physical units",
    "unit work|conversion of units|measuring|measurement|converters|imperial measures|temperature conversion|kilometre counts|a weight in other units",
    "yards, ounces and bushels|dimensional analysis|scales and rulers|acres"
  ),
  topic(
    ["calendar"],
    "dates|the calendar|calendars|weekdays|days of the week|leap years|days between dates|date arithmetic|calendar dates|days and months|what day it was|counting days|date questions|months and years|day counts|scheduling dates|the days of the week|calendar questions|dates and weekdays|the date some days later|which weekday a date is",
    "dating|calendar work|a weekday|leap days|date calculations|day counting|monthly calendars|leap-year rules|dated events",
    "the almanac|birthdays and anniversaries|Mondays and Fridays|chronology"
  ),
  topic(
    ["text"],
    "letters|words|spelling|letters and words|alphabetical order|counting letters|vowels|reversing words|strings|characters|word order|sorting words|text|capital letters|letter counts|words and letters|vowels and consonants|backwards spelling|string manipulation|alphabetising|letter puzzles|character counting|text handling",
    "lettering|wording|spelled words|alphabetic sorting|vowel counts|word reversal|a string|characterwise work|textual tasks|word sorting",
    "typography|the ABC|palindromes and acrostics|glyphs"
  ),
  topic(
    ["logic"],
    "logic|deduction|reasoning|puzzles|logic puzzles|truth values|knights and knaves|riddles of truth and lies|inference|logical reasoning|true or false statements|deductive puzzles|boolean logic|propositions|who is older than whom|brain teasers|logical statements|orderings|implications|statements with and, or and not|reasoning puzzles",
    "logical work|deducing|a puzzle|logicians' problems|inferences|boolean statements|implication|propositional logic|puzzling",
    "liars and truth-tellers|syllogisms|Sherlock's trade|premises"
  ),
  topic(
    ["statistics"],
    "statistics|averages|means and medians|the median|standard deviation|data|data analysis|data sets|spread of data|lists of measurements|the mean|variance|medians|ranges|descriptive statistics|means|deviations|summaries of data|analysing lists of values|averages and spreads|statistical questions|quartiles",
    "statistical work|averaging|median values|a deviation|dataset summaries|variances|mean values|data summaries|spreads",
    "histograms|samples and outliers|central tendency|survey results"
  ),
  topic(
    ["program"],
    "programs|code|programming|javascript|software|what code prints|loops and functions|running code|reading programs|scripts|program output|debugging|tracing programs|source code|coding|executing programs|algorithms in code|functions and loops|code execution|javascript programs|computer programs",
    "programmed tasks|coded problems|a script|scripting|software code|programmers' questions|loop tracing|codebases|executed functions",
    "console logs|node and the browser|the interpreter|compilers"
  )
]

/** Topics of several kinds. */
export const several: ReadonlyArray<Topic> = [
  topic(["arithmetic", "algebra", "statistics"], "mathematics|maths|all of mathematics|quantitative questions"),
  topic(["calendar", "units"], "dates and units|times and measures"),
  topic(["logic", "program"], "logic and code|formal reasoning and programs"),
  topic(["text", "calendar"], "words and dates|texts and dates"),
  topic(["statistics", "arithmetic"], "data and sums|averages and totals")
]

/** The name of a kind in records. */
export const recordName: { readonly [Name in Family.FamilyName]: string } = {
  arithmetic: "arithmetic",
  algebra: "equations",
  units: "units",
  calendar: "dates",
  text: "letters",
  logic: "logic",
  statistics: "statistics",
  program: "programs"
}

/** Topics of which no question exists. */
export const distractors: ReadonlyArray<string> =
  "poetry|cooking|law|medicine|geography|history|music|translation|chess|gardening|marketing|travel|film|French|sports|painting|philosophy|small talk|fashion|astronomy|summaries of meetings|customer letters|recipes|novels".split(
    "|"
  )
