/**
 * Determines whether a clause commits to the answer in it. There are too many ways to mention a value to list them all,
 * so a clause must contain a verb that states a value or a concluding word, or consist only of words that introduce an
 * answer.
 */
import { answerWords, resultWords } from "../answerWords.ts"
import { conclusion, foreignLeads, leads, subject } from "./english.ts"
import { stating as statingAbroad } from "./signals.ts"

const list = (words: string): ReadonlySet<string> => new Set(words.trim().split(/\s+/))

/** Verbs that state a value: verbs of identity and result, and those typical of word problems. */
const stating = list(`
  is are was were be been being am equals equal equaling equalling gives give gave giving given yields yield yielding yielded
  gets get got getting gotten obtain obtains obtained obtaining have has had having find finds found finding leaves leave left
  leaving makes make made making becomes become became comes come came coming totals totaling totalling totaled sums
  amounts simplifies simplify simplified simplifying reduces reduce reduced evaluates evaluate evaluated evaluating
  produces produce produced results resulting reaches reach reached arrive arrives arrived ends end needs need needed
  takes take took costs cost pays pay paid earns earn earned receives receive received walked ran travelled traveled travelling traveling moved moves moving flew flies flying drove rode covered weighed lasted contains contain holds hold remains
  remain remaining travels travel walks walk runs run weighs weigh lasts last requires require uses use used sells sell sold
  buys buy bought spends spend spent saves save saved scores scored eats eat ate reads read drives drive measures measure
  determine determined attains attained occurs occur happens lies located expressed written rewrite rewritten rounds rounded
  see sees conclude deduce infer settle settled choose report confirm confirms confirmed collects collect collected bakes bake
  baked grows grow grew increases increase decreases decrease rises falls drops leads corresponds works counts counted
  consists forms fits fit owns shares covers fills charges owes invests wins loses gains raises raised donates distributes
  sends drinks satisfies satisfy solves calculate calculating compute computing computed calculated add adding subtract
  subtracting multiply multiplying divide dividing combine combining substituting plugging solving summing represents
  averages averaged land lands landed went rose fell dropped increased decreased yields
  exist exists factor factors factored expand expands converges converge tends recovers recover works say achieve achieves
  achieved follows follow shows show showed implies imply means mean accounts completes complete completing provides forces forced
  gather gathered plant planted climbs swims lost won will finish finishes intersect intersects meet meets cross crosses touch touches lie lies works
`)

const concluding = list(`
  so thus hence therefore then finally consequently altogether ergo conclusion whence accordingly
`)

/**
 * Endings of past and future verb forms, with which highly inflected languages describe what happened to a quantity.
 */
const inflected =
  /^\p{L}{2,}(?:ó|aron|ieron|aba|aban|ará|arán|erá|erán|irá|irán|ou|iu|aram|eram|iram|erà|eranno|eront|aient|тся|лся|лась|лось|лись|л|ла|ло|ли|ет|ит|ют|ят|ał|ała|ali|ały|ył|yła|yli|ił|iła|ili)$/u

const steps = list("after before first second third fourth fifth last next now today later")

const others =
  /\b(?:your|his|her|their|whose|user['’]s|poster['’]s|student['’]s|friend['’]s)\s+(?:\w+\s+)?(?:answer|result|solution|total)/i

/** Returns the text after the last comma, colon or dash. */
const lastClause = (before: string): string => /[^,;:—–()→]*$/.exec(before)![0]

/** Whether the words before a colon introduce a value. Up to four words are checked individually elsewhere. */
const isLead = (words: ReadonlyArray<string>): boolean =>
  words.length < 5 ||
  words.every((word) => leads.has(word) || stating.has(word)) ||
  words.some((word) => /^answers?$/.test(word)) ||
  /ing$/.test(words[0]!) ||
  steps.has(words[0]!) ||
  (words[0] !== "a" && leads.has(words[0]!)) ||
  words.some((word) => stating.has(word))

