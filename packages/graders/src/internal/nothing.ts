/** Phrases for the absence of solutions, in English and other languages. */

const kinds =
  "(?:(?:reell|real|ganzzahlig|gültig|réell|entièr|rzeczywist|действительн|вещественн|целы|дійсн|reál|reële)\\p{L}* ){0,1}"

/** Phrases in languages with spaces between words. */
const spaced = [
  "no (?:real |integer |rational |valid )?(?:solutions?|roots?)(?: exists?)?",
  `keine? ${kinds}(?:Lösung|Nullstelle|Wurzel)(?:en)?`,
  `(?:n['’](?:a|ont|y a|existe|existent|admet|admettent|possède|possèdent) (?:donc )?(?:pas|aucune)|aucune|pas) (?:de )?${kinds}(?:solution|racine)s?(?: réelles?| entières?)?`,
  "(?:no (?:tiene|tienen|existe|existen|hay|admite) (?:ninguna )?|sin |ninguna )(?:solución|soluciones|raíz|raíces)(?: real(?:es)?| enteras?)?",
  "(?:non (?:ha|hanno|esiste|esistono|ammette|ammettono|ci sono|c['’]è) (?:alcuna |nessuna )?|nessuna )(?:soluzion[ei]|radic[ei])(?: real[ei]| inter[ae])?",
  "(?:não (?:tem|têm|há|existe|existem|possui|admite) (?:nenhuma )?|sem |nenhuma )(?:solução|soluções|raiz|raízes)(?: rea(?:l|is))?",
  `geen ${kinds}oplossing(?:en)?`,
  `(?:nie (?:ma|posiada)|brak) (?:żadnych )?${kinds}(?:rozwiązań|rozwiązania|pierwiastków)(?: rzeczywistych)?`,
  `(?:не (?:имеет|имеют|существует)|нет) ${kinds}(?:решений|решения|корней)|(?:решений|корней) нет`,
  `не має ${kinds}(?:розв['’ʼ]язків|коренів)|(?:розв['’ʼ]язків|коренів) немає`,
  `(?:nemá|nemají|neexistuje) (?:žádné )?${kinds}řešení`,
  `(?:inga|ingen|saknar) ${kinds}(?:lösning(?:ar)?|løsning(?:er)?)`,
  "nu (?:are|au|există|admite) (?:nicio )?soluți(?:e|i)(?: reale?)?",
  "(?:çözüm|çözümü|kökü) yok(?:tur)?",
  "tidak (?:memiliki|ada|mempunyai) (?:solusi|penyelesaian)",
  "nincs (?:valós )?megoldása?",
  "ei (?:ole )?ratkaisu(?:a|ja)",
  "δεν (?:έχει|υπάρχει) λύση|καμία λύση",
  "vô nghiệm|không có nghiệm(?: thực)?",
  "कोई (?:वास्तविक )?हल नहीं",
  "لا يوجد (?:لها )?حل|ليس لها حل",
  "אין (?:לה |לו )?פתרון",
  "(?:leere Menge|Lösungsmenge (?:ist|bleibt) (?:also |somit |damit )?leer|ensemble vide|conjunto vac[ií]o|conjunto vazio|insieme vuoto|lege verzameling|zbiór pusty|пустое множество|prázdná množina)"
].join("|")

/** Phrases in languages without spaces between words. */
const joined = [
  "(?:无|無|没有|沒有)(?:实数|實數|整数|整數)?解|空集",
  "解(?:は|が)?(?:な(?:し|い)|ありません|存在しない|存在しません)|解を(?:持|も)(?:たない|ちません)",
  "해(?:가|는|를)? ?(?:없(?:다|습니다|음)|갖지 않는다|존재하지 않는다)"
].join("|")

const phrase = `(?:(?<![\\p{L}\\p{M}])(?:${spaced})|${joined})`

const verbs = "(?:\\s(?:hat|haben|besitzt|gibt|existiert|existieren|heeft|har|finns|है|हैं))?"

/** A reason without a denial behind the phrase. */
const reason =
  "(?:,?\\s(?:since|because|as|denn|da|weil|car|puisque|parce|porque|ya que|pues|poiché|perché|pois|omdat|want|aangezien|bo|ponieważ|gdyż|так как|потому что|поскольку|бо|оскільки|protože|neboť|eftersom|fordi|çünkü)\\s[^.!?;\\n]{1,160})?"

const atEnd = new RegExp(`${phrase}(?=(?:です|である|이다)?${verbs}${reason}[\\s.!*。।$}]*$)`, "iu")

const alone = new RegExp(`^[\\s*]*${phrase}(?:です)?[\\s.!*。।]*$`, "iu")

/** Finds the absence of solutions at the end of a text. */
export const noSolutionAt = (text: string): { readonly start: number; readonly end: number } | undefined => {
  const from = Math.max(0, text.length - 400)
  const found = atEnd.exec(text.slice(from))
  return found === null ? undefined : { start: from + found.index, end: from + found.index + found[0].length }
}

/** Whether a text consists only of the absence of solutions. */
export const isNoSolution = (text: string): boolean => alone.test(text)
