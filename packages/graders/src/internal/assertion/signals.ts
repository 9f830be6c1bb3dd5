/**
 * Words in all languages that attribute a statement to another person, or that start an objection to the previous
 * sentence. Plain word lists, one line per language.
 */

import { matches } from "../matches.ts"
import * as Words from "./Words.ts"

const alternatives = (lines: string): string =>
  lines
    .trim()
    .split(/\s*[|\n]\s*/)
    .join("|")

/** People and things whose answers are not the writer's. */
const sources = alternatives(`
  friend|classmates?|colleagues?|neighbou?rs?|brother|sister|cousin|dad|mom|uncle|teacher|students?|pupils?|professor|roommate|tutor|users?|posters?|author|book|textbook|key|answer key|manual|chatgpt|gpt|chatbot|internet|forum|google|wolfram\\w*|people|somebody|someone|anybody|anyone|everybody|everyone|others|commenters?|candidates|competitors?|grader|examiner|hint|solver|calculators?|spreadsheet|software|assistants?|bot|claude|gemini|llama|copilot|copilot|siri|alexa|leaderboard|wiki\\w*
  freund|freundin|nachbar|bruder|schwester|lehrer\\p{L}*|schüler\\p{L}*|mitschüler\\p{L}*|kolleg\\p{L}*|\\p{L}*buch|lösungsheft|jemand|viele|manche|andere|einige
  amie?|voisine?|frère|sœur|professeur|prof|élèves?|camarade|collègue|livre|corrigé|manuel|quelqu['’]un|beaucoup|certains|plusieurs
  amig[oa]|vecin[oa]|herman[oa]|profesora?|alumn[oa]s?|compañer[oa]|libro|alguien|muchos|algunos
  amic[oa]|vicino|fratello|sorella|professore|insegnante|compagno|qualcuno|molti|alcuni
  vizinh[oa]|irmão|irmã|professora?|alun[oa]s?|colega|livro|alguém|muitos|alguns
  vriend|vriendin|buurman|broer|zus|leraar|docent|leerling|boek|iemand|velen|sommigen
  vän|kompis|granne|bror|syster|lärare\\p{L}*|elev\\p{L}*|boken|någon|många|ven|nabo|naboen|lærer\\p{L}*|bogen|nogen|mange|noen
  prieten\\p{L}*|vecin\\p{L}*|frate\\p{L}*|profesor\\p{L}*|elev\\p{L}*|cartea|cineva|mulți|unii
  koleg\\p{L}*|koleżank\\p{L}*|sąsiad\\p{L}*|brat\\p{L}*|nauczyciel\\p{L}*|uczeń|książk\\p{L}*|ktoś|niektórzy|wielu
  kamarád\\p{L}*|spolužák\\p{L}*|soused\\p{L}*|učitel\\p{L}*|žák|kniha|někdo|mnozí|niekto
  prijatelj\\p{L}*|susjed\\p{L}*|učenik\\p{L}*|knjiga|netko|neko|mnogi
  ystävä\\p{L}*|naapuri\\p{L}*|veljeni|opettaja\\p{L}*|oppila\\p{L}*|kirja\\p{L}*|joku|moni|monet
  barátom|szomszéd\\p{L}*|testvér\\p{L}*|tanár\\p{L}*|diák\\p{L}*|könyv|valaki|sokan
  arkadaş\\p{L}*|komşu\\p{L}*|kardeş\\p{L}*|öğretmen\\p{L}*|öğrenci\\p{L}*|kitap|biri|birçok|bazıları
  bạn tôi|bạn em|anh trai|thầy giáo|cô giáo|học sinh|sách|nhiều người|có người|nhiều bạn
  teman\\p{L}*|tetangga\\p{L}*|kakak\\p{L}*|guru\\p{L}*|siswa|buku|seseorang|banyak orang|sebagian orang
  rafiki|jirani|mwalimu|mwanafunzi|kitabu|mtu|watu|wengi
  друг\\p{L}*|сосед\\p{L}*|брат|сестра|учител\\p{L}*|ученик\\p{L}*|школьник\\p{L}*|вася|петя|маша|коля|учебник\\p{L}*|кто-то|многие|некоторые|товарищ|однокласс\\p{L}*
  сусід|вчитель|учень|підручник|хтось|багато хто|дехто
  φίλος\\p{L}*|αδερφός|δάσκαλος|καθηγητής|μαθητής|βιβλίο|κάποιος|πολλοί
`)

