/**
 * Words in languages other than English that keep an answer from being asserted. One line per language; alternatives
 * are parts of regular expressions. English needs finer distinctions; see `english.ts`.
 */

/** The alternatives of one language. */
export interface Doubts {
  /**
   * Where a word may start and end: at word boundaries (`whole`), after one-letter prefixes and before any ending
   * (`begun`), or anywhere (`joined`).
   */
  readonly words: "whole" | "begun" | "joined"
  /** Denials, suppositions, guesses, exclusions and mentions of the format, directly before or after an answer. */
  readonly doubt: string
  /** Translations of "if". A condition ends at a comma. */
  readonly condition: string
  /**
   * Words after an answer, at any distance, that call it wrong, mistaken or retracted, or that report no solution or
   * several.
   */
  readonly retraction: string
}

const spaced = (doubt: string, condition: string, retraction: string): Doubts => ({
  words: "whole",
  doubt,
  condition,
  retraction
})

const joined = (doubt: string, condition: string, retraction: string): Doubts => ({
  words: "joined",
  doubt,
  condition,
  retraction
})

const begun = (doubt: string, condition: string, retraction: string): Doubts => ({
  words: "begun",
  doubt,
  condition,
  retraction
})

export const doubts: ReadonlyArray<Doubts> = [
  // German
  spaced(
    "gäbe\\p{L}*|käme\\p{L}*|ergäbe|auf den ersten blick|unmöglich|ausgeschlossen|kaum|schwerlich|ebenso gut|unklar|fraglich|zögere|schwanke|tippe|wette|fälschlich\\p{L}*|entweder|zu (?:groß|klein)|nicht|nie|niemals|kein\\p{L}*|keinesfalls|weder|vielleicht|vermutlich|wahrscheinlich|möglicherweise|eventuell|womöglich|wohl|könnte\\p{L}*|angenommen|annehmen|nehmen wir an|nimm an|gesetzt|vermut\\p{L}*|rate|geraten|raten|schätz\\p{L}*|ausschließen|ausgeschlossen|schließen|scheidet|verwerfen|verworfen|widerleg\\p{L}*|widerspr\\p{L}*|beispiel\\p{L}*|etwa|format\\p{L}*|schreib\\p{L}* (?:deine|ihre|die|eure)|gib (?:deine|die)|geben sie|platzhalter|anstatt|statt|außer|mindestens|höchstens|weniger|mehr|(?:größer|kleiner) als|falsche?[nrs]?|irrtümlich|behaupte\\p{L}*|bezweif\\p{L}*|zweif\\p{L}*|wäre\\p{L}*|sei(?:en)?|hätte\\p{L}*",
    "wenn|falls|sofern|ob",
    "falsch|fehler\\p{L}*|verrechnet|vertan|geirrt|irrtum|irre|stimmt (?:aber |doch |so )?nicht|nicht (?:richtig|korrekt|sicher|stimmen|gelöst|lösen|weiß|möglich)|unsicher|zurück(?:zieh|zu|genomm|nehm)\\p{L}*|ziehe|widerruf\\p{L}*|verwerfe|vergiss|vergessen sie|ignorier\\p{L}*|ungültig|unmöglich|doch nicht|weiß (?:ich )?(?:es )?nicht|keine (?:ahnung|lösung|antwort)|nicht (?:lösen|beantworten)|widerspr\\p{L}*|beides|beide (?:sind )?(?:möglich|plausibel)|korrektur|moment mal|halt,|nein"
  ),
  // French
  spaced(
    "barème|points? pour|à première vue|impossible|rien ne|personne ne|guère|à peine|je doute|peu probable|il se peut|hésit\\p{L}*|tenté|parie|erroné\\p{L}*|pourrai\\p{L}*|verrait|donnerait|vaudrait|aurait|trop (?:grand|petit)|pas|jamais|aucun\\p{L}*|ni|peut-être|peut être|probablement|sans doute|pourrait|serait|soit|suppos\\p{L}*|admettons|imaginons|hypothèse|devin\\p{L}*|conjectur\\p{L}*|excl[uo]\\p{L}*|éliminer|écarter|élimin\\p{L}*|écart\\p{L}*|rejet\\p{L}*|réfut\\p{L}*|absurde|exemple|format|forme|écri(?:s|vez|re)|mettez|donnez|indiquez|plutôt que|au lieu|sauf|au (?:plus|moins)|moins|plus (?:de|que|grand)|fausse|doute|prétend\\p{L}*|faux",
    "si|s['’]il|lorsque|au cas où",
    "faux|fausse|erreur\\p{L}*|erroné\\p{L}*|trompé\\p{L}*|incorrect\\p{L}*|inexact\\p{L}*|mal calculé|pas (?:correct|juste|exact|bon|vrai|possible|sûr|certain|réussi|pu|su|le cas)|impossible|contradict\\p{L}*|retire|rétract\\p{L}*|annule|oubliez|oublie|ignorez|ignore|ne sais|ne convient|ne marche|ne fonctionne|n['’]est pas|n['’]ai pas|ne (?:peux|parviens)|les deux|correction|non"
  ),
  // Spanish
  spaced(
    "ni de lejos|ni por asomo|a primera vista|imposible|apenas|difícilmente|nada|nadie|ni siquiera|dud\\p{L}*|quién sabe|apuesto|podrían|habría|daría|valdría|tentad\\p{L}*|puede (?:ser|que)|demasiado|no(?!\\s*[,:]| total)|nunca|jamás|tampoco|ningun\\p{L}*|ningún|quizás?|tal vez|a lo mejor|probablemente|posiblemente|podría|sería|sea|fuera|fuese|supon\\p{L}*|supóng\\p{L}*|asum\\p{L}*|imagin\\p{L}*|hipótesis|conjetur\\p{L}*|adivin\\p{L}*|descart\\p{L}*|exclu\\p{L}*|elimin\\p{L}*|rechaz\\p{L}*|absurdo|ejemplo|formato|forma|escrib\\p{L}*|pon(?:ga)?|indique|en (?:lugar|vez)|salvo|al menos|a lo sumo|como (?:máximo|mínimo)|menos|más (?:de|que|grande)|(?:menor|mayor)(?:es)? (?:que|o igual)|dudo|falsa?|incorrect\\p{L}*|equivocad\\p{L}*",
    "si|cuando|en caso",
    "mal|error|errónea?|equivo\\p{L}*|incorrect\\p{L}*|falsa?|no (?:es|son|está|estoy|puede|cumple|funciona|sirve|pude|puedo|sé|lo sé|logré|supe|he podido)|imposible|contradic\\p{L}*|retir\\p{L}*|retracto|anulo|olvid\\p{L}*|ignor\\p{L}*|descart\\p{L}*|amb[ao]s|las dos|los dos|corrección|inválid\\p{L}*|rectifico"
  ),
  // Italian
  spaced(
    "a prima vista|impossibile|improbabile|difficilmente|nulla|nessuno|verrebbe|darebbe|varrebbe|avrebbe|dubbi\\p{L}*|scommett\\p{L}*|tentat\\p{L}*|può darsi|indecis\\p{L}*|troppo|non|mai|né|nessun\\p{L}*|forse|probabilmente|magari|potrebbe|sarebbe|sia|fosse|suppon\\p{L}*|assum\\p{L}*|immagin\\p{L}*|ipotesi|ipotizz\\p{L}*|congettur\\p{L}*|indovin\\p{L}*|esclud\\p{L}*|esclus\\p{L}*|elimin\\p{L}*|scart\\p{L}*|rifiut\\p{L}*|assurdo|esempio|formato|forma|scriv\\p{L}*|metti|inserisci|indica|invece|anziché|tranne|almeno|al (?:massimo|più)|meno|più (?:di|grande)|(?:minore|maggiore) (?:di|o uguale)|dubito|sbagliat\\p{L}*|errat\\p{L}*",
    "se|qualora|quando",
    "sbagli\\p{L}*|errore|errat\\p{L}*|scorrett\\p{L}*|fals[ao]|non (?:è|sono|può|va|vale|funziona|soddisfa|so|lo so|riesco|ho potuto)|impossibile|contraddi\\p{L}*|ritiro|ritratto|annullo|dimentic\\p{L}*|ignor\\p{L}*|entramb\\p{L}*|tutt[ei] e due|correzione"
  ),
  // Portuguese
  spaced(
    "non|supoñ\\p{L}*|à primeira vista|impossível|improvável|dificilmente|ninguém|dúvid\\p{L}*|daria|valeria|teria|resultaria|apost\\p{L}*|tentad\\p{L}*|indecis\\p{L}*|hesit\\p{L}*|demais|não|nunca|jamais|nem|nenhum\\p{L}*|talvez|provavelmente|possivelmente|poderia|pode ser|seria|seja|fosse|será|supon\\p{L}*|supor|suponh\\p{L}*|assum\\p{L}*|imagin\\p{L}*|hipótese|conjectur\\p{L}*|adivinh\\p{L}*|palpite|chut\\p{L}*|descart\\p{L}*|exclu\\p{L}*|elimin\\p{L}*|rejeit\\p{L}*|absurdo|exemplo|formato|forma|escrev\\p{L}*|coloque|em vez|exceto|pelo menos|no (?:máximo|mínimo)|menos|mais (?:de|que)|(?:menor|maior) (?:que|do que|ou igual)|duvido|errad\\p{L}*",
    "se|caso|quando",
    "errad\\p{L}*|erro|errei|incorret\\p{L}*|fals[ao]|enganei|equivo\\p{L}*|não (?:é|está|pode|funciona|serve|satisfaz|sei|consigo|consegui|tenho|estou)|impossível|contradi\\p{L}*|retiro|retrato|anulo|esqueça|ignor\\p{L}*|desconsider\\p{L}*|amb[ao]s|as duas|os dois|correção"
  ),
  // Dutch
  spaced(
    "gestel|eerste gezicht|onmogelijk|nauwelijks|nergens|niemand|twijfel\\p{L}*|wed|vermoed\\p{L}*|vermoedelijk|zou(?:den)?|te (?:groot|klein)|niet|nooit|geen|noch|misschien|wellicht|waarschijnlijk|mogelijk|zou|kan zijn|stel|veronderstel\\p{L}*|aangenomen|neem aan|gok\\p{L}*|raad|schatting|uitsluiten|uitgesloten|verwerp\\p{L}*|wegstrepen|voorbeeld\\p{L}*|bijv\\p{L}*|formaat|vorm|schrijf|noteer|vul|in plaats|behalve|minstens|hoogstens|minder|meer dan|(?:groter|kleiner) dan|betwijfel|foute?",
    "als|indien|of het|wanneer",
    "fout\\p{L}*|verkeerd|onjuist|vergist|vergissing|klopt niet|niet (?:juist|goed|correct|zeker|waar|mogelijk|oplossen)|onmogelijk|tegenspraak|neem (?:dat |het )?terug|trek|vergeet|negeer|weet (?:ik )?(?:het )?niet|kon|geen (?:idee|antwoord|oplossing)|beide|correctie|nee"
  ),
  // Swedish, Danish, Norwegian
  spaced(
    "omöjlig\\p{L}*|umulig\\p{L}*|knappast|knapt|neppe|ingenting|intet|tvek\\p{L}*|tvil\\p{L}*|tvivl\\p{L}*|tippar|tipper|gissar|gjetter|antagligen|antagelig|formentlig|första anblick\\p{L}*|første (?:øjekast|blikk|øyekast)|för (?:stort|litet)|for (?:stor|lille|liten)t?|inte|icke|ej|aldrig|ingen|inget|varken|kanske|kanskje|måske|möjligen|muligvis|troligen|sannolikt|sandsynligvis|sannsynligvis|kunde|kunne|skulle|vore|ville|anta|antag\\p{L}*|antar|ante|hypotes\\p{L}*|gissa\\p{L}*|gissning|gætter?|gjett\\p{L}*|utesluta|uteslut\\p{L}*|udelukke\\p{L}*|utelukke\\p{L}*|förkasta\\p{L}*|forkaste\\p{L}*|exempel\\p{L}*|eksempel\\p{L}*|format\\p{L}*|form|skriv|ange|angiv|oppgi|istället|i stedet|minst|mindst|högst|højst|høyst|mindre|mer än|mere end|mer enn|ikke|ikkje|aldri|hverken|verken|felaktig\\p{L}*|tvivlar|tviler",
    "om|hvis|dersom|ifall",
    "fel|fejl|feil|forkert|felaktig\\p{L}*|galt|stämmer inte|räknade fel|regnede forkert|inte (?:rätt|säker|korrekt|lösa|sant|möjligt)|ikke (?:rigtig\\p{L}*|riktig|sikker|korrekt|løse|sandt|sant|muligt?)|omöjligt|umuligt?|motsägelse\\p{L}*|modstrid|modsigelse|selvmotsigelse|tar tillbaka|tager (?:det )?tilbage|trekker tilbake|glöm|glem|ignorera|ignorer|vet inte|ved ikke|vet ikke|kunde inte|kunne ikke|klarte ikke|båda|begge|rättelse|rettelse|nej|nei"
  ),
  // Romanian
  spaced(
    "la prima vedere|imposibil|cu greu|nimic|îndoi\\p{L}*|pariez|prea (?:mare|mic)|nu|niciodată|niciun|nicio|nici|poate|probabil|eventual|posibil|ar fi|ar putea|fie|presupun\\p{L}*|presupune\\p{L}*|considerăm că|ipotez\\p{L}*|ghic\\p{L}*|exclude\\p{L}*|exclus\\p{L}*|elimin\\p{L}*|resping\\p{L}*|absurd|exemplu|format\\p{L}*|forma|scrie\\p{L}*|puneți|în loc|cu excepția|cel (?:puțin|mult)|mai (?:mic|mare|mult|puțin)|mă îndoiesc|greșit\\p{L}*",
    "dacă|în caz|când",
    "greși\\p{L}*|gresi\\p{L}*|eroare|incorect\\p{L}*|fals[ăe]?|nu (?:este|e|sunt|poate|știu|am|pot|merge|satisface|funcționează)|imposibil|contradicți\\p{L}*|retrag|anulez|ignor\\p{L}*|uitați|ambele|amândouă|corectare|corecție|nu\\.$"
  ),
  // Polish
  spaced(
    "pierwszy rzut oka|\\p{L}+(?:łby|łaby|łoby)\\p{L}*|niemożliw\\p{L}*|mało prawdopodobn\\p{L}*|wątp\\p{L}*|waham|obstawi\\p{L}*|stawiam|rzekom\\p{L}*|zbyt|za (?:duż\\p{L}*|mał\\p{L}*)|nie|nigdy|żad\\p{L}*|ani|może|być może|chyba|prawdopodobnie|możliwe|mógłby|mogłaby|byłaby?|byłoby|załóż\\p{L}*|zakład\\p{L}*|przypuś\\p{L}*|przypuszcz\\p{L}*|hipotez\\p{L}*|zgad\\p{L}*|strzel\\p{L}*|wyklucz\\p{L}*|odrzuc\\p{L}*|eliminuj\\p{L}*|przykład\\p{L}*|np|format\\p{L}*|postaci|zapisz|napisz|wpisz|podaj|zamiast|oprócz|co najmniej|co najwyżej|mniej|więcej|(?:mniejsz|większ)\\p{L}* (?:niż|od)|wątpię|błędn\\p{L}*",
    "jeśli|jeżeli|gdyby|gdy|czy",
    "błąd|błęd\\p{L}*|pomyli\\p{L}*|niepoprawn\\p{L}*|nieprawid\\p{L}*|źle|fałsz\\p{L}*|nie (?:jest|może|działa|spełnia|wiem|mogę|potraf\\p{L}*|uda\\p{L}*|umiem)|niemożliw\\p{L}*|sprzeczn\\p{L}*|wycof\\p{L}*|odwołuj\\p{L}*|cofam|zignoruj\\p{L}*|ignoruj\\p{L}*|obie|oba|obydw\\p{L}*|poprawka|korekta"
  ),
  // Czech, Slovak
  spaced(
    "první pohled|nemožn\\p{L}*|sotva|těžko|pochyb\\p{L}*|váhám|vsadím|tipuj\\p{L}*|zřejmě ne|prvý pohľad|příliš|není|nie je|nikdy|žádn\\p{L}*|ani|možná|možno|snad|asi|pravděpodobně|pravdepodobne|mohl[ao]?|bylo by|bola by|předpokl\\p{L}*|predpoklad\\p{L}*|nechť|hypotéz\\p{L}*|hád\\p{L}*|tip|vylouč\\p{L}*|vylúč\\p{L}*|zamít\\p{L}*|příklad\\p{L}*|príklad\\p{L}*|např|formát\\p{L}*|tvaru|napiš\\p{L}*|napíš\\p{L}*|zapiš\\p{L}*|uveď\\p{L}*|místo|kromě|alespoň|nejvýše|méně|více|(?:menší|větší) než|pochybuj\\p{L}*|nemůže|nemôže|nelze|špatn\\p{L}*|nesprávn\\p{L}*",
    "jestliže|pokud|kdyby|ak|zda|či",
    "špatně|chyb\\p{L}*|zle|spletl\\p{L}*|zmýlil\\p{L}*|pomýlil\\p{L}*|nesprávn\\p{L}*|neplat\\p{L}*|nesedí|neprav\\p{L}*|není|nevím|neviem|nepodařilo|nepodarilo|neumím|nemůže\\p{L}*|nemožn\\p{L}*|spor|odvolávám|beru zpět|ignoruj\\p{L}*|zapomeň\\p{L}*|obojí|oboje|obě|oprava|ne\\.$"
  ),
  // Croatian, Serbian, Slovene, in Latin letters
  spaced(
    "denimo|ne|nema|nemoguće|teško|jedva|nikako|sumnja\\p{L}*|nisam|nismo|bi|bih|bismo|kladim|pogađa\\p{L}*|nagađ\\p{L}*|čini se|navodno|izgleda|na prvi pogled|recimo|zamisli\\p{L}*|dokaži\\p{L}*|dokazati|pokaži\\p{L}*|prevelik\\p{L}*|premal\\p{L}*|umesto|manje|više od|veće od|manji od|veći od|nije|nikada|možda|vjerojatno|verovatno|pretpostav\\p{L}*|predpostav\\p{L}*|isključ\\p{L}*|izključ\\p{L}*|odbac\\p{L}*|primjer\\p{L}*|primer\\p{L}*|oblik\\p{L}*|napiši\\p{L}*|napišite|umjesto|barem|najviše|mogao|mogla|moglo|ni",
    "ako|kad bi|če|da li|je li",
    "pogriješi\\p{L}*|zabuna|oprosti\\p{L}*|ispravljam|zaboravi\\p{L}*|ne (?:vrijedi|važi|može|zadovoljava|odgovara|valja|stoji|razumijem|mogu)|nisam siguran|nisam sigurna|proturječ\\p{L}*|protivreč\\p{L}*|poništavam|krivo|loše|obadva|i jedno i drugo|pogreš\\p{L}*|pogreška|greška|netočn\\p{L}*|netačn\\p{L}*|napačn\\p{L}*|krivo|nije|ne znam|nisam|nemoguće|kontradikcij\\p{L}*|povlačim|zanemari\\p{L}*|oba|obje|ispravak"
  ),
  // Finnish
  spaced(
    "ensi silmäyksellä|mahdoton\\p{L}*|tuskin|epäil\\p{L}*|veikka\\p{L}*|todista|osoita|liian|ei|eivät|en|eikä|ehkä|kenties|mahdollisesti|luultavasti|todennäköisesti|saattaa|voisi|olisi|oleta\\p{L}*|oletetaan|arvaa\\p{L}*|arvaus|arvaan|sulkea|poissul\\p{L}*|hylät\\p{L}*|hylk\\p{L}*|esimer\\p{L}*|muodossa|muoto|kirjoita\\p{L}*|anna|sijasta|paitsi|vähintään|enintään|vähemmän|enemmän|(?:pienempi|suurempi) kuin|epäilen|väärä\\p{L}*",
    "jos|mikäli|onko",
    "väär\\p{L}*|virhe\\p{L}*|virheelli\\p{L}*|erehdyin|laskin väärin|ei (?:ole|voi|päde|täsmää|kelpaa)|en (?:osannut|tiedä|voi|pysty\\p{L}*|ole)|mahdoton\\p{L}*|ristiriit\\p{L}*|perun|unohda\\p{L}*|molemmat|korjaus|ei\\.$"
  ),
  // Hungarian
  spaced(
    "lehetetlen|aligha|kétség\\p{L}*|fogad\\p{L}*|gyanít\\p{L}*|bizonyíts\\p{L}*|első (?:ránézésre|látásra)|túl|nem|sem|soha|nincs|talán|lehet|valószínűleg|esetleg|lenne|volna|legyen|tegyük|tételezzük|feltév\\p{L}*|feltesz\\p{L}*|feltételez\\p{L}*|tipp\\p{L}*|kizár\\p{L}*|elvet\\p{L}*|péld\\p{L}*|formá\\p{L}*|alak\\p{L}*|írd|írja|helyett|kivéve|legalább|legfeljebb|kevesebb|több|(?:kisebb|nagyobb),? mint|kétl\\p{L}*|hibás|rossz",
    "ha|vajon",
    "hib\\p{L}*|rossz|téves\\p{L}*|téved\\p{L}*|helytelen\\p{L}*|nem (?:jó|helyes|igaz|lehet|tudom|tudtam|stimmel|biztos|teljesül)|lehetetlen|ellentmond\\p{L}*|visszavon\\p{L}*|felejts\\p{L}*|mindkettő|javítás|nem\\.$"
  ),
  // Turkish
  spaced(
    "ilk bakışta|\\p{L}+[aeıiuü]rd[ıiuü]|gibi görün\\p{L}*|sanıl\\p{L}*|imkansız|imkânsız|mümkün değil|pek|şüphel\\p{L}*|sanırım|bahse|kanıtla\\p{L}*|göster\\p{L}*|çok (?:büyük|küçük)|değil\\p{L}*|belki|muhtemelen|olabilir\\p{L}*|herhalde|galiba|varsay\\p{L}*|diyelim|kabul edelim|tahmin\\p{L}*|hariç|dışla\\p{L}*|ele\\p{L}*|çıkar\\p{L}*|örne\\p{L}*|biçim\\p{L}*|şekl\\p{L}*|format\\p{L}*|yaz[ıi]n\\p{L}*|yerine|en az|en fazla|en çok|(?<!en )(?:az|fazla|küçük|büyük)|şüphe\\p{L}*|yanlış\\p{L}*|mi|mı|mu|mü|\\p{L}+m[ae]z|\\p{L}+m[ıiuü]yor|\\p{L}+m[ae]d[ıi]|olsaydı",
    "eğer|ise|şayet",
    "yanlış\\p{L}*|hata\\p{L}*|hatalı|yanıl\\p{L}*|doğru değil|değil|olamaz|imkansız|imkânsız|çeliş\\p{L}*|geri al\\p{L}*|bilm\\p{L}*|çözem\\p{L}*|emin değil\\p{L}*|unutun|yok say\\p{L}*|ikisi de|her ikisi|düzeltme|hayır"
  ),
  // Vietnamese
  spaced(
    "thoạt nhìn|có vẻ|hình như|không thể|khó có thể|không chắc|phân vân|nghi|cá là|chứng minh|quá|không|chưa|chẳng|có lẽ|có thể|có khi|chắc|giả sử|giả định|cho rằng|đoán|loại trừ|loại bỏ|bác bỏ|ví dụ|chẳng hạn|dạng|định dạng|hãy viết|viết|thay vì|ngoại trừ|ít nhất|nhiều nhất|nhỏ hơn|lớn hơn|ít hơn|nhiều hơn|nghi ngờ|sai",
    "nếu|liệu",
    "sai|nhầm|lỗi|không (?:đúng|phải|thể|giải|biết|chắc|thỏa)|mâu thuẫn|vô lý|rút lại|bỏ qua|cả hai|sửa lại|đính chính"
  ),
  // Indonesian, Malay
  spaced(
    "sekilas|mustahil|sulit|meragukan|ragu\\p{L}*|menebak|tampaknya|sepertinya|buktikan|bertaruh|terlalu|bukan|tidak|tak|jangan|mungkin|barangkali|kira-kira|misal\\p{L}*|andaik\\p{L}*|anggap\\p{L}*|asumsi\\p{L}*|tebak\\p{L}*|mengesampingkan|singkirkan|menyingkirkan|kecualikan|mengecualikan|contoh\\p{L}*|format|bentuk|tulis\\p{L}*|berikan|alih-alih|kecuali|paling (?:banyak|sedikit)|(?:kurang|lebih) (?:dari|besar|kecil)|ragu|salah",
    "jika|kalau|apakah|bila|apabila",
    "salah|keliru|kesalahan|tidak (?:benar|tepat|mungkin|bisa|tahu|dapat|yakin|memenuhi)|mustahil|kontradiksi|tarik kembali|mencabut|abaikan|lupakan|keduanya|koreksi|ralat|bukan"
  ),
  // Swahili
  spaced(
    "si|sio|siyo|haiwezi|hawezi|haiwezekani|hapana|labda|huenda|pengine|inawezekana|tuseme|tuchukulie|chukulia|fikiria|kudhani|nadhani|nafikiri|kisia|bahatisha|nabahatisha|kwa mfano|mfano|muundo|umbizo|andika|toa|weka|badala ya|angalau|zaidi ya|chini ya|kubwa mno|ndogo mno|isipokuwa|nina shaka|shaka|thibitisha|onyesha|ingekuwa|ingeweza|je",
    "kama|ikiwa|iwapo",
    "makosa|kosa|nimekosea|nilikosea|si sahihi|sio sahihi|si kweli|haiwezekani|haifai|puuza|samahani|nafuta|naondoa|sijui|sina uhakika|siwezi|sikuweza|zote mbili|marekebisho|hapana"
  ),
  // Hindi in Latin letters
  spaced(
    "nahi|nahin|mat|kabhi|shayad|sayad|ho sakta|hoga kya|lagta|lagti|shak|agar|maan (?:lo|lijiye|le)|socho|farz|kalpana|andaza|tukka|galat|sabit|sidh|kehte|kehta|kehti|bolte|bolta|bolti|bataya|(?:ke )?hisaab se|ke anusar|socha tha|likho|likhna|likhein|format|udaharan|jaise ki|kam se kam|zyada se zyada|se (?:kam|zyada|bada|chota)|kya",
    "agar|yadi|hota|hote|hoti",
    "galat|galti|nahi|nahin|maaf|sorry|bhool|pata nahi|pakka nahi|yakeen nahi|radd|chhodo|ulta"
  ),
  // Tagalog
  spaced(
    "hindi|wala|walang|huwag|baka|siguro|marahil|maaaring|posible|kung|ipagpalagay|sabihin nating|akala|daw|raw|sabi|ayon|hula|halimbawa|isulat|ilagay|patunayan|mali|maliban|higit|kulang|parang|tila",
    "kung|kapag",
    "mali|nagkamali|hindi|pasensya|sori|di ko alam|bawiin|balewalain|pala"
  ),
  // Russian, Ukrainian, Bulgarian, Serbian
  spaced(
    "первый взгляд|вряд ли|едва ли|навряд|невозможно|сомнительно|казалось|кажется|якобы|неужели|разве|сомнев\\p{L}*|колеб\\p{L}*|спорю|ставлю|навряд чи|сумніва\\p{L}*|здається|нібито|едва|перший погляд|слишком|занадто|либо|не|нет|ни|нельзя|никогда|возможно|может|вероятно|наверное|пожалуй|видимо|якобы|предполож\\p{L}*|допуст\\p{L}*|пусть|гипотез\\p{L}*|угад\\p{L}*|догад\\p{L}*|исключ\\p{L}*|отбро\\p{L}*|отверг\\p{L}*|отклон\\p{L}*|пример\\p{L}*|например|формат\\p{L}*|форме|виде|запиши\\p{L}*|напиши\\p{L}*|укажи\\p{L}*|введите|вместо|кроме|менее|более|меньше|больше|сомнева\\p{L}*|неверн\\p{L}*|неправильн\\p{L}*|ошибочн\\p{L}*|был бы|було б|ні|немає|можливо|мабуть|ймовірно|припуст\\p{L}*|нехай|виключ\\p{L}*|відкин\\p{L}*|приклад\\p{L}*|вигляді|формі|запиші\\p{L}*|напиші\\p{L}*|може|нека|да допуснем|изключ\\p{L}*|напишете|вид|није|можда|претпостав\\p{L}*|искључ\\p{L}*",
    "если|если бы|якщо|якби|ако|чи|ли|коли",
    "неверн\\p{L}*|неправильн\\p{L}*|неправилн\\p{L}*|ошиб\\p{L}*|помил\\p{L}*|невірн\\p{L}*|грешк\\p{L}*|грешн\\p{L}*|сгреш\\p{L}*|погреш\\p{L}*|не (?:так|верно|верен|прав|подходит|может|знаю|смог|смогла|удалось|уверен|уверена|выполн\\p{L}*|правильн\\p{L}*|вірно|знам|можах|мога|е вярно|зміг|вдалося)|невозможн\\p{L}*|неможлив\\p{L}*|противореч\\p{L}*|протиріч\\p{L}*|суперечн\\p{L}*|обратно|отзываю|забираю|отменяю|забудьте|игнорир\\p{L}*|проигнор\\p{L}*|оба|обе|обидва|поправка|исправление|нет|ні"
  ),
  // Greek
  spaced(
    "πρώτη ματιά|αδύνατ\\p{L}*|δύσκολα|αμφιβολ\\p{L}*|στοιχηματ\\p{L}*|φαίνεται|δείξτε|αποδείξτε|πολύ (?:μεγάλ|μικρ)\\p{L}*|δεν|δε|μην?|όχι|ποτέ|ίσως|μπορεί|πιθανώς|πιθανόν|μάλλον|υποθέ\\p{L}*|υποθέσουμε|έστω|μαντ\\p{L}*|αποκλεί\\p{L}*|απορρίπτ\\p{L}*|παράδειγμα|μορφή|γράψ\\p{L}*|δώστε|αντί|εκτός|τουλάχιστον|το πολύ|λιγότερο|περισσότερο|αμφιβάλλω|λάθος|λανθασμέν\\p{L}*|θα ήταν",
    "αν|εάν",
    "λάθος|λανθασμέν\\p{L}*|έκανα|δεν (?:είναι|μπορ\\p{L}*|ξέρω|ισχύει|μπόρεσα|ικανοποιεί)|αδύνατ\\p{L}*|αντίφαση|άτοπο|αποσύρω|αγνοήστε|και (?:τα|οι|οι) δύο|διόρθωση|όχι"
  ),
  // Chinese, Japanese
  joined(
    "にならな|になりませ|くありませ|考えにくい|考えられ|言えない|暂|待定|绝不|絕不|决不|決不|绝对不|不会|不會|不应|不應|不该|不該|没有|沒有|难以|未必|难道|似乎|好像|打赌|すると矛盾|はずがな|わけがな|とは限|だとすると|だろうか|でしょうか|ようだ|らしい|ように|指示|说答案|說答案|认为|認為|声称|證明|证明|と言|と主張|証明|示せ|乍一看|乍看|一見|太大|太小|大きすぎ|小さすぎ|错误[：:]|錯誤[：:]|要么|要麼|收回|撤回|不是|不为|不為|不等于|不等於|并非|並非|而非|不可能|也许|也許|可能(?![的性])|大概|或许|或許|恐怕|应该不|假设|假設|假定|设想|若设|反设|反設|猜|排除|舍去|捨去|否定|淘汰|例如|例[：:]|比如|示例|例子|格式|形式|写成|寫成|填写|填寫|请将|請將|请把|請把|而不|至少|至多|最多|最少|小于|小於|大于|大於|错误答案|錯誤答案|怀疑|懷疑|ではな|ではあり|ではござ|じゃな|ません|でない|かもしれ|おそらく|たぶん|多分|恐らく|仮定|仮に|推測|除外|例えば|たとえば|書式|書いて|書きなさい|以上(?!より|から)|以下|未満|あり得|ありえ|違い|なかろう|吗|嗎|么[？?]|是否|でしょうか|ですか|だろうか",
    "如果|假如|倘若|若是|要是|もし|なら",
    "错|錯|不对|不對|有误|有誤|失误|算错|搞错|不正确|不正確|不成立|不符合|不满足|矛盾|收回|撤回|作废|忽略|无视|不知道|没能|沒能|没有解出|无法|無法|解不出|不符|不合|不会做|不确定|不確定|都有可能|都可能|皆有可能|两者都|兩者都|更正|不是|間違|まちがい|誤り|ミス|違います|違う|正しくな|取り消|撤回|無視して|わかりません|分かりません|わからない|分からない|解けません|解けなかった|できません|どちらも|訂正|いいえ|満たさない|満たしません|自信が|あり得ない|ありえない"
  ),
  // Korean
  joined(
    "수도 있|리가 없|것 같|듯하|듯합|글쎄|불가능|라고 하면|다고 하면|라고 했|라고 말|라고 주장|증명|언뜻|너무|아니|아닙|않|못|없|아마|어쩌면|혹시|일지도|가능성|가정|추측|짐작|제외|배제|기각|버리|예를 들|예시|예컨대|예[：:]|형식|형태|쓰세요|쓰시오|적으|작성|대신|이상|이하|미만|초과|의심|인가요|일까|입니까|틀린",
    "만약|만일|라면|이면",
    "틀렸|틀린|틀립|오류|실수|잘못|아니|아닙|맞지 않|옳지 않|정확하지|불가능|모순|취소|철회|무시|모르|모릅|풀지 못|못했|못하|할 수 없|확실하지|둘 다|모두 가능|정정|수정"
  ),
  // Arabic
  begun(
    "مستحيل|لا يمكن|يستحيل|أظن|يبدو|أشك|أراهن|من غير|يقول|يدعي|أثبت|برهن|الوهلة الأولى|للوهلة|كبير جدا|إما|ليس|ليست|لا(?!\\p{L})|لن(?!\\p{L})|غير|ربما|قد |لعل|يمكن أن|من الممكن|من المحتمل|نفترض|نفرض|لنفترض|لنفرض|افترض|بفرض|فرض|تخمين|أخمن|استبعاد|نستبعد|يستبعد|رفض|مثال|مثل|على شكل|بالشكل|صيغة|تنسيق|اكتب|ضع|بدلا|بدلاً|سوى|على الأقل|على الأكثر|أقل من|أكثر من|أكبر من|أصغر من|أشك|خطأ|الخاطئ|هل(?!\\p{L})",
    "إذا|لو(?!\\p{L})|إن كان",
    "خطأ|خاطئ|أخطأت|غلط|غير صحيح|ليس صحيح|لا يصح|مستحيل|تناقض|يناقض|أتراجع|أسحب|تجاهل|لا أعرف|لا أعلم|لم أستطع|لم أتمكن|لا أستطيع|لست متأكد|كلاهما|كلتاهما|تصحيح|كلا،"
  ),
  // Hebrew
  begun(
    "לא ייתכן|בלתי אפשרי|נראה ש|ספק|מהמר|קשה להאמין|אומר|טוען|הוכח|מבט ראשון|גדול מדי|קטן מדי|(?<!\\p{L})לא(?!\\p{L})|אינ[הו](?!\\p{L})|אין |אינם|אולי|ייתכן|יתכן|כנראה|אפשרי|עשוי|נניח|הנח|נניח ש|בהנחה|ניחוש|מנחש|לשלול|שוללים|נשלול|לפסול|נפסל|לדוגמה|לדוגמא|למשל|דוגמה|בצורה|בפורמט|תבנית|כתוב|כתבו|רשמו|רשום|במקום|חוץ מ|לפחות|לכל היותר|פחות מ|יותר מ|גדול מ|קטן מ|ספק|שגוי|האם",
    "(?<!\\p{L})אם(?!\\p{L})|(?<!\\p{L})אילו|(?<!\\p{L})לו ",
    "שגוי|שגיאה|טעיתי|טעות|לא נכון|אינו נכון|אינה נכונה|לא יכול|לא הצלחתי|לא יודע|איני יודע|אינני|לא בטוח|בלתי אפשרי|סתירה|חוזר בי|מתעלם|התעלמ|שתיהן|שניהם|תיקון"
  ),
  // Persian, Urdu
  begun(
    "گمان|به نظر|بعید|غیرممکن|محال|ناممکن|تردید|شک |شرط می|خیال|تصور|گویا|ظاهرا|ظاهراً|نمی‌تواند|نمیتواند|نباید|باشد|بود|رد می|اگر|مگر|چنانچه|ممکن نیست|شائد|لگتا|ممکن نہیں|ہو سکتا|می‌گوید|ثابت کنید|نگاه اول|خیلی|نیست|نمی|نیستند|شاید|احتمالا|احتمالاً|ممکن است|فرض کن|فرض کنیم|فرض|حدس|رد کرد|کنار گذاشت|حذف کرد|برای مثال|مثلا|مثلاً|نمونه|به شکل|به صورت|قالب|بنویس|بجای|به جای|جز|حداقل|حداکثر|کمتر از|بیشتر از|آیا|نہیں|شاید|فرض کریں|مثال",
    "اگر",
    "اشتباه|ببخشید|خطا کردم|جا انداختم|فراموش|درست در نمی|جور در نمی|صدق نمی|برقرار نیست|نمی‌شود|حل نشد|جوابی ندار|پس گرفت|لغو|متناقض|غلطی|درست نہیں|واپسنادرست|غلط|خطا|درست نیست|نمی‌دانم|نمیدانم|نتوانستم|نمی‌توانم|مطمئن نیستم|غیرممکن|تناقض|پس می‌گیرم|نادیده|هر دو|اصلاح|غلط ہے"
  ),
  // Hindi, Marathi
  begun(
    "समजा|मेरे ख्याल|मेरे विचार|असंभव|असम्भव|नामुमकिन|मुश्किल|लगता|शक |संदेह|शर्त|कदाचित|संभवतः|मानो|यदि|अगर|कल्पना|दावा|सिद्ध|होती|होता|हो ही नहीं|न तो|नहि|कहता|कहते|साबित|पहली नज़र|बहुत (?:बड़ा|छोटा)|नहीं|न ही|शायद|संभव|सम्भव|हो सकता|मान लीजिए|मान लें|माना |मान लो|कल्पना|अनुमान|अंदाज|बाहर|खारिज|निकाल सकते|उदाहरण|जैसे|प्रारूप|रूप में|लिखें|लिखिए|के बजाय|सिवाय|कम से कम|अधिक से अधिक|से कम|से अधिक|संदेह|गलत|क्या ",
    "अगर|यदि|होता",
    "ग़लती|भूल गया|भूल गई|चूक|माफ|क्षमा|मेल नहीं|संतुष्ट नहीं|लागू नहीं|नहीं बनता|ठीक नहीं|रद्द|छोड़ दीजिए|छोड़ दें|विरोध|निश्चित नहीं|यकीन नहीं|पक्का नहीं|मालूम नहीं|गलत|ग़लत|गलती|त्रुटि|सही नहीं|नहीं (?:है|हो|कर|जानता|पता)|असंभव|विरोधाभास|वापस लेता|अनदेखा|हल नहीं|पता नहीं|दोनों|सुधार"
  ),
  // Bengali
  begun(
    "ধরা যাক|আমার ধারণা|আমার মতে|অসম্ভব|মনে হয়|মনে হচ্ছে|হতে পারে|পারে না|সন্দেহ|কখনও|কখনোই|কল্পনা|আন্দাজ|বাজি|প্রমাণ|দাবি|যদি|হয়ত|বোধহয়|বোধ হয়|খুব (?:বড়|ছোট)|নেই|নাও|নাকি|কিনা|বলা যায় না|নয়|না |হয়তো|সম্ভবত|সম্ভব|ধরি|ধরুন|মনে করি|অনুমান|বাদ দি|বাদ দেওয়া|উদাহরণ|যেমন|আকারে|ফরম্যাট|লিখুন|পরিবর্তে|অন্তত|সর্বোচ্চ|সন্দেহ|ভুল|কি ",
    "যদি|হতো",
    "দুঃখিত|মাফ|ভুলে গে|মিলছে না|মেলে না|পূরণ করে না|খাটে না|সম্ভব নয়|বাতিল|ফিরিয়ে|উপেক্ষা|নিশ্চিত না|জানা নেই|সমাধান করতে|পারলাম না|সংশোধন|ত্রুটি|ভুল|সঠিক নয়|ঠিক নয়|অসম্ভব|পারিনি|জানি না|নিশ্চিত নই|উভয়|দুটোই|বিরোধ|না।"
  ),
  // Thai
  joined(
    "ไม่น่า|เป็นไปไม่ได้|ยาก|ดูเหมือน|คิดว่าอาจ|พนัน|ลังเล|หรือเปล่า|บอกว่า|พิสูจน์|จงแสดง|มองเผิน|เกินไป|ไม่ใช่|ไม่|อาจ|บางที|น่าจะ(?!เป็น)|คงจะ|สมมติ|สมมุติ|เดา|ตัด|คัดออก|ตัวอย่าง|เช่น|รูปแบบ|เขียน|ใส่|แทนที่|ยกเว้น|อย่างน้อย|อย่างมาก|น้อยกว่า|มากกว่า|สงสัย|หรือไม่|ไหม|ผิด",
    "ถ้า|หาก",
    "ผิด|ไม่ถูก|ไม่ใช่|เป็นไปไม่ได้|ขัดแย้ง|ถอน|ยกเลิก|ไม่ต้องสนใจ|ไม่ทราบ|ไม่รู้|แก้(?:โจทย์)?(?:นี้)?ไม่ได้|ทำไม่ได้|ไม่สามารถ|ไม่แน่ใจ|ทั้งคู่|ทั้งสอง|แก้ไข"
  )
]
