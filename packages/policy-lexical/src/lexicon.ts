/** Term extraction for the lexical policy: the terms of a text, and the subjects that a question suggests. */

const functionWords = new Set(
  (
    "a about above after all also am an and any are as at be been before being below between both but by can could did " +
    "do does doing down during each few for from further get give given had has have having he her here him his how i " +
    "if in into is it its itself just let like many may me might more most much must my no nor not now of off on once " +
    "one only or other our out over own per please same she should so some such than that the their them then there " +
    "these they this those through to too two under until up use very was we were what when where which while who whom " +
    "whose why will with would you your"
  ).split(" ")
)

/** Removes the most common endings of a word, so that "dates" matches "date" and "programming" matches "program". */
export const stem = (word: string): string => {
  if (word.length < 4) return word
  const singular = word.replace(/ies$/, "y").replace(/([^s])s$/, "$1")
  const bare = singular.replace(/(?:ing|ed|er|ion)$/, "")
  const base = bare.length >= 3 ? bare : singular
  return base.replace(/([^aeiou])\1$/, "$1").replace(/e$/, "")
}

/** Returns the terms of a text: its words, stemmed, without function words. */
export const terms = (text: string): ReadonlyArray<string> =>
  (text.toLowerCase().match(/\p{L}+/gu) ?? []).filter((word) => !functionWords.has(word)).map(stem)

const arithmetic = "arithmetic calculation numbers mathematics"

/**
 * Cues for subjects that a question does not name, with the words that a worker's description would use for each
 * subject.
 */