/** Verbs of reporting and concluding, with a person as the subject. */
const reporting = alternatives(`
  says?|said|saying|claims?|claimed|thinks?|thought|believes?|believed|argues?|argued|insists?|insisted|suggests?|suggested|answers?|answered|wrote|writes?|written|posted?|posts|told|tells|gets?|got|gives?|gave|given|computed?|computes|calculated?|calculates|obtained|obtains|found|finds|lists|listed|reports|reported|proposed|proposes|came up|comes up|arrived|guessed|wants?|expects?|puts?|has|had|shows?|showed|displays?|displayed|returns?|returned|repl(?:y|ies|ied)|states?|stated|prints?|printed
  sagt\\p{L}*|meint\\p{L}*|behaupt\\p{L}*|glaubt\\p{L}*|kam\\p{L}* auf|komm(?:t|en) auf|erhielt\\p{L}*|erhält|bekam|bekommt|schreib\\p{L}*|schrieb\\p{L}*|antwort\\p{L}*|tippt|hat|haben|zufolge|rechnet\\p{L}*|denk\\p{L}*
  donnait|dit|disent|a dit|pensent?|affirment?|prétend\\p{L}*|trouve(?:nt)?|trouvé|obtient|obtient|obtiennent|obtenu|répond\\p{L}*|écrit|croi\\p{L}*|a|ont|donne
  dicen?|dijo|creen?|afirma\\p{L}*|contesta\\p{L}*|obtuvo|obtien\\p{L}*|responde\\p{L}*|encontró|escrib\\p{L}*|piensa\\p{L}*|sacó|dio
  dicono|ha detto|crede|credono|sostiene|sostengono|ottenuto|ottiene|ottengono|rispond\\p{L}*|trova\\p{L}*|scrive|scrivono|pensa\\p{L}*
  diz|dizem|disse|acham?|obteve|obtém|respondeu|respondem|encontrou|encontram|escreveu|pensam?
  zegt|zei|denkt|denken|beweer\\p{L}*|kreeg|krijgt|kwam|komt|antwoord\\p{L}*|schreef|vindt
  säger|sa|sade|tror|påstår|fick|får|svarar|svarade|siger|sier|fik|fikk|får|svarer|svarede|mener
  spun\\p{L}*|crede|cred|obținut|obține|răspuns|a scris
  mówi\\p{L}*|twierdz\\p{L}*|uważa\\p{L}*|otrzyma\\p{L}*|dosta\\p{L}*|wyszło|odpowi\\p{L}*|napisa\\p{L}*
  řík\\p{L}*|tvrd\\p{L}*|dosta\\p{L}*|vyšlo|odpověd\\p{L}*|napsal\\p{L}*|hovorí|myslí
  kaže|kažu|tvrd\\p{L}*|dobi\\p{L}*|odgovor\\p{L}*|misli\\p{L}*
  sano\\p{L}*|väit\\p{L}*|sai|saivat|vastas\\p{L}*|luul\\p{L}*
  mond\\p{L}*|állít\\p{L}*|kapt\\p{L}*|szerint|válasz\\p{L}*|gondol\\p{L}*|írt\\p{L}*
  diyor\\p{L}*|dedi|söyle\\p{L}*|buldu|bulmuş|iddia|göre|sanıyor|düşün\\p{L}*|yazdı|yazmış
  nói|bảo|cho rằng|ra|tính ra|trả lời|nghĩ|viết
  bilang|berkata|mengatakan|mendapat\\p{L}*|menjawab|mengira|menulis
  anasema|alisema|wanasema|alipata|anadai|alijibu|wanadhani
  говор\\p{L}*|сказал\\p{L}*|счита\\p{L}*|дума\\p{L}*|утвержда\\p{L}*|получи\\p{L}*|получа\\p{L}*|отвеча\\p{L}*|ответи\\p{L}*|пиш\\p{L}*|написа\\p{L}*|вышло
  каже|сказав|вважа\\p{L}*|отрима\\p{L}*|відпові\\p{L}*|написав
  λέ\\p{L}*|είπε|ισχυρίζ\\p{L}*|βρήκε|νομίζ\\p{L}*|πιστεύ\\p{L}*
`)