/** Matches a counted noun or a unit after a value, with what belongs to it: "120 kilómetros", "32 reais no total". */
const counted = /^[\s$*_)\]}]*(?:\p{Sc}|%|°|\p{L}[\p{L}\p{M}²³/.]*)(?:\s[\p{L}\p{M}'’]+){0,6}[\s.!*_$\\)\]}]*$/u

/** Nouns for values before a value that is a subject: "El valor 5 no cumple". */
const valued =
  /(?<!\p{L})(?:val(?:or|eur|ore|oare|ue)\p{L}*|n[úu]mero|nombre|numéro|numero|num[ăa]r\p{L}*|zahl|wert|fall|getal|waarde|tal(?:et)?|värdet?|værdien?|verdien?|liczb\p{L}*|wartość|číslo|hodnota|broj|vrijednost|luku|arvo|szám|érték|sayı\p{L}*|değer\p{L}*|số|giá trị|bilangan|nilai|angka|числ\p{L}*|значени\p{L}*|αριθμός|τιμή|ca[sz]o?|при|с|con|avec|mit|med|met|with|de|di|von|van|av|af|d['’])\W*$/iu

/** The delimiter of a formula next to a value, as a placeholder sign. */
const opened = /(?<!□)□{1,2}\s*$/
const closed = /^\s*□{1,2}(?!□)/

/** Whether a sentence states an amount of something, as in "El tren recorre 120 kilómetros". Its verb may be any. */
export const isAmount = (before: string, behind: string): boolean => {
  const clause = lastClause(before.replace(opened, ""))
  const words = clause.match(/[\p{L}\p{M}'’]{2,}/gu)?.length ?? 0
  return counted.test(behind.replace(closed, "")) && words > 1 && !/[□\d]/.test(clause) && !valued.test(clause)
}

/** English words that do not count, such as articles and prepositions. */
const functional =
  /\b(?:the|an?|of|to|in|for|from|with|by|at|on|than|will|would|must|should|can|his|her|their|per|each)\b/i

/** Words before a value that is referred to instead of stated, and subjects that are not part of the task. */
const referring =
  /\b(?:the|these|those|all|both|of|each|every|its|our|answer|only|last|first|other)\W*$|\b(?:i|we|one|answer)\b/i

/** Like {@link isAmount}, for English. */
export const isEnglishAmount = (before: string, behind: string): boolean =>
  isAmount(before, behind) && functional.test(`${before} ${behind}`) && !referring.test(before)

/** Whether the text around an answer states it as a value. */
export const isCommitted = (before: string, behind: string): boolean => {
  const said = before.toLowerCase()
  const words = said.match(/[a-z]+(?:['’][a-z]+)?/g) ?? []
  if (words.length === 0) return true
  const clause = lastClause(said).match(/[a-z]+(?:['’][a-z]+)?/g) ?? []
  if (words.some((word) => concluding.has(word)) && !others.test(said)) return true
  const isStating = (word: string) => stating.has(word) || /['’](?:s|re)$/.test(word)
  if (clause.some(isStating) || /[=≈]|\bi\.e\./.test(lastClause(said))) return true
  if (/(?:n['’]t|not)\b.*\bbut\b/.test(said)) return true
  if (clause.length === 0 && !isLead(words)) return false
  if (clause.every((word) => leads.has(word) || steps.has(word)) && !/^[\s□.*_)\]}$]*[a-z]/.test(behind)) return true
  return subject.test(behind) && !/^[\s□.*_)\]}$]*[,;(–—-]/.test(behind)
}

const conjunction =
  /^[\s$*_)\]}]*(?:o|ou|or|oder|of|eller|sau|lub|nebo|alebo|ili|tai|vagy|veya|hoặc|atau|au|или|або|ή|y|e|et|und|en|och|og|i|a|и|та|και)(?!\p{L})/iu

/** Matches words after the total of several numbers. */
const total =
  /^[\s$*_)\]}]*(?:\p{L}+\s+)?(?:in total|altogether|in all|overall|insgesamt|au total|en tout|en total|in totale|no total|in totaal|totalt)\W*$/iu

/** Whether a value is part of a subject that is followed by a predicate: "The value 5 drops out". */
export const isSubject = (before: string, behind: string): boolean =>
  !total.test(behind) &&
  !conjunction.test(behind) &&
  !/[:：=]\W*$/.test(before) &&
  /^[\s$*_)\]}]*\p{L}/u.test(behind) &&
  !/^[\s$*_)\]}]*(?:\p{L}{1,3}|\p{Ll}+s|\p{Lu}\p{Ll}+)\s*$/u.test(behind)

const answers = new RegExp(`(?<!\\p{L})(?:${answerWords}|${resultWords})`, "iu")

/** Like {@link isCommitted}, for languages other than English whose verb precedes the value. */
export const isCommittedAbroad = (before: string, behind: string): boolean => {
  const said = before.toLowerCase()
  if (!/\p{L}/u.test(said) || conclusion.test(said)) return true
  if (answers.test(said) && !isSubject(before, behind)) return true
  const clause = lastClause(said).match(/[\p{L}\p{M}]+(?:['’][\p{L}\p{M}]+)?/gu) ?? []
  if (
    clause.some((word) => statingAbroad.has(word) || stating.has(word) || inflected.test(word)) ||
    /[=≈]/.test(lastClause(said))
  )
    return true
  return clause.every((word) => foreignLeads.has(word) || leads.has(word)) && !isSubject(before, behind)
}