const subjects: ReadonlyArray<{ readonly cue: RegExp; readonly words: string; readonly most?: number | undefined }> = [
  {
    cue: /\d ?% of \d|(?:\d|\b[a-z]|\))\s*[+−*×÷^]\s*(?:[\d(]|[a-z]\b)|(?:\d|\b[a-z]|\))\s+[-/]\s+(?:[\d(]|[a-z]\b)|\b(?:plus|minus|times(?= (?:\d|as|that|itself|the\b|(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty)\b))|add|sum|subtract|multipl\w+|divid\w+|product|quotient|remainder|squared|(?:square|cube) roots?|squares? of|per ?cent of|cubed|modulo|factorial|how many .{1,60} (?:left|altogether|in total|now))\b/g,
    words: arithmetic,
    // Limited, because most questions with numbers resemble arithmetic.
    most: 1
  },
  {
    cue: /\b\d*[a-z]\b[^=\n]{0,30}=|=[^=\n]{0,30}\b\d*[a-z]\b|\b(?:equations?|solve for|satisf\w+|unknown|equals|think of a number|my number|two numbers|consecutive numbers|(?<!\b(?:square|cube) )roots?|polynomial|inequality)\b/g,
    words: "algebra equations unknowns mathematics"
  },
  {
    cue: /\b(?:mean|median|mode|average|variance|deviation|percentile|quartile|range|spread|outliers?|most (?:frequent|common)|correlation|sort (?:(?:the|these) )?numbers|(?:a|de)scending order)\b|\bsort:? \d/g,
    words: "statistics data averages mathematics"
  },
  {
    cue: /\b(?:probability|dice|coin|odds|chance|at random|permutations?|combinations?)\b/g,
    words: "probability combinatorics mathematics"
  },
  {
    cue: /\b(?:triangle|circle|rectangle|radius|perimeter|angle|polygon|sphere|diagonal)\b/g,
    words: "geometry mathematics"
  },
  {
    cue: /\b(?:(?:kilo|centi|milli)?(?:met(?:re|er)|gram|lit(?:re|er))s?|km|cm|mm|kg|miles?|yards?|inch(?:es)?|feet|foot|pounds?|ounces?|gallons?|pints?|acres?|hectares?|celsius|fahrenheit|kelvin|mph|knots?|convert|hours?|minutes?|seconds|(?<=\b(?:a|one|1|per) )second|(?<!of the )weeks?|bytes?|joules?|watts?)\b/g,
    words: "units conversion measurement"
  },
  {
    cue: /\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|weekdays?|january|february|march|april|june|july|august|september|october|november|december|dates?|leap years?|calendar|days (?:between|after|before|from|later)|\d{4}-\d{2}-\d{2})\b/g,
    words: "calendar dates days"
  },
  { cue: /\bday of the week\b/g, words: "weekdays calendar dates" },
  {
    cue: /\b(?:letters?|(?<!\b(?:decimal|significant) )digits?|vowels?|consonants?|spell(?:ed|ing)?|revers\w+|palindrome|alphabet\w*|anagram|characters?|syllables?|words?|backwards?|capitals? letters?)\b/g,
    words: "text letters words strings"
  },
  {
    cue: /\b(?:true|false|knights?|knaves?|liars?|implies|puzzle|premises?|conclusion|valid|(?:tall|old|young|short|fast|slow|heav|light)i?er than|who is the|always lies?)\b/g,
    words: "logic reasoning puzzles deduction"
  },
  {
    cue: /```|\b(?:code|program\w*|prints?|function|loops?|arrays?|script|javascript|typescript|python|sql|regex|algorithm|compil\w+|console|bug)\b/g,
    words: "code programs programming software"
  },
  {
    cue: /\b(?:translat\w+|in (?:french|german|spanish|italian|chinese|japanese|latin|russian|arabic|portuguese))\b/g,
    words: "languages translation"
  },
  {
    cue: /\b(?:essay|poem|story|slogan|rewrite|rephrase|summar\w+|draft|e-?mail|proofread|tone|paragraphs?)\b/g,
    words: "writing text style language"
  },
  {
    cue: /\b(?:percent|interest|loan|tax|discount|invest\w+|profit|price|budget|salary)\b|[%$€£]/g,
    words: "finance money percentages"
  },
  {
    cue: /\b(?:atoms?|molecules?|chemical|physics|force|energy|velocity|cells?|genes?|species|planets?|experiment)\b/g,
    words: "science physics chemistry biology"
  },
  {
    cue: /\b(?:capital of|country|continent|river|mountain|president|king|queen|war|empire|century|invented|born|author of)\b/g,
    words: "knowledge facts history geography"
  },
  { cue: /\b(?:symptoms?|disease|dose|drug|diagnos\w+|patient|treatment)\b/g, words: "medicine health" },
  { cue: /\b(?:contract|legal|law|liable|statute|court|clause)\b/g, words: "law legal" },
  { cue: /\b(?:latest|news|today|current(?:ly)?|recent(?:ly)?|right now)\b/g, words: "search news current" }
]

const mostHits = 2

/** Matches a symbolic equation with an unknown. */
const equation = /(?:\b\d*[a-z]\b[^=a-z"`]{0,30}=|=[^=a-z"`]{0,30}\b\d*[a-z]\b)/

/** Weight of a subject, relative to a word that occurs in both a question and a description by chance. */
const subjectWeight = 2

/**
 * Removes quotations and code, which a question operates on but is not about. The code fence remains as a sign that
 * there is code.
 */
const withoutQuotes = (text: string) =>
  text.replace(/```[\s\S]*?(?:```|$)/g, "``` ").replace(/"[^"\n]*"|“[^”\n]*”|(?<!\p{L})'[^'\n]*'(?!\p{L})/gu, " ")

/**
 * Returns the weighted terms of a question: its words, and the terms for the subjects that its wording suggests. A
 * subject with two cues gets a higher weight than one with a single cue.
 */
export const query = (text: string): ReadonlyMap<string, number> => {
  const weights = new Map<string, number>()
  const add = (term: string, weight: number) => weights.set(term, (weights.get(term) ?? 0) + weight)
  const plain = withoutQuotes(text)
  const lowered = plain.toLowerCase()
  for (const term of new Set(terms(plain))) add(term, 1)
  const isEquation = equation.test(lowered)
  for (const { cue, most = mostHits, words } of subjects) {
    const hits = lowered.match(cue)?.length ?? 0
    // The arithmetic within an equation is not the subject of the question.
    if (hits > 0 && !(isEquation && words === arithmetic))
      for (const term of terms(words)) add(term, subjectWeight * Math.min(hits, most))
  }
  return weights
}