const according = alternatives(`
  according to|if you ask|per|laut|gemäß|d['’]après|selon|según|secondo|segundo|de acordo com|volgens|enligt|ifølge|potrivit|conform|według|zdaniem|podle|podľa|prema|theo|menurut|kwa mujibu wa|по словам|согласно|по мнению|за словами|на думку|σύμφωνα με
`)

const joinedSources =
  "同学|同學|朋友|老师|老師|有人|很多人|许多人|許多人|不少人|别人|別人|大家|书上|書上|参考书|网上|小明|小红|小李|小王|学生|學生|甲|乙|友達|友人|先生|生徒|多くの人|ある人|誰か|教科書|弟|兄|친구|선생님|학생|누군가|사람|교과서|동생|صديق|زميل|جاري|أخي|معلم|أستاذ|طالب|الكتاب|شخص|بعضهم|كثير|البعض|חבר|שכן|אחי|המורה|תלמיד|הספר|מישהו|רבים|دوست|همکلاسی|همسایه|برادر|معلم|دانش‌آموز|کتاب|کسی|بسیاری|दोस्त|मित्र|पड़ोसी|भाई|शिक्षक|छात्र|किताब|लोग|বন্ধু|ভাই|শিক্ষক|ছাত্র|বই|কেউ|অনেকে|เพื่อน|พี่|ครู|อาจารย์|นักเรียน|หนังสือ|บางคน|หลายคน"

const joinedReporting =
  "说|說|得到|得出|认为|認為|算出|算得|以为|以為|回答|写|寫|填|给出|給出|觉得|覺得|言|答え|思|主張|求め|よると|書い|말|주장|얻|답했|답을|생각|따르면|구했|يقول|قال|يدعي|حصل|أجاب|يعتقد|يظن|אומר|אמר|טוען|קיבל|ענה|חושב|می‌گوید|گفت|به دست|جواب|فکر|कह|मिला|बताया|सोच|अनुसार|लिखा|বলে|বলেছ|পেয়েছ|মতে|ভাবে|บอก|ได้|ตอบ|คิด|ว่า"

const sourceWords = Words.make(sources, "(?![\\p{L}'’-])")

const reportingWords = Words.make(reporting)

const accordingWords = Words.make(according)

const joinedSourceWords = Words.joined(joinedSources)

const joinedReportingWords = Words.joined(joinedReporting)

