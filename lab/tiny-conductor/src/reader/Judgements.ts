/**
 * Generates random judgements: statements that a worker is good or weak at something, checks it, or is error-prone,
 * exact or general. They are composed from words and patterns, so that a reader rarely sees one twice.
 */
import * as HeldOut from "./HeldOut.ts"
import type { Lots } from "./Lots.ts"
import * as Words from "./wordsOfJudgement.ts"

type Side = "good" | "weak"

const other = { good: "weak", weak: "good" } as const

/** Random phrases are sometimes held-out ones; these are drawn again. */
const unlessHeldOut = (draw: () => string): string => {
  for (;;) {
    const text = draw()
    if (!HeldOut.has(text)) return text
  }
}

/** With something before a word or phrase now and then. */
const after = ({ chance, pick }: Lots, share: number, words: ReadonlyArray<string>, text: string): string =>
  chance(share) ? `${pick(words)} ${text}` : text

/** Of a quality: `very able`, and of the opposite one `not at all clumsy`. */
const quality = (of: Lots, side: Side): string => {
  const { chance, pick } = of
  return chance(0.25)
    ? `${pick(Words.negators)} ${pick(Words.qualities[other[side]])}`
    : after(of, 0.35, Words.degrees, pick(Words.qualities[side]))
}

const somebody = (of: Lots, side: Side): string => {
  const { chance, pick } = of
  return chance(0.15)
    ? `${pick(["no", "not a", "never a", "hardly a", "anything but a"])} ${pick(Words.people[other[side]])}`
    : `${chance(0.5) ? "a " : ""}${after(of, 0.2, ["real", "true", "born", "complete", "known", "total"], pick(Words.people[side]))}`
}

const deed = ({ chance, pick }: Lots, side: Side): string =>
  chance(0.2)
    ? `${pick(["never", "hardly ever", "rarely", "does not often see that it", "at no time"])} ${pick(Words.deeds[other[side]])}`
    : chance(0.3)
      ? `${pick(["always", "often", "usually", "mostly", "regularly", "as a rule", "time and again"])} ${pick(Words.deeds[side])}`
      : pick(Words.deeds[side])

const shapes: ReadonlyArray<(of: Lots, side: Side) => string> = [
  (of, side) => `${quality(of, side)} ${of.pick(Words.prepositions)} X`,
  (of, side) => `${quality(of, side)} ${of.pick(Words.prepositions)} X`,
  (of, side) =>
    `${of.pick(Words.prepositions)} X ${of.pick(["", "it is ", "it proves ", "it seems "])}${quality(of, side)}`,
  (of, side) => `X: ${quality(of, side)}`,
  (of, side) =>
    `${of.pick(["its X is", "X is", "its answers on X are", "X here is", "as for X,"])} ${quality(of, side)}`,
  (of, side) =>
    `${of.pick(Words.qualities[side])} ${of.pick(["answers", "results", "work", "performance", "scores"])} ${of.pick(["in", "on", "with"])} X`,
  (of, side) => `${of.pick(Words.qualities[side])} X`,
  (of, side) => `${somebody(of, side)} ${of.pick(["at", "in", "of", "with", "for", "when it comes to"])} X`,
  (of, side) => `${of.pick(["X", "in X", "at X"])} ${of.pick(["it is ", "", "this one is "])}${somebody(of, side)}`,
  (of, side) =>
    `${deed(of, side)} ${of.pick(["", "at ", "with ", "in ", "on ", "when it comes to ", "if it is about "])}X`,
  (of, side) => `${of.pick(["in X it", "given X, it", "X is where it", "asked about X it"])} ${deed(of, side)}`,
  (of, side) => `${of.pick(Words.having[side])} ${of.pick(["in", "with", "for", "at", "when it comes to"])} X`,
  (of, side) =>
    `${of.pick(["with X", "X", "in X"])} ${of.pick(["it has ", "there is ", "", "you get "])}${of.pick(Words.having[side]).replace(/^(has|shows|brings) /, "")}`,
  (of, side) => of.pick(Words.advice[side]).replace("M", of.pick(Words.others))
]

/** A statement that a worker is good or weak at X. */
export const said = (of: Lots, side: Side): string => unlessHeldOut(() => of.pick(shapes)(of, side))

