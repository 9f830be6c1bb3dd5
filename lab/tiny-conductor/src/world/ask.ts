/** Alternative wordings of the gym's questions: short, bare and polite ones, and some with surrounding noise. */
import type { Family } from "@divisi/gym"
import type { Draw } from "../../../../packages/gym/src/internal/draw.ts"

/** A pattern of questions, and other ways to ask them: `$1` is the match of the pattern. The last way is held out. */
interface Wording {
  readonly pattern: RegExp
  readonly others: ReadonlyArray<string>
}

const wording = (pattern: RegExp, ...others: ReadonlyArray<string>): Wording => ({ pattern, others })

const wordings: { readonly [Name in Family.FamilyName]: ReadonlyArray<Wording> } = {
  arithmetic: [
    wording(
      /^(?:Calculate|What is|How much is|Work out) (.+?)[.?]$/s,
      "$1 = ?",
      "$1",
      "result of $1",
      "evaluate $1 for me"
    ),
    wording(
      /^Start with (.+?), (.+)\. What do you get\?$/s,
      "$1, then: $2. Result?",
      "take $1 and $2",
      "beginning at $1: $2; and that makes?"
    )
  ],
  algebra: [
    wording(/^Solve (.+) for (\w)\.$/s, "$1, $2 = ?", "$2? $1", "$1. Find $2.", "which $2 makes $1 hold?"),
    wording(/^If (.+), what is (\w)\?$/s, "$1. $2?", "$2 from $1", "solve: $1", "we know $1; how big is $2?"),
    wording(/^Find the value of (\w) for which (.+)\.$/s, "$2; $1 = ?", "solve $2", "for what $1 is $2?"),
    wording(
      /^I think of a number, (.+) What was my number\?$/s,
      "a secret number: I $1 Which one was it?",
      "some number; I $1 Guess it"
    )
  ],
  units: [
    wording(
      /^What is (.+?) in ([^?]+)\?/s,
      "$1 to $2?",
      "$1 -> $2",
      "$1 in $2",
      "express $1 as $2.",
      "how much would $1 be, told in $2?"
    ),
    wording(
      /^How many (.+?) are there in ([^?]+)\?/s,
      "$2 = ? $1",
      "$2 in $1",
      "$1 per $2?",
      "count the $1 that make up $2."
    ),
    wording(/^Convert (.+?) to ([^.]+)\./s, "$1 to $2", "$1 = how many $2?", "need $1 as $2", "$1, but make it $2.")
  ],
  calendar: [
    wording(
      /^(?:What day of the week is|Which weekday is) (.+)\?$/s,
      "$1: which day?",
      "weekday for $1",
      "$1, a Monday or what?",
      "what do we call the day that $1 was?"
    ),
    wording(
      /^On which weekday does (.+) fall\?$/s,
      "$1 falls on a ...?",
      "day name for $1?",
      "is $1 at the weekend? tell me the day"
    ),
    wording(
      /^How many days (?:are there|pass) from (.+) (?:to|until) (.+)\?$/s,
      "$1 to $2, in days",
      "days: $1 - $2",
      "$1 until $2, how long?",
      "someone leaves on $1 and returns on $2; nights away?"
    ),
    wording(/^How many (\w+)s are there in (.+)\?$/s, "number of $1s in $2", "$2: how many $1s?", "$1s of $2, counted")
  ],
  text: [
    wording(
      /^(?:Spell|Write) (".+") backwards\.$/s,
      "$1 reversed",
      "reverse $1",
      "$1 from the end to the start",
      "mirror $1"
    ),
    wording(/^How many letters are there in (".+")/s, "letters in $1", "$1: letter count", "length of $1"),
    wording(
      /^What do you get when you join the last letters of the words (".+")\?$/s,
      "last letters of $1, joined",
      "take each final letter: $1",
      "$1: final characters, glued together"
    )
  ],
  logic: [
    wording(/^True or false: (.+)\?$/s, "T/F: $1", "$1 - true?", "is it so that $1?", "does this hold: $1?"),
    wording(
      /^(?:Suppose|Given that) (.+) Is the statement (".+") true or false\?$/s,
      "$1 Then $2: T or F?",
      "$2, given $1",
      "facts: $1 claim: $2; verdict?"
    ),
    wording(
      /^Everyone here is either a knight, who always tells the truth, or a knave, who always lies\. (.+)$/s,
      "Knights tell the truth, knaves lie. $1",
      "(knights and knaves) $1",
      "Half of them always lie, the others never do. $1"
    )
  ],
  statistics: [
    wording(
      /^(?:What is|Find) the ([\w ]+) of (?:these numbers: )?([\d, ]+)[.?]/s,
      "$1: $2",
      "$2 -> $1?",
      "$1 of $2",
      "for $2 I need the $1."
    ),
    wording(
      /^Given the values ([\d, ]+), what is their ([\w ]+)\?/s,
      "$2 of $1",
      "values $1; $2?",
      "$1: $2",
      "how about the $2, if we saw $1?"
    )
  ],
  program: [
    wording(
      /^(?:What does this JavaScript program print|What is the output of this JavaScript program)\?\n/s,
      "output?\n",
      "Run this:\n",
      "prints what?\n",
      "",
      "and the console shows?\n"
    )
  ]
}

const openers = {
  known:
    "Quick one: |Hi team, |pls help: |I need to know: |For my homework: |Question: |Hey! |Could somebody tell me: |Asking for a friend. |Dear all, |One more: |urgent!! |Ok so ".split(
      "|"
    ),
  heldOut: "Sorry to bother you again. |Before lunch, please: |Ticket 4711. |Right then. |My colleague wonders: ".split(
    "|"
  )
}

const closers = {
  known:
    " Thanks!| Many thanks.| Please be exact.| No explanation needed.| :)| Take your time.| Cheers, Bo| (last one today)".split(
      "|"
    ),
  heldOut: " Much obliged.| Best regards, the night shift| It is for the quarterly report.| Do hurry.".split("|")
}

/**
 * Rewords a question of a family: with the first ways in training, and with the last way of each in held-out splits.
 */
export const ask = (draw: Draw, family: Family.FamilyName, question: string, isHeldOut: boolean): string => {
  const found = wordings[family].find(({ pattern }) => pattern.test(question))
  if (found === undefined || (!isHeldOut && draw.chance(0.3))) return question
  const { others } = found
  const chosen = isHeldOut ? others.at(-1)! : draw.pick(others.slice(0, -1))
  return question.replace(found.pattern, chosen).trim()
}

/** Adds unrelated text before and after a whole question. */
export const surround = (draw: Draw, question: string, isHeldOut: boolean): string => {
  const side = isHeldOut ? "heldOut" : "known"
  const opening = draw.chance(0.3) ? draw.pick(openers[side]) : ""
  const closing = draw.chance(0.2) ? draw.pick(closers[side]) : ""
  return `${opening}${question}${closing}`
}
