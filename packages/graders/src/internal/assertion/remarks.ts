/**
 * Determines whether an English sentence after an answer can be about it. A sentence that cannot, such as "The remaining
 * roots are complex." or "Difficulty: medium", does not retract it.
 *
 * A remark is suspect if it refers to the answer or its writer, or if it contains any word of denial, doubt, error,
 * pretence, comparison or further work. The list is broad, because a suspect remark only has to be known as harmless.
 */
import { anaphor, negative } from "./english.ts"

const suspicious = new RegExp(
  `(?<![\\p{L}])(?:${`
    fail\\w*|violat\\w*|contradict\\w*|conflict\\w*|mismatch\\w*|disagree\\w*|differ\\w*|reject\\w*|discard\\w*|withdr\\w+|retract\\w*|dispute\\w*|challeng\\w*
    missing|left out|leaves? out|omit\\w*|overlook\\w*|forg[eo]t\\w*|mis\\w+|typo\\w*|err\\w*|flaw\\w*|bug\\w*|glitch\\w*|slip\\w*|fault\\w*|mess\\w*|oversight\\w*
    chang\\w+|extra|instead|otherwise|rather|off|guess\\w*|speculat\\w*|suppos\\w*|assum\\w*|pretend\\w*|conjectur\\w*|hypothe\\w*|imagin\\w*|hunch\\w*|bet|bets|gambl\\w*
    maybe|perhaps|might|could|would|should|may|possib\\w*|probab\\w*|likely|unlikely|presumabl\\w*|apparent\\w*|alleged\\w*|seem\\w*|claim\\w*|rumou?r\\w*|suspect\\w*|sketchy|shaky|dubious|question\\w*
    naive\\w*|absurd\\w*|nonsens\\w*|rubbish|garbage|bogus|fake\\w*|fals\\w+|jok\\w+|kidding|li[ea]r?s?|lying|prank\\w*|trap|trick|decoy|bait
    too|only|just|merely|still|yet|remain\\w*|pending|todo|tb[acd]|tentativ\\w*|provisional\\w*|preliminary|draft\\w*|unfinished|partial\\w*|placeholder\\w*|sample\\w*|example\\w*|template\\w*|format\\w*|dummy|mock\\w*|test
    larger|smaller|bigger|higher|lower|greater|twice|double\\w*|half|halve\\w*|more|less|fewer|actually|truth|really|turns? out|turned out|old|previous\\w*|earlier|former\\w*|outdated|stale|supersed\\w*|void|null
    separate|different|another|other|someone|somebody|anyone|who\\w*|whether|why|how|now|then|next|later|until|before|once|if|ask\\w*|told|said|say|says|according|user\\w*|teacher\\w*|student\\w*|friend\\w*|grader|key
    replac\\w*|fill|ignor\\w*|disregard\\w*|scratch\\w*|strik\\w*|undo|redo\\w*|re-?check\\w*|re-?comput\\w*|re-?calculat\\w*|re-?consider\\w*|again|over-?count\\w*|double-?count\\w*|under-?count\\w*|loaded|biased|correct\\w*|fix\\w*|adjust\\w*|revis\\w*|amend\\w*
    un\\w+(?<!under)|in(?:valid|complet|consist|correct|conclus|sufficient|adequat|accurat)\\w*|non\\w+|wild|grain of salt|caution|caveat\\w*|warning\\w*|beware|careful\\w*|disclaimer\\w*|erratum|errata|edit|update|sorry|oops|alas|sadly|hmm+|wait|no\\w*
    find|prove|show|spot|critique|explain|add|subtract|multiply|divide|need\\w*|must|have to|has to|work|worse|worst|best|better|lost|lose\\w*|stuck|gave|give|hard|trouble|reflection|thoughts?|vanish\\w*|diverg\\w*|spoiler|low|confidence|certainty|back|dreams?|problem\\w*|issue\\w*|concern\\w*
  `
    .trim()
    .split(/\s*[|\n]\s*/)
    .join("|")})(?![\\p{L}])|\\?`,
  "iu"
)