/** A statement that a worker checks the X of other workers. */
export const checks = (of: Lots): string =>
  unlessHeldOut(() => {
    const { chance, pick } = of
    const only = chance(0.3) ? `${pick(["only", "just", "solely", "merely", "exclusively"])} ` : ""
    const how = chance(0.15) ? `${pick(["independently", "carefully", "patiently", "afterwards"])} ` : ""
    const work = pick(Words.works)
    const about = pick(["to", "on", "in", "about", "for", "regarding"])
    const others = chance(0.4) ? ` ${pick(Words.ofOthers)}` : ""
    const end = chance(0.2)
      ? `, ${pick(["and answers nothing", "no answers of its own", "solves nothing itself", "never the first to answer"])}`
      : ""
    const verb = pick(Words.checking)
    const noun = pick(Words.checkers)
    return pick([
      `${only}${how}${verb} ${work} ${about} X${others}${end}`,
      `${only}${how}${verb} X${others === "" ? ` ${pick(Words.ofOthers)}` : others}${end}`,
      `${noun} ${pick(["of", "for", "in", "on"])} ${chance(0.5) ? `${work} ${about} ` : ""}X${end}`,
      `X ${noun}${end}`,
      `X: ${only}${verb} ${work}${others}`,
      `${pick(["here to", "made to", "meant to", "its job is to"])} ${verb.replace(/(?<=[a-z])s$/, "")} ${work} ${about} X${others}`
    ])
  })

const shareWrong = ({ chance, int, pick }: Lots): string => {
  const wrong = pick(["wrong", "mistaken", "incorrect", "false", "faulty"])
  return chance(0.5)
    ? `${pick(["one", "one answer", "one result", "about one", "1"])} in ${pick(["three", "four", "five", "4", "5"])} ${pick(["is", "comes out", "turns out"])} ${wrong}`
    : chance(0.5)
      ? `${wrong} ${int(18, 35)} % of the time`
      : `${pick(["right", "correct"])} ${int(65, 82)} % of the time`
}

/** A statement about all work of a worker. */
export const flagged = (of: Lots, flag: "careless" | "exact" | "general"): string =>
  unlessHeldOut(() => {
    const { chance, pick } = of
    const often = ["often", "sometimes", "at times", "now and then", "frequently", "a little", "rather", "tends to be"]
    if (flag === "careless") {
      const [quality, thing] = [pick(Words.carelessness), pick(Words.slips)]
      return pick([
        after(of, 0.4, often, quality),
        after(of, 0.3, ["lacks", "without", "short on"], pick(Words.care)).replace(
          /^(?!lacks|without|short)/,
          "little "
        ),
        `${pick(["makes", "expect", "produces", "its answers have", "not free of"])} ${thing}`,
        `${pick(["not", "never quite", "not always", "seldom"])} ${pick(Words.exactness)}`,
        shareWrong(of),
        `${pick(["look again at", "compare", "review", "do not rely blindly on", "have somebody read"])} ${pick(["what it gives", "its results", "all it says", "what comes out"])}`
      ])
    }
    if (flag === "exact") {
      return pick([
        after(of, 0.4, ["always", "very", "utterly", "completely", "entirely", "thoroughly"], pick(Words.exactness)),
        `${pick(["never", "at no time", "by no means"])} ${pick(Words.carelessness)}`,
        `${pick(["without", "no", "free of", "zero"])} ${pick(Words.slips)}`,
        `${chance(0.5) ? "works with " : ""}${pick(["great", "much", "utmost", "full"])} ${pick(Words.care)}`
      ])
    }
    const thing = pick(["question", "subject", "topic", "task", "problem", "field", "request"])
    return pick([
      `${after(of, 0.3, ["a", "very", "truly", "rather"], pick(Words.breadth))}${chance(0.3) ? " model" : ""}`,
      `${pick(["answers", "attempts", "accepts", "tackles", "handles", "goes for", "is open to"])} ${pick(["any", "every", "each", "whatever", "all kinds of", "all sorts of"])} ${thing}${chance(0.5) ? "" : "s"}`,
      `${pick(["at work on", "used for", "something on", "a go at"])} ${pick(["everything", "all things", "any subject", "every field", "whatever comes"])}`
    ])
  })