const ofSource = /^(?:['’]s)?\s+(?:answer|result|solution|value|guess)(?![\p{L}])/iu

/** The answer of another person: "Tom's answer is", "The user's proposed answer". */
const ofPerson =
  /(?<![\p{L}□])(?!(?:it|that|let|what|here|there|he|she|who|today|this|problem|question|exercise|puzzle)['’]s)\p{L}{2,}['’]s (?:\w+ )?(?:answer|guess|solution|claim|estimate|suggestion|conjecture)(?!\p{L})/giu

/** An answer according to somebody, but not to a theorem: "Volgens Jan is", "selon mon voisin". */
const ofSomebody =
  /(?<!\p{L})(?:[Ll]aut (?!(?:Satz|Formel|Definition|Aufgabe\p{Ll}*|Voraussetzung|Gleichung|Tabelle|Pythagoras)(?!\p{L}))\p{Lu}\p{Ll}+(?= \p{Ll})|(?:[Aa]ccording to|[Dd]['’]après|[Ss](?:elon|egún|econdo|egundo)|[Vv]olgens|[Ee]nligt|[Ii]følge|[Ww]edług|[Pp]odle|[Pp]rema|[Пп]о (?:словам|мнению)|[Зз]а словами) (?:(?:my|mon|ma|mi|mio|mia|meu|minha|mijn|min|mina|mitt) \p{Ll}+|\p{Lu}\p{Ll}+(?=,|\s+(?:is|est|es|è|é|är|er|to|je)\s)))/gu

const isAscii = /^[ -~□\s]*$/

/** Finds phrases that attribute an answer to another person. */
export const hearsay = (text: string): ReadonlyArray<Words.Found> => {
  const found = sourceWords.find(text).flatMap(({ end, index }) => {
    const rest = /^[^.□]{0,48}/.exec(text.slice(end, end + 48))![0]
    const verb = reportingWords.find(rest)[0]
    if (verb !== undefined) return [{ index, end: end + verb.end }]
    return ofSource.test(rest) || accordingWords.test(text.slice(Math.max(0, index - 40), index))
      ? [{ index, end }]
      : []
  })
  for (const { 0: owner, index } of [...matches(text, ofPerson), ...matches(text, ofSomebody)])
    found.push({ index, end: index + owner.length })
  if (isAscii.test(text)) return found
  const joined = joinedSourceWords.find(text).flatMap(({ end, index }) => {
    const verb = joinedReportingWords.find(/^[^。]{0,28}/.exec(text.slice(end, end + 28))![0])[0]
    return verb === undefined ? [] : [{ index, end: end + verb.end }]
  })
  return [...found, ...joined]
}

const objections = alternatives(`
  hm+|hmm+|oh|uh|uhh*|um|er|oops|whoops|argh|d['’]oh|ugh|yikes|damn|ah|wait|hold (?:on|up)|hang on|strike|edit|update|erratum|errata|correction|sorry|apologies|my apologies|unfortunately|sadly|regrettably|then again|mind you|that said|having said that|nah|nope|too (?:small|large|big|low|high|many|few)|alas
  quatsch|mist|moment|ups|hoppla|ach|äh|entschuldigung|verzeihung|leider|sorry|korrektur|stopp|halt|oje|pardon
  zut|oups|mince|enfin non|attends|attendez|désolée?|ah non|euh|flûte|malheureusement|aïe|hélas
  uy|vaya|ay|perdón|perdona|disculpa|disculpen|espera|lo siento|ah no|lamentablemente|caramba|rectifico
  ops|anzi|accidenti|cavolo|scusa|scusate|aspetta|aspettate|ahimè|purtroppo|oddio
  opa|desculpe|desculpa|espera|espere|perdão|infelizmente|epa|puxa
  o nee|oeps|wacht|helaas|ojee|oj|hoppsan|vänta|förlåt|ursäkta|tyvärr|hov|ups|vent|undskyld|beklager|desværre|dessverre
  hopa|stai|scuze|scuzați|din păcate|ojej|ups|zaraz|chwila|chwileczkę|przepraszam|niestety|jejda|moment|počkat|počkej|promiňte|pardon|bohužel|bohužiaľ|čekaj|čekajte|oprosti|oprostite|nažalost
  hups|hetkinen|odota|anteeksi|valitettavasti|hoppá|várj|várjunk|bocsánat|elnézést|sajnos|pardon|dur|durun|bekle|bekleyin|özür|maalesef|eyvah
  ồ|khoan|ôi|à không|chờ đã|đợi đã|xin lỗi|rất tiếc|aduh|eh|waduh|tunggu|maaf|ups|sayangnya|subiri|ngoja|samahani|pole|la hasha
  ой|стоп|блин|упс|погодите|подождите|постойте|извините|простите|увы|к сожалению|хотя нет|а нет|зачекайте|вибачте|на жаль|ωχ|ουπς|συγγνώμη|περίμενε|δυστυχώς
`)

const joinedObjections =
  "哎呀|哎|等等|等一下|慢着|糟糕|糟了|啊不|啊|抱歉|对不起|對不起|不好意思|あれ|おっと|いや|しまった|待って|すみません|ごめん|失礼|残念|앗|아차|잠깐|어라|죄송|미안|아니|عفوا|عفوًا|عذرا|عذرًا|مهلا|مهلًا|آسف|انتظر|للأسف|אופס|רגע|סליחה|אוי|לצערי|ببخشید|صبر کن|اوه|متأسفانه|अरे|रुक|माफ|क्षमा|ওহ|দাঁড়ান|দুঃখিত|মাফ|เอ๊ะ|เดี๋ยว|อุ๊ย|ขอโทษ|รอ"

/** Matches the start of a sentence that objects to the preceding answer. */
export const objection = new RegExp(
  `^[\\s*_>#(–—.…□-]*(?:(?:${objections})(?![\\p{L}'’])|(?:${joinedObjections}))`,
  "iu"
)

/** Verbs that state a value, in languages in which they precede it. */
export const stating: ReadonlySet<string> = new Set(
  `
  ist sind war beträgt betragen lautet lauten ergibt ergeben erhält erhalten bekommt bekommen gibt hat haben gilt folgt bleibt bleiben kostet braucht benötigt macht heißt sein wird werden entspricht liefert findet finden kommt kommen hast habe ergab
  correspond correspondent représente représentent est sont vaut valent donne donnent obtient obtenons trouve trouvons a ont fait font égale égal égaux reste restent faut conclut conclus déduit devient mesure coûte réduit simplifie confirme avons aura auront aurons sera seront fera restera
  es son vale da dan obtiene obtenemos queda quedan tiene tienen hay resulta mide cuesta equivale asciende suma concluye concluimos sale igual llega llegamos obtengo confirmo tendrá tendrán será serán habrá
  è fanno sono valgono dà danno ottiene ottieni otteniamo risulta ha hanno resta rimangono misura costa uguale pari conclude viene ricava trova troviamo avrà avranno sarà saranno
  é são restam sobram dá dão obtemos obtém resulta tem têm há fica mede custa igual existem conclui concluímos resta temos
  is zijn bedraagt geeft krijgen krijgt heeft hebben blijft wordt kost vinden volgt maakt komt vind
  är blir ger får har finns kostar er bliver gir giver fås findes finnes utgör
  este sunt e are au obținem obține rezultă rămân face costă
  to jest wynosi są ma mają otrzymujemy daje równa równy dostajemy wychodzi mamy równe
  je jsou má dostaneme vychází činí rovná vyjde máme rovno dostáváme
  su iznosi ima dobivamo dobijamo jednako jednak jednaka slijedi dobije
  là có bằng được còn ra adalah ada sama menjadi yaitu diperoleh didapat ialah sebesar ni kuna tunapata sawa
  всего осталось остаётся итого всього залишилось равно равен равна равны есть это составляет получаем получим имеем остаётся остается стоит будет выходит получается получилось составит требуется находим имеет
  дорівнює є це становить отримуємо маємо буде рівне виходить е са получаваме
  είναι ισούται έχουμε παίρνουμε δίνει υπάρχουν κάνει βρίσκουμε προκύπτει
  `
    .trim()
    .split(/\s+/)
)

/** Words for mistakes and their causes, such as forgetting, overlooking and mixing up. */
const slips = alternatives(`
  fehler\\p{L}*|irrtum\\p{L}*|verg(?:isst|esse\\p{L}*|aß)|übers(?:ieht|ehen|ah)|verwechsel\\p{L}*|fallgrube
  erreurs?|oubli\\p{L}*|néglig\\p{L}*|confon\\p{L}*|piège
  error(?:es)?|olvid\\p{L}*|confun\\p{L}*|trampa|descuid\\p{L}*
  errore|errori|dimentic\\p{L}*|confonde\\p{L}*|confus\\p{L}*|trascur\\p{L}*|trappola
  erros?|esque[cç]\\p{L}*|confund\\p{L}*|armadilha
  fouten|verge(?:et|ten)|verwar\\p{L}*|valkuil|glöm\\p{L}*|misstag|fejlen?|glem\\p{L}*|feilen?|forvek\\p{L}*
  greșeal\\p{L}*|erori|uit(?:ă|at|ăm|ând)|confund\\p{L}*
  błęd\\p{L}*|zapom\\p{L}*|pomyl\\p{L}*|pułapk\\p{L}*|chyb(?:ou|a|y|ný|ná|né)|zapomně\\p{L}*|zapomín\\p{L}*|spl[eé]t\\p{L}*|zaborav\\p{L}*|pogrešk\\p{L}*|grešk\\p{L}*
  virhe\\p{L}*|unoh\\p{L}*|hibá\\p{L}*|hiba|elfelejt\\p{L}*|hata\\p{L}*|unut\\p{L}*|lỗi|quên|sai lầm|kesalahan|lupa|melupakan|kosa|sahau\\p{L}*|anasahau|wanasahau
  ошиб\\p{L}*|забы\\p{L}*|потеря\\p{L}*|упуст\\p{L}*|перепута\\p{L}*|помилк\\p{L}*|забу\\p{L}*|забув\\p{L}*|грешк\\p{L}*
  λάθη|λάθος|ξεχν\\p{L}*|ξέχασ\\p{L}*
`)

const joinedSlips =
  "错误|錯誤|误区|陷阱|忽略|忘记|忘了|忘記|漏|弄错|混淆|誤り|間違|ミス|忘れ|見落と|오답|실수|오류|잊|빠뜨|خطأ|أخطاء|نسي|ينسى|تنسى|يهمل|תשובה שגויה|שוכח|שכח|טעות|اشتباه|فراموش|غلط|भूल|गलती|ग़लत|गलत|ভুল|ভুলে|ลืม|ผิด"

const slipWords = Words.make(slips)

const slipJoined = Words.joined(joinedSlips)

/** Finds mentions of a mistake before or after an answer. */
export const slip = (text: string): ReadonlyArray<Words.Found> => [
  ...slipWords.find(text),
  ...(isAscii.test(text) ? [] : slipJoined.find(text))
]

/** "Whoever answers", directly before an answer. */
export const whoever =
  /(?:^|[^\p{L}])(?:who(?:so)?ever|(?:any|every)(?:one|body) who|those who|people who|wer|wie|quien(?:es)?|chi|quem|(?:celui|ceux|celle) qui|qui|den som|cine|kto|kdo|tko|aki|kim|siapa|yeyote|(?:тот|те|тех),? кто|кто|хто|όποιος|من|מי ש\p{L}*|जो लोग|जो|যারা|যে|ใคร|谁|誰)(?:[\s,]+\p{L}[\p{L}\p{M}]*){0,3}\s*[\s$\\([□]*$/iu

/** A predicate about a whole clause: "That the answer is 5 …". */
export const complement =
  /^[\s*_"“(>-]*(?:that(?=\s(?:the|this|it|our|a|an)\b)|dass|daß|que|che|dat|att|at(?!\s+(?:[^\p{L}\s]|an?\b|the|this|that|these|his|her|its|their|our|each|first|last|least|most|any|every|noon|night))|że|že|да|что|що|ότι|hogy|että|că|rằng|bahwa)\s(?![^,]*(?:is why|means))/iu

/** A task in the infinitive, which has no subject: "Vérifier que", "Demostrar que", "Mostrare che". */
export const infinitive =
  /(?:^|[.:]\s|\}\s*)[\s*_"“(>-]*(?!(?:hier|pour|por|per|par|après|car)\s)\p{Lu}\p{Ll}+(?:er|ir|re|ar|eţi|ați|en Sie,?)\s+(?:que|qu['’]|che|dass|daß|că)(?!\p{L})/u

/** A bound in other languages, directly before a value: "inférieure à", "größer als". */
export const bound =
  /(?<!\p{L})(?:(?:inf|sup)[eé]rieure?s? [àa]|(?:moins|plus) de|plus (?:petite?|grande?) que|(?:inferior|superior)e?(?:es)? a|(?:menor|mayor|maior)(?:es)? (?:que|do que|a)|(?:menos|más|mais) de|(?:minore|maggiore) (?:di|a)|(?:meno|più) di|(?:kleiner|größer|weniger|mehr|höher|niedriger) als|(?:kleiner|groter|minder|meer) dan|(?:mindre|större|større|færre|fler|flere|mer|mere) (?:än|end|enn)|(?:mniejsz\p{L}+|większ\p{L}+|mniej|więcej) niż|(?:menší|větší|méně|více|väčší|menej|viac) než|(?:меньше|больше|менее|более)(?: чем)?|(?:менше|більше)(?: ніж)?|(?:μικρότερ\p{L}+|μεγαλύτερ\p{L}+) (?:από|του)|mai (?:mic|mică|mare|puțin|mult) (?:decât|de)|(?:kurang|lebih) (?:kecil |besar )?dari|(?:nhỏ|lớn|ít|nhiều) hơn|dépasse(?:nt)?|excède(?:nt)?|superan?|exceden?|excedem?|übersteig(?:t|en)|übertreffen|overstijg(?:t|en)|överstiger|overstiger|depăș(?:ește|esc)|przekracza(?:ją)?|přesahuj[eí]|ylittä(?:ä|vät)|превыша(?:ет|ют)|перевищу(?:є|ють)|υπερβαίν(?:ει|ουν))[\s$\\([*:]*□{0,2}[\s$\\([*:]*$/iu

/** A wish, a plan, a possibility or a bound, whose value need not be reached, in the clause before a value. */
export const wish =
  /(?:(?<!\p{L})(?:(?:hoped|wanted|wished|planned|intended|meant) to|espér(?:ait|aient)|voulai(?:t|ent)|souhaitai(?:t|ent)|comptai(?:t|ent)|wollten?|hofften?|quer[ií]an?|esperaban?|deseaban?|voleva(?:no)?|sperava(?:no)?|wilden?|hoopten?|ville|hoppades|håbede|chci\p{L}+|chtěl\p{L}*|mógł|mogł\p{L}+|zamierza\p{L}+|мог(?:ла|ло|ли)?|хотел\p{L}*|надеял\p{L}*|планировал\p{L}*|хотів|хотіла|міг|могла|istiyordu|muốn|ingin|alitaka|walitaka)(?!\p{L})|超过|超過|多于|多於|少于|少於|不到|不足|不止|希望|打算)[^,;:.，。]*$/iu

/** "Instead of 5": a value that is not the answer. */
export const insteadOf =
  /(?<![\p{L}])(?:instead of|rather than|statt|anstatt|anstelle von|au lieu de|plutôt que|en (?:lugar|vez) de|invece di|anziché|em vez de|ao invés de|in plaats van|istället för|i stedet for|în loc de|zamiast|místo|miesto|umjesto|umesto|вместо|замість|αντί για)\s+\S*[\d□]\S*/giu

const opinionWords = Words.make(
  alternatives(`
  (?:do not|don['’]t) quote me|give or take|or thereabouts|if memory serves|as far as i (?:know|can tell|remember)|unless i['’]m|i suppose|low confidence|with some doubt
  glaub(?:e)? ich|denk(?:e)? ich|meine ich|meiner meinung nach|soweit ich|wenn ich mich nicht|sofern ich|schätzungsweise|oder so
  sous réserve|à vue de nez|je (?:crois|pense|dirais)|il me semble|à mon avis|sauf erreur|si je ne|me semble-t-il|à peu près|environ
  creo|pienso|diría|me parece|a mi juicio|en mi opinión|salvo error|si no me|más o menos|aproximadamente
  credo|penso|direi|mi pare|mi sembra|secondo me|a mio parere|salvo error[ei]|se non (?:erro|sbaglio)|più o meno|circa
  acho|creio|penso|diria|me parece|na minha opinião|salvo erro|se não me|mais ou menos
  denk ik|geloof ik|volgens mij|naar mijn mening|als ik me niet|ongeveer|zo ongeveer
  tror jag|tycker jag|tror jeg|synes jeg|mener jeg|om jag inte|hvis jeg ikke|så vitt jag|ungefär|omtrent|cirka
  cred|mi se pare|după mine|dacă nu mă|aproximativ|sądzę|myślę|wydaje mi się|moim zdaniem|o ile się|jeśli się nie|mniej więcej|około
  myslím|řekl bych|podle mě|pokud se ne|asi tak|zhruba|mislim|čini mi se|po mom|ako se ne|otprilike
  luulen|mielestäni|uskoisin|ellen erehdy|noin|azt hiszem|szerintem|ha nem téved\\p{L}*|körülbelül
  sanırım|bence|galiba|yanılmıyorsam|yaklaşık|tôi nghĩ|em nghĩ|theo tôi|có vẻ|hình như|nếu tôi không|khoảng
  saya kira|menurut saya|saya rasa|sepertinya|kalau tidak salah|kira-kira|nadhani|nafikiri|naona|kama sikosei|takriban
  думаю|полагаю|считаю|по-моему|мне кажется|если (?:я )?не ошиб\\p{L}*|примерно|около|гадаю|на мою думку|якщо не|приблизно|νομίζω|πιστεύω|κατά τη γνώμη μου|αν δεν κάνω|περίπου
`)
)

const opinionJoined =
  /我觉得|我認為|我认为|我想|我猜|看起来|看來|暂|待定|大约|大約|左右|吧|思う|思います|気がする|くらい|ぐらい|ほど|およそ|だろう|でしょう|暫定|仮の|생각|싶|쯤|정도|듯|잠정|أعتقد|أظن|في رأيي|على حد علمي|حسب رأيي|تقريبا|لدي شعور|לדעתי|אני חושב|אני מאמין|נדמה לי|אם איני טועה|בערך|فکر می‌کنم|فکر کنم|به نظرم|گمانم|اگر اشتباه|تقریبا|حدودا|मेरे ख्याल|मेरे विचार|मुझे लगता|मेरा मानना|शायद|लगभग|करीब|আমার ধারণা|আমার মনে|মনে হয়|প্রায়|আনুমানিক|คิดว่า|(?<!ความ)น่าจะเป็น|ประมาณ|ราว/u

/**
 * Whether a text marks an opinion, as with "I think", "unless I am mistaken" or "roughly". Applies before and after an
 * answer.
 */
export const opinion = (text: string): boolean =>
  opinionWords.test(text) || (!isAscii.test(text) && opinionJoined.test(text))
