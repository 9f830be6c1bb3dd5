/** Detects the languages of a text by its scripts and most common words. */
import { remembered } from "../remembered.ts"
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

/**
 * The words with which an answer is stated, in languages whose denials and doubts are not listed. In these languages,
 * any other word may be one. After a bar, frequent words of the language.
 */
const plain: ReadonlyArray<string> = [
  // Lithuanian, Latvian, Estonian
  "atsakymas galutinis rezultatas yra lygus lygi taigi todėl vadinasi ieškoma reikšmė skaičius gauname teisingas",
  "atbilde galīgā rezultāts ir vienāda vienāds tātad tāpēc meklētā vērtība skaitlis iegūstam pareizā",
  "vastus lõplik lõppvastus tulemus on võrdub seega järelikult otsitav väärtus arv saame õige | ei et oletame kas vist",
  // Icelandic, Basque, Catalan, Albanian
  "svarið svar lokasvarið er því þar með gildið niðurstaðan rétt",
  "erantzuna emaitza azken beraz da bada balioa bilatutako zuzena",
  "la resposta és el resultat final per tant valor buscat correcta obtenim doncs solució",
  "përgjigjja përgjigja është rezultati përfundimtar pra prandaj vlera kërkuar e saktë",
  // Welsh, Irish, Maltese, Esperanto, Latin
  "yr ateb yw felly y canlyniad terfynol gwerth cywir",
  "is é an freagra mar sin deiridh toradh",
  "it-tweġiba hija għalhekk ir-riżultat finali huwa",
  "la respondo estas do rezulto fina tial valoro ĝusta serĉata",
  "responsum est ergo igitur solutio valor quaesitus itaque",
  // Azerbaijani, Uzbek, Kazakh, Mongolian
  "cavab nəticə bərabərdir deməli beləliklə axtarılan qiymət son düzgün",
  "javob demak natija teng yakuniy to'g'ri qiymat izlanayotgan shuning uchun",
  "жауабы жауап сонымен демек нәтиже тең соңғы мәні",
  "хариулт хариу тиймээс нь байна эцсийн утга",
  // Haitian, Yoruba, Hausa, Igbo, Zulu, Somali
  "repons lan se kidonk final la rezilta",
  "ìdáhùn idahun náà ni nítorí náà ìkẹyìn",
  "amsar amsa ita ce ita ƙarshe saboda haka",
  "azịza ya bụ azịza ikpeazụ ya mere",
  "impendulo ithi ngakho yokugcina umphumela ngu",
  "jawaabtu waa marka natiijada ugu dambaysa",
  // Tamil, Telugu, Kannada, Malayalam, Gujarati, Punjabi, Sinhala
  "விடை பதில் இறுதி எனவே ஆகவே ஆகும் மதிப்பு முடிவு தேவையான சரியான",
  "సమాధానం జవాబు తుది కాబట్టి అందువల్ల విలువ ఫలితం అవుతుంది కావలసిన సరైన",
  "ಉತ್ತರ ಅಂತಿಮ ಆದ್ದರಿಂದ ಆಗಿದೆ ಮೌಲ್ಯ ಫಲಿತಾಂಶ ಸರಿಯಾದ",
  "ഉത്തരം അന്തിമ അതിനാൽ ആണ് ആകുന്നു മൂല്യം ഫലം ശരിയായ",
  "જવાબ ઉત્તર અંતિમ તેથી આથી છે મૂલ્ય પરિણામ સાચો",
  "ਜਵਾਬ ਉੱਤਰ ਅੰਤਿਮ ਇਸ ਲਈ ਹੈ ਨਤੀਜਾ ਮੁੱਲ ਸਹੀ",
  "පිළිතුර අවසාන එබැවින් වේ අගය ප්‍රතිඵලය නිවැරදි",
  // Georgian, Armenian, Amharic, Khmer, Lao, Burmese
  "პასუხი პასუხია საბოლოო ამიტომ მაშასადამე არის უდრის მნიშვნელობა სწორი",
  "պատասխան պատասխանը վերջնական է ուրեմն հետևաբար արժեքը հավասար ճիշտ արդյունքը",
  "መልሱ መልስ ነው ስለዚህ የመጨረሻው ውጤቱ ትክክለኛው",
  "ចម្លើយ ចម្លើយគឺ គឺ ដូច្នេះ ដូច្នេះចម្លើយគឺ ចុងក្រោយ",
  "ຄຳຕອບ ຄຳຕອບແມ່ນ ແມ່ນ ດັ່ງນັ້ນ ສຸດທ້າຍ",
  "အဖြေ အဖြေမှာ အဖြေသည် ဖြစ်သည် ထို့ကြောင့် နောက်ဆုံး"
]

const plainWords = plain.map((line) => {
  const [stating, others = ""] = line.split(" | ").map((words) => words.split(" "))
  return { stating: new Set(stating), all: new Set([...stating!, ...others]) }
})

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

/** The words of a text, and how many of them are common in each language, and in English. */
const countsOf = remembered((text) => {
  const counts: Array<number> = common.map(() => 0)
  const all: ReadonlyArray<string> = text.toLowerCase().match(/[\p{L}\p{M}\p{Cf}'-]{1,24}/gu) ?? []
  const isForeign = foreign.test(text)
  let inEnglish = 0
  for (const word of all) {
    if (english.has(word)) inEnglish++
    for (const index of words.get(word) ?? []) counts[index]!++
    if (isForeign && foreign.test(word)) for (const [index, rare] of letters) if (rare.test(word)) counts[index]!++
  }
  return { counts, most: Math.max(...counts), inEnglish, all }
}, 16)

/** Whether a text is more likely English than any other language. */
export const isEnglish = (text: string): boolean => {
  const { inEnglish, most } = countsOf(text)
  return inEnglish > most && !scripts.some((script) => script.test(text))
}

/** Matches letters of scripts without a language in `doubts`. */
const unread = new RegExp(
  `(?!\\p{Lm}|\\p{Script=Common}|\\p{Script=Latin}|${scripts.map(({ source }) => source.replace("{2}", "")).join("|")})\\p{L}`,
  "u"
)

/**
 * Whether a sentence states an answer in a language whose denials are not listed: `undefined` if the sentence is in
 * another language, and `false` if it contains a word that may be a denial.
 */
export const isStatedPlainly = (sentence: string): boolean | undefined => {
  const { all, inEnglish, most } = countsOf(sentence)
  const best = Math.max(...plainWords.map((list) => all.filter((word) => list.all.has(word)).length))
  if (!unread.test(sentence) && (best === 0 || best <= Math.max(most, inEnglish))) return undefined
  return plainWords.some(({ stating }) => all.every((word) => stating.has(word)))
}

/**
 * Returns the patterns of the languages other than English that a text may contain. If no word is known, it may be in
 * any language.
 */
export const patternsIn = (text: string, isGuessed = true): ReadonlyArray<Patterns> => {
  const { all, counts, inEnglish, most } = countsOf(text)
  const isNoted = (count: number) => count > 0 && 2 * count >= most && 2 * count >= inEnglish
  const isUnknown = isGuessed && most === 0 && inEnglish === 0 && all.length > 0
  const latin = counts.flatMap((count, index) => (isNoted(count) || isUnknown ? [index] : []))
  const others = !foreign.test(text)
    ? []
    : scripts.flatMap((script, index) => (script.test(text) ? [common.length + index] : []))
  return [...(others.length > 0 && isUnknown ? [] : latin), ...others].map(patternsOf)
}
