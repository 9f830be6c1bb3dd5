/**
 * Determines whether an English sentence announces the answer that its label names: "So the answer is 5".
 *
 * There are countless ways to mention an answer and only a few to announce it. So the grammar of announcements is
 * listed, and any other construction announces nothing: the clause of the label consists of known words, and whatever
 * precedes the clause is a reason, a circumstance or a statement that the clause draws a conclusion from.
 */

import { foreignLeads } from "./english.ts"
import { stating } from "./signals.ts"

const list = (words: string): ReadonlySet<string> => new Set(words.trim().split(/\s+/))

/** The words of the clause of a label. */
const announcing = list(`
  a an the this that these those it its here what which our my your i we us you me one
  answer answers ans result results solution solutions value values number numbers total sum conclusion summary tldr
  question problem exercise task puzzle challenge equation equations system inequality expression integral limit function sequence
  series polynomial form format decimal fraction notation interval units terms box simplification calculation computation
  evaluation work derivation choice set root roots variable unknown quantity amount probability
  final correct right true actual exact precise required requested desired sought needed wanted asked looking seeking seek
  after overall complete numerical numeric simplified simplest simple lowest unique only possible positive nonnegative negative real integer
  integral valid proper closed short quick full ultimate official confirmed verified corrected correction boxed best minimum
  maximum minimal maximal optimal least greatest largest smallest highest lowest expected mean average median given original resulting
  rounded approximate approximately stated
  is are be being been am equals equal must should would has have had can will get gets got find finds found obtain obtains
  obtained arrive arrived arrives reach reached conclude concluded concludes deduce infer see show shows showed shown prove
  proves proved imply implies means mean follow follows followed yield yields yielded give gives gave giving comes come coming
  works turns turned turn reads stands reduces simplifies evaluates amounts leads leaves makes make
  pin pins determine determines force forces establish establishes box boxing write writing put putting present presenting state stating report reporting submit submitting
  claim believe think confident sure certain confirm confirms verify gather say settle doubt
  to as at in of by for from on with out up down be thus so hence therefore then now finally consequently accordingly
  altogether simply just exactly precisely indeed clearly obviously evidently certainly definitely undoubtedly surely thereby also again
  still too however instead rather actually really fact namely ultimately eventually conclusively correctly uniquely clear all once more yes no not
  update edit erratum amended
  gonna going gotta fairly quite pretty very absolutely totally
  okay ok alright well right great so and or but both none other than let ergo whence there any well-defined within claimed key approach method way
  two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy
  eighty ninety hundred thousand once twice part latter former
`)

/** Words that make another value of an answer, and plans to give one: "three times the answer", "the answer plus one". */
const deriving =
  /\b(?:(?:twice|once|times|half|plus|minus|over) (?:the|my|our)|(?:answer|result|solution|value)s? (?:plus|minus|times|squared|cubed|over|divided|multiplied|mod)|to (?:box|write|put|present|state|report|submit|say|question|doubt)\b)/

/** Starts of a clause that gives a reason or a circumstance, under which the next clause holds without condition. */
const circumstance =
  /^(?:(?:and|but|so|then|now|finally|thus|hence) )*(?:since|because|as|after|upon|by|from|using|contrary|regardless|rounded|rounding|expressed|written|although|though|while|even if|even though|even|whether|either way|at first|initially|originally|in (?:conclusion|summary|total|short|fact|brief|sum|closing|the end|general|particular|other words|our case|this case|simplest|lowest|decimal|closed|exact|reduced|interval|set|terms|either)|to (?:conclude|summari[sz]e|sum|recap|be|answer|repeat|reiterate)|on (?:adding|substitut\w+|simplif\w+|dividing|combining|balance|simplification|second thought|reflection)|with (?:that|this|these|those|all|everything)|without loss|for (?:this|these|that|completeness|clarity|the record|all|every|any)|when|where|once|given (?:that|this|these|the|all|both)|perhaps surprisingly|maybe surprisingly|surprisingly|\w+ly\b|\w+(?<!assum|suppos|grant|pretend|accord|depend|provid|postulat|bar|bas|guess|hop|presum|imagin)ing\b|\w+(?<!suppos|assum|grant|claim|report|alleg|guess|imagin|conjectur)ed\b|as (?:requested|required|desired|expected|claimed))(?!\p{L})/u

/** Conjunctions that draw a conclusion from a statement or contrast with it. */
const turning =
  /(?:^|[\s,(])(?:so(?! far)|hence|thus|therefore|consequently|ergo|but|yet|however|and|(?:confirm|show|prove|impl(?:y|ie)|mean|follow|establishe?|verifie)s? that)(?=\s|,|$)|⇒|→|=>/g

/** A calculation as the subject of the clause: "Combining both parts yields a final answer of". */
const calculation =
  /^(?!assum|suppos|grant|pretend|guess|hop|imagin)\p{L}+ing\s[^,;:]*?\s(?:yields?|gives?|produces?|results? in|leads? to)(?=\s)/u

const wordsOf = (text: string): ReadonlyArray<string> => text.match(/\p{L}[\p{L}\p{M}-]*/gu) ?? []

const isKnown = (text: string): boolean =>
  !deriving.test(text) &&
  wordsOf(text.replace(calculation, "")).every(
    (word) => word.length === 1 || announcing.has(word) || foreignLeads.has(word) || stating.has(word)
  )

/** A remark that the writer sees the answer: "wait, I see it now, answer = 40". */
const noticed = /(?<!\p{L})(?:i (?:see|get|got)(?: it)?|got it)(?: now)?\W*$/u

const naming = /(?<![\p{L}_"'<{/])(?:answer|ans|result|solution|value)s?(?!\p{L})/gu

/** Whether the text from the start of a sentence to its value announces an answer, if the text names one. */
export const isAnnounced = (said: string): boolean => {
  const text = said
    .toLowerCase()
    .replaceAll("’", "'")
    .replace(/'(?:s|re|m|ve|d|ll)(?!\p{L})/gu, " ")
    .replace(/n't(?!\p{L})/gu, " not")
    .replace(/\([^()]*\)/g, " ")
    .replace(/^[\s\S]*[;.]\s/, "")
    .replace(/^[^\p{L}□]+/u, "")
  const noun = [...text.matchAll(naming)][0]
  if (noun === undefined) return true
  // The clause of the label starts after the last mark or conjunction before the label, and ends with a colon.
  const before = text.slice(0, noun.index)
  const turn = [...before.matchAll(turning)].at(-1)
  const mark = Math.max(...[",", ":", "—", "–"].map((one) => before.lastIndexOf(one)))
  const start = Math.max(mark + 1, turn === undefined ? 0 : turn.index + turn[0].length)
  if (!isKnown(/^[^:]*/.exec(text.slice(start))![0])) return false
  const lead = before.slice(0, start)
  if (
    turn !== undefined ||
    /^(?:step|part) \d*:\s*$/.test(lead) ||
    isKnown(lead) ||
    circumstance.test(lead) ||
    noticed.test(lead)
  )
    return true
  return /:\s*$/.test(lead) && /^(?:no|not|i disagree|yes|if you)\b/.test(lead)
}
