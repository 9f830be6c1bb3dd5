/** Detects the languages of a text by its scripts and most common words. */
import { type Doubts, doubts } from "./doubts.ts"
import * as Words from "./Words.ts"

/** The most common words of the languages of `doubts` in Latin script, in the same order. */
const common: ReadonlyArray<string> = [
  "ist der das und lautet antwort ergebnis nicht ich wir eine ein also somit daher auf für mit von zu es wird dass sich den dem deine wäre lösung das vielleicht nein hat haben sind gibt im am vom zum noch jetzt insgesamt zusammen kostet bleiben",
  "est la le les réponse donc nous une des du que ce cette dans pour sur avec je vous et on peut c'est peut-être l'absurde il elle au aux en sont ont reste par plus ne pas",
  "es la el los las respuesta una por que del con para como pero podemos eso lo un y en de se no espera sea quizás hay tiene quedan le su por al son juntos",
  "è la il lo gli le risposta una per che del con di come ma quindi possiamo un e in questo si non forse sia ha sono rimangono ci tutto al nel della i ",
  "é a o os as resposta uma por que do da com para como mas podemos isso um e em não seja talvez no na nos ao ele ela tem há todo são foi qual",
  "het de antwoord een dat van is niet en we kunnen ik dus dit met voor wacht je zijn heeft er nog samen over op aan hij zij nu totaal",
  "svaret är det att inte en ett och vi kan jag för er ikke og jeg at eller kanske kanskje måske som slutsvar svar den til har hon han nu kvar på av finns med totalt tillsammans",
  "răspunsul este nu că și o un în pe la de numărul putem am e să nu răspuns",
  "odpowiedź to nie jest i w że na się liczba jako czy wynik możemy odpowiedzi odpowiedzią",
  "odpověď odpoveď je to že není a v se na jako číslo výsledek můžeme jsem",
  "odgovor je da i u nije se broj možemo rezultat dakle rješenje rešenje točan tačan",
  "vastaus ei ja että tämä tulos siis lopullinen tehtävää vastauksesi ehkä voimme",
  "a az válasz nem és hogy ez egy tehát eredmény végső feladatot",
  "cevap bu bir ve değil sonuç yanıt cevabı cevabın cevabınızı sayı mi mı olur kaldı vardır toplam kaç ile için",
  "đáp án là số không kết quả tôi ta của và vậy có",
  "jawaban jawabannya adalah tidak itu ini yang dan saya kita hasilnya jadi anda bukan",
  "jibu ni kwa hivyo ya wa lakini labda kama hii hilo jumla thamani",
  "hai hain tha thi hua hoga ka ki ke ko se mein aur nahi toh isliye kya jawab uttar yaani matlab kul sahi galat agar lekin",
  "ang ng sa ay na mga daw raw baka sagot kaya hindi niya ko po lang kung ito"
]

/** Letters that few languages have, as pairs of an index in `common` and letters. */
const letters: ReadonlyArray<readonly [index: number, letters: RegExp]> = [
  [0, /ß/],
  [1, /œ|ç|ê|è(?=\p{L})/u],
  [2, /[ñ¿¡]/],
  [4, /[ãõ]/],
  [6, /[åøæ]/],
  [7, /[șțăţ]/],
  [8, /[łąęśżź]/],
  [9, /[řůě]/],
  [12, /[őű]/],
  [13, /[ğış]/],
  [14, /[đươạảấầậểếềệịọỏốồộớờợụủứừự]/]
]

const words = new Map<string, Array<number>>()
for (const [index, list] of common.entries()) {
  for (const word of new Set(list.split(" "))) words.set(word, [...(words.get(word) ?? []), index])
}

const english = new Set(
  "the is of and we to that it this answer so i in for but was are not final be have get thus hence therefore which no its".split(
    " "
  )
)

/** Scripts of the remaining languages, in the order of `doubts`. */
const scripts: ReadonlyArray<RegExp> = [
  /\p{Script=Cyrillic}/u,
  /\p{Script=Greek}{2}/u,
  /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}/u,
  /\p{Script=Hangul}/u,
  /\p{Script=Arabic}/u,
  /\p{Script=Hebrew}/u,
  /\p{Script=Arabic}/u,
  /\p{Script=Devanagari}/u,
  /\p{Script=Bengali}/u,
  /\p{Script=Thai}/u
]

/** Compiled word lists of a language. */
export interface Patterns {
  readonly doubt: Words.Words
  readonly condition: Words.Words
  readonly retraction: Words.Words
  /** Whether verbs precede the value. */
  readonly isVerbFirst: boolean
}

/**
 * Finnish, Hungarian, Turkish, Hindi and Tagalog, which place the verb last or first, or omit it, and the scripts after
 * Greek.
 */
const verbLast = new Set([11, 12, 13, 17, 18])

const compiled = new Map<number, Patterns>()

const makers: Readonly<Record<Doubts["words"], (words: string) => Words.Words>> = {
  whole: (words) => Words.make(words, "(?![\\p{L}\\p{M}])"),
  begun: (words) => Words.joined(words, "(?<![\\p{L}\\p{M}])[وفبلושהכל]{0,2}"),
  joined: (words) => Words.joined(words)
}

const compile = ({ condition, doubt, retraction, words }: Doubts, index: number): Patterns => ({
  doubt: makers[words](doubt),
  condition: makers[words](condition),
  retraction: makers[words](retraction),
  isVerbFirst: index <= common.length + 1 && !verbLast.has(index)
})

const patternsOf = (index: number): Patterns => {
  const found = compiled.get(index) ?? compile(doubts[index]!, index)
  compiled.set(index, found)
  return found
}

/** Matches a letter outside the English alphabet. */
const foreign = /[^\u0020-\u007e\s□]/

/** How many of the words of a text are common in each language, and in English. */
const countsOf = (text: string) => {
  const counts: Array<number> = common.map(() => 0)
  let [inEnglish, all] = [0, 0]
  for (const [word] of text.toLowerCase().matchAll(/[\p{L}\p{M}'-]{1,24}/gu)) {
    all++
    if (english.has(word)) inEnglish++
    for (const index of words.get(word) ?? []) counts[index]!++
    if (foreign.test(word)) for (const [index, rare] of letters) if (rare.test(word)) counts[index]!++
  }
  return { counts, most: Math.max(...counts), inEnglish, all }
}

/** Whether a text is more likely English than any other language. */
export const isEnglish = (text: string): boolean => {
  const { inEnglish, most } = countsOf(text)
  return inEnglish > most && !scripts.some((script) => script.test(text))
}

/** Returns the patterns of the languages other than English that a text may contain. */
export const patternsIn = (text: string): ReadonlyArray<Patterns> => {
  const { all, counts, inEnglish, most } = countsOf(text)
  const isNoted = (count: number) => count > 0 && 2 * count >= most && 2 * count >= inEnglish
  const isUnknown = most === 0 && inEnglish === 0 && all > 0
  const latin = counts.flatMap((count, index) => (isNoted(count) || isUnknown ? [index] : []))
  const others = !foreign.test(text)
    ? []
    : scripts.flatMap((script, index) => (script.test(text) ? [common.length + index] : []))
  return [...(others.length > 0 && isUnknown ? [] : latin), ...others].map(patternsOf)
}