/** Words of a remark that speak against the answer, although other words in it are those of a harmless one. */
const adverse =
  /(?<![\p{L}])(?:instead|still|(?:not |(?<!good )as )?yet|to be (?:confirmed|checked|verified|prove[dn]|determined|completed|done|continued|explained)|needs?|could be|might|fail\w*|violat\w*|contradict\w*|chang\w+|differ(?:s|ed)?|disagree\w*|(?:over|under|double|mis)-?count\w*|mis(?:read|took|taken|placed|calculat\w*|conception\w*|understood|print\w*|match\w*)|(?:is|was|be|far|too|much|even|slightly) (?:larger|smaller|bigger|higher|lower|greater)(?! than)|impossible|erratum|errata|claims?|claimed|off by|missing|omitted|left out|forg[eo]t\w*|overlook\w*|reject\w*|discard\w*|naive\w*|absurd|bogus|fake|allegedly|supposedly|yeah|un(?:verified|confirmed|checked|proven|proved|solved|clear|sure|certain))(?![\p{L}])|^\W*(?:and )?then\b/iu

/** "Topic: number theory". The words before the colon name a property of the text, and the words behind it its value. */
const property = /^[\s*_>#([–—-]*\p{L}[\p{L}-]*(?: \p{L}[\p{L}-]*){0,2}[*_]*\s*:[*_]*\s+\p{L}[^.!?\n]*$/u

const wordsIn = (text: string): number => text.match(/[\p{L}\p{M}'’]+/gu)?.length ?? 0

/** Whether a remark is adverse although it consists of words that harmless remarks use. */
export const isAdverse = (remark: string): boolean => adverse.test(remark)

/** Celebrations, greetings and marks of the end. */
const ending =
  /^[\s*_>#([{|<—–-]*(?:(?:and )?(?:that['’]s|that is|that was) (?:it|all|fun|everything)|voil[aà]|boom|bingo|tada|ta-da|hooray|hurray|yay|woo+ ?hoo+|nice|neat|sweet|easy|cool|awesome|excellent|perfect|lovely|beautiful\w*|elegant\w*|eureka|bravo|congrat\w*|well done|good job|great job|piece of cake|easy as|simple as|nice and|case closed|mission accomplished|job done|all (?:done|set|good)|done and dusted|end(?: of \w+)?|fin|finis|the end|eof|eom|over and out|cheers|regards|best(?: regards| wishes)|kind regards|sincerely|yours|bye|goodbye|see you|take care|have (?:a |an )?\w+ (?:day|one|evening|weekend|time)|enjoy|happy \w+ing|keep (?:on |up |it )?\w+|sent from|generated (?:on|by|with|at)|p\.?s\.?(?=[\s:])|thanks?|thank you|kudos|hats off|ta)(?![\p{L}])/iu

const unreal = /(?<!\p{L})(?:examples?|samples?|templates?|drafts?|quot(?:e|ation)s?|placeholders?|jokes?)(?!\p{L})/iu

/** Whether a remark closes a text: "Mission accomplished.", "Best regards, Tom". */
export const isEnding = (remark: string): boolean =>
  ending.test(remark) && wordsIn(remark) < 9 && !adverse.test(remark) && !unreal.test(remark)

/** Whether a remark cannot be about an answer before it. */
export const isUnrelated = (remark: string): boolean =>
  !suspicious.test(remark) &&
  !adverse.test(remark) &&
  !anaphor.test(remark) &&
  !negative.test(remark) &&
  (wordsIn(remark) > 2 || property.test(remark))

/** Offers and requests to the reader: "Would a diagram be useful?". */
export const offer =
  /^[\s*_>#(–—-]*(?:(?:so|and|also|ok|okay|now)\W+)?(?:would|shall|should i|do you (?:want|need|have|prefer|see how)|did (?:that|this|it) (?:help|make sense)|does (?:that|this|it) (?:help|make sense)|can i|could i|may i|want|wanna|need|any|is there anything|anything else|have|got|are you interested|interested|what (?:else|other)|how (?:else|about|can i)|which (?:other|part|step) (?:would|should|do))(?!\p{L})/iu

/** Whether a short heading of a list names a topic that cannot be the answer: "Lessons learned". */
export const isTopic = (heading: string): boolean =>
  wordsIn(heading) < 6 && !suspicious.test(heading) && !anaphor.test(heading) && !negative.test(heading)

/** Remarks on the value that another calculation would give, and on mistakes that were corrected before the answer. */
const elsewhere =
  /^[\s*_>#(–—-]*(?:(?:if|had) (?:you|one|we|someone|somebody|i)\b[^.!?]*\b(?:would|['’]d|get|gets)\b|(?:forgetting|leaving out|omitting|ignoring|skipping|dropping|using)\b[^.!?]*\bwould\b|(?:i|we) (?:had|first|initially|originally)\b[^.!?]*\b(?:at first|before|earlier|first|initially|originally)\b)/iu

/** Whether a remark is about a value other than the answer. */
export const isElsewhere = (remark: string): boolean => elsewhere.test(remark)
