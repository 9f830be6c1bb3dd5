/** English phrases that keep an answer from being asserted. */

import * as Words from "./Words.ts"

/** What ends the scope of a doubt within its sentence, apart from words such as "so" and "then". */
export type Until =
  /** A main clause after a comma or a colon. */
  | "clause"
  /** A main clause after a comma. */
  | "comma"
  /** A main clause, or a verb of identity such as "is". */
  | "verb"
  /** Like `verb`, or a colon. */
  | "colon"
  /** Nothing else, unless the supposition ends at a comma. */
  | "conclusion"
  /** Only an adversative word such as "but". */
  | "turn"

/** Words before an answer, within its sentence, that keep it from being asserted. */
interface Doubt {
  readonly words: Words.Words
  readonly until: Until
}

const doubt = (until: Until, words: string): Doubt => ({ until, words: Words.make(words) })

export const before: ReadonlyArray<Doubt> = [
  doubt(
    "verb",
    "cant|isnt|dont|doesnt|wasnt|wont|arent|not|no(?!\\s*[,:])|never|nobody|none|neither|nor|cannot|can't|isn't|aren't|wasn't|won't|wouldn't|don't|doesn't|didn't|couldn't|shouldn't|hardly|refuse\\w*|nothing|nowhere|crossed? out|could be|could also be|can be(?! (?:\\w+ed|\\w+en|done|made|built|put|split|cut|drawn)(?!\\w))|may be|may also be|might be|might also be|may well be"
  ),
  doubt(
    "colon",
    "rul(?:e|es|ed|ing) out|exclud\\w+|eliminat\\w+|reject\\w*|discard\\w*|avoid\\w*|dismiss\\w*|disprov\\w*|refut\\w*|try|tries|tried|trying|test|tests|tested|testing|consider\\w*|disagree\\w*"
  ),
  doubt("turn", "except(?:ing)?|apart from|other than|(?:we|i|you) (?:are|were) (?:told|given)|base case"),
  doubt(
    "conclusion",
    "wlog|without loss of generality|suffices? to (?:show|check|prove|consider|treat|look)|enough to (?:show|check|prove|consider)"
  ),
  doubt("clause", "if|unless|whether|in case"),
  doubt(
    "comma",
    "for now|tentative\\w*|provisional\\w*|for the time being|pending|by no stretch|have a (?:feeling|hunch|suspicion)|for granted|far from|could \\w+ be|used to|whatever|regardless|no matter|(?:one|some|many|people|students?) (?:can|will)|(?:one|you|some|many|people|they|students?) (?:might|may|could|would|often|usually|tend to)|you (?:can|will) (?:say|think|claim|read|see|hear|argue|guess|write|put|enter)|as well be|maybe|perhaps|possibly|probably|conceivably|supposedly|allegedly|guess\\w*|might (?:think|guess|say|expect|believe|answer|assume|suppose)|(?:you|we|one|they)['’]d (?:think|guess|say|expect|believe|assume|suppose)|(?:would|could|might) (?:say|claim|answer|guess)|tempt\\w*|doubt\\w*|deny|denies|unlikely|no way|impossible|not (?:the case|true|believe|think|claim|say|agree|accept|see|sure|certain|clear|know|mean)|n't (?:believe|think|claim|say|agree|accept|see|know|mean)|cannot (?:believe|think|claim|say|agree|accept)|a possible|one possible|another possible|(?:lower|upper) bounds?|bounded|under no|by no means|wonder|unsure|candidates?|such as|looks? like|(?:answers?|lines?|one|something|output|it|this|responses?|,) like|like:|e\\.g\\.?|for example|for instance|would (?:imply|mean|give|follow|force|make|lead|yield|need|have)|(?:find|spot) the (?:mistake|error)|not an answer|random|n\\/a|tbd|placeholder|dummy|hypothetical\\w*|false that|wrong (?:to|that)|incorrect (?:to|that)|(?:wrong|incorrect|false|mistaken|naive|erroneous|invalid|rejected|old|first) (?:\\w+ )?(?:answer|result|value|solution|conclusion|guess|attempt)|mistake(?:n|nly)?|(?<!\\b(?:i|we) )(?:claim|says?|said|claims|claimed|thinks?|thought|believed?|believes|argues?|argued|suggests|suggested|insists?|answered|wrote|writes|guessed)(?= (?:that|the answer|it|this|is|was|[\"“']))|(?:wrote|writes|lists|claims|claimed|answered|guessed|proposed|proposes|suggests)(?=\\s*$)|(?<!\\b(?:i|we) )claims?|(?:friend|students?|user|assistant|teacher|textbook|book|someone|somebody|people|others|he|she|they|who) (?:\\w+ )?(?:gets?|got|gives?|gave|says?|said|answers?|answered)|you (?:got|gave|said|answered)"
  ),
  doubt(
    "comma",
    "(?:has|have|of|in) the shape|(?:expected|desired|required) (?:output|response|reply)|(?:a|the|this|your|expected|required|correct|right|answer|output|following|requested|desired|given)? ?(?:(?<!in the (?:required|requested|desired|right|correct|asked) )format|template|placeholder|pattern(?! \\w+s\\b)|syntax)(?! (?:you|that|which|we|as))|examples?|samples?|todo|instruct(?:ed|ions?)|prompt|(?:asked|told|want\\w*|requires|expects?|expected|supposed|looks?|look) (?:(?:me|us|you) )?(?:for(?! (?:is|was|equals|here|comes)\\b)|to|something|like)|(?:your|any) (?:final |numerical )?answers? (?:as|in|like|such as|inside|within)|answers? such as|answers? looks? like|(?:should|must) (?:be )?(?:end|write|written|put|say|answer|box|boxed|give|given|contain|look|start|respond|like)|would (?:write|put|box|enter|say)|one (?:writes|would write)|of the form|like (?:so|this)|(?:respond|reply) (?:in|with|as|only)|(?:please|kindly) (?:write|put|give|box|enter|answer|end|state|report)"
  ),
  doubt(
    "turn",
    "(?:false|wrong|incorrect|mistaken|faulty|absurd|erroneous|unjustified|unrealistic) (?:assumption|hypothesis|premise|belief|impression|reading)s?|(?<=^\\W*|[.:;,]\\s+|(?:to|must|should|please|us|can|could|you|will|shall|let['’]s|and|now|next|first) )(?:show|prove|demonstrate|establish|justify)|unlikely event|montrer|mostr[ae]r?|prob(?:ar|ad)|zeigen?|zeigt|beweis(?:e|en|t)|prouver|dimostrare|verificare|verificar|vérifi(?:er|ez)|докаж\\p{L}*|доказать|покаж\\p{L}*|доведемо|mock\\w*|stub|dummy|fixture|naive\\w*|by contrast|unlike|fail(?:s|ed)? to (?:see|understand)|whereas|insert|format(?:ted)? as|crossed out|flawed|fallac\\w*|bogus|faulty|spurious|misleading|erroneous|careless\\w*|misconceptions?|misreading|misread|pitfalls?|traps?|typos?|misprints?|lean\\w*|withdraw|(?:common|typical|frequent|popular|usual|standard) (?:\\w+ )?(?:mistakes?|errors?|misconceptions?|wrong answers?)|(?:next|first|second|third|last|final|remaining) step is|(?:number|value|figure|data)s? (?:given|mentioned|provided|shown)|provided that|if (?:my|our|this|that|the) (?:guess|assumption|memory|conjecture|reading|interpretation|hunch|intuition)|(?:goal|aim|task|objective|job|challenge|plan|question|remains|left|trying|try|want|wants|need|needs|asked|have|has|like) (?:\\w+ ){0,2}to (?:show|prove|see|decide|check|verify|determine|establish|confirm|demonstrate|understand|convince|justify)|we show that|i(?:['’]d| would| might| could)? (?:be )?(?:tempted|inclined)|tempting|your (?:\\w+ )?(?:answer|result|solution|value)|any of|claim(?:ed)?(?= the answer was)|apparently|see (?:what|if|whether)|bets?|intuition|gut|instinct|hunch|estimates?|no reason|angeblich|(?:dit|prétend|affirme|pense) que|(?:dice|dicen|afirma|asegura|diz|dizem) que|(?:dice|afferma|sostiene) che|(?:zegt|beweert) dat|(?:sagt|behauptet|meint|glaubt),|(?:säger|påstår) att|(?:siger|sier|påstår) at|(?:spune|susține) că|(?:mówi|twierdzi), że|(?:říká|tvrdí),? že|(?:говорит|утверждает|думает), что|(?:каже|стверджує), що|(?:λέει|ισχυρίζεται) ότι|(?:sanoo|väittää),? että|(?:mondja|állítja),? hogy|nói rằng|bilang|beweise?n?|zeigen? (?:sie|wir)|zeige,|montre[rz]|montrons|démontre[rz]|prouve[rz]|demuestr\\w+|muestre que|dimostr\\w+|mostre que|prove que|toon aan|bewijs|visa att|bevisa\\w*|vis at|arătați|demonstrați|wykaż|udowodnij|dokaž\\w+|докажите|доведіть|δείξτε|αποδείξτε|buktikan|chứng minh|je parie|parions|ich (?:tippe|wette)|apuesto|scommetto|aposto|ik (?:gok|wed)|seemingly|ostensibly|superficially|reportedly|rumou?r\\w*|theoretically|in theory|ideal world|one day|at first(?: glance| sight)?|ignoring the (?:constraint|condition|restriction|rule|fact|order)|neglecting|forgetting|overlooking|disregarding|auf den ersten blick|à première vue|a primera vista|a prima vista|à primeira vista|op het eerste gezicht|vid första anblicken|ved første (?:øjekast|blikk|øyekast)|la prima vedere|na pierwszy rzut oka|na první pohled|na prvý pohľad|ensi silmäyksellä|első (?:ránézésre|látásra)|[iİ]lk bakışta|thoạt nhìn|sekilas|на первый взгляд|на перший погляд|με την πρώτη ματιά|乍一看|乍看|一見すると|一見|언뜻|للوهلة الأولى|במבט ראשון|در نگاه اول|पहली नज़र में|প্রথম দৃষ্টিতে|มองเผิน ๆ|มองเผินๆ"
  ),
  doubt(
    "conclusion",
    "so far|picture (?:a|an|the)|envision|suppos(?:e|ed|ing)|supposons|supongamos|supóngase|supponiamo|suponhamos|angenommen|nehmen wir an|załóżmy|předpokládejme|предположим|допустим|oletetaan|varsayalım|tegyük fel|giả sử|andaikan|misalkan|tuseme|pretpostavimo|assum(?:e|ed|es|ing)|assumption|imagine|pretend\\w*|hypothes\\w*|conjectur\\w*|granting|granted that|consider the (?:possibility|case)|for (?:a|the sake of) (?:moment|contradiction|argument)|towards? a contradiction|by way of contradiction|let'?s say|let us say|say (?:the|that|it|n|x)|were the|were it|had the|would have been|in that case|provided|ignore|disregard|following is (?:wrong|not|incorrect|false|invalid)|not to (?:answer|write|say)|this is (?:not|wrong|incorrect)(?: the answer)?:?\\s*$|(?:previous|earlier|similar|different|another|other|last|next|first) (?:problem|question|exercise|part|puzzle|example|task|answer|attempt)s?|another problem|answer to (?:the(?! (?:original |given |whole )?(?:question|problem|exercise|puzzle|task) (?:is|equals)\\b)|part|question|problem|exercise)|(?:scratch|forget) (?:that|this|the)"
  )
]

/** Words directly before an answer that turn it into a different value or no value. */
export const rightBefore =
  /(?:(?<!\p{L})let\s+□*\s*(?:be\s*)?$|(?<!\p{L})(?:as in|(?:short|shy|clear|ahead|wide|free) of|(?:far|away) from(?: being)?|used to (?:be|equal)|twice|thrice|half|double|triple|(?:multiple|power|divisor|factor|square|cube|root|reciprocal|negative|opposite|complement|double|triple|half|sum|product|function|part|digits?|remainder|some) of|(?:bounded|divisible|exceeded|followed|preceded|off) by|(?:neighbou?rhood|vicinity|region|ballpark|realm) of|(?:close|near|next|similar|related|proportional|(?<!\b(?:adds?|added|sums?|comes?|came|works?|total|totals|goes|rounds?|rounded) )up|prior|down) to|exceeds?|exceeded|surpass(?:es|ed)|tops|divides|precedes|outnumbers?|undercuts?|near|nearly|almost|than|at (?:least|most)|(?:different|far|away|apart|differs?|ranges?|excluded) from|(?:number|value|one|integer|digit|prime) (?:after|before|above|below|following|preceding)|vs\.?|versus|and not|either|(?:so|nor|neither) (?:does|is|do|are|was|were|would|could)|between|beyond|under|over|above|below|within|instead of|rather than|other than|anything but|everything but|all but|except|but not|let the answer be|let (?:\S+ )?(?:be|=)|(?:answer|result|solution|number) (?:has|had|contains|ends in|ends with|starts with|begins with|lies|exceeds|divides|satisfies|involves|uses)|(?:digits?|square|cube|root|half|double|twice|reciprocal|negative|sum|product|multiple|part|size|order|parity|logarithm|nothing|form|length|number of digits) of (?:the |my |our )?(?:final )?answer (?:is|equals|was|are)|(?:unlikely|impossible|appears?|seems?|needs?|expected|supposed|claimed|said|thought|believed|assumed|guessed) to be|to say that the answer is|(?:not sure|unsure|idk|dunno|no idea),?(?: but| so)?|(?:quote me|be (?:wrong|mistaken)|grain of salt)[^,;.]{0,20},? but|your answers?(?: of)?))[\s$\\([*:]*□{0,2}[\s$\\([*:]*$/iu

/** Phrases after an answer, within its sentence, that contradict it. */
export const behind =
  /(?<![\p{L}])(?:(?:is|was|are|were|seems?|looks?|would be|can|could|should|must|may|might|will|does|do|did|has|have)(?:\s+\w+)?\s+(?:not|never|wrong|incorrect|false|invalid|impossible|mistaken|absurd|excluded|rejected|eliminated|discarded|ruled|implausible|plausible|possible|tempting|expected|doubtful|unlikely|a guess|(?<!the )only|too|out|also|work|fail|typos?|misprints?|a typo|a misprint|contradict|hypothetical|another|either|neither|both|merely|just|be (?:not|wrong|incorrect|false|invalid|impossible|excluded|rejected|eliminated|discarded|ruled|implausible|the answer|a valid|valid))|(?:is|was|are|does|do|did|can|could|would|should|must|has|had)n['’]t|cannot|can['’]t|fails?|failed|contradict\w*|(?:an?|the) contradiction|contradiction|absurd|impossible|nonsense|maybe|perhaps|possibly|probably|presumably|(?:i|we) (?:would )?(?:guess|suppose|disagree|doubt|think\?)|(?:just |only )?a (?:\w+ )?guess|not (?:sure|certain|quite|right|correct|really|the answer|counted|possible|valid|true|yet)|unsure|uncertain|unclear|no,? wait|wrong\w*|incorrect\w*|mistaken|a mistake|an error|or not|or so|or (?:more|less|fewer)|or maybe|or perhaps|or (?:any|some|close|near|similar|there|what)\w*|at (?:most|least)|more than|less than|fewer than|greater than|larger than|smaller than|away from|off by|false|untrue|bogus|nonsense|meaningless|useless|irrelevant|worthless|over-?count\w*|double-?count\w*|decoy|red herring|extraneous|spurious|by mistake|by accident|misses|overlooks|comes? from (?:counting|forgetting|ignoring|adding|confusing)|which (?:i|we) (?:believe|think|suspect)|don['’]t agree|disagrees?|slipped|doesn['’]t agree|leads? to a|invalidat\w*|only as|(?:rough|crude) (?:estimate|guess)|whereas|breaks? down|although|though|which would|if (?:i|we) (?:knew|had|could)|(?:but|yet|although|though|however|except)(?! not\b)|still (?:has|have|needs?|remains?)|as an? (?:partial|intermediate|interim|subtotal|placeholder|stopgap|stand-in|guess|example|template|dummy|first|working|provisional|tentative|preliminary)|until (?:i|we|it|this|that|someone)|to be (?:found|decided|determined|checked|proved|confirmed)|as if|as your|with your|if only|in the (?:prompt|example|template|format|instructions)|from the (?:prompt|example)|for a (?:similar|different)|for the previous|would|digits\b(?! of)|squared|cubed|where you|would)(?![\p{L}])/iu

/** Matches the start of a clause that gives a reason or limits the statement. */
export const reason =
  /(?:[,;(]\s*|\s+|\s[—–-]+\s*)(?:since|because|given|where(?! you)|whereas|when|while|after|except|excluding)\b|(?:[,;(]\s*|\s[—–-]+\s*)(?:as|for|so|using|by|from|with|the only|i\.e\.|namely|independent|regardless|and (?:this|it|that|we|the)|which (?:is (?:the|what|our|also|an?|indeed)|satisf\w+|matches|agrees|equals|means|completes|proves|we))\b|(?:[,;(]\s*|\s)(?:and |but )?not\s*[□\d$\\]|\((?:the other|the second|another) /i

/** Sentences after an answer that retract it. */
export const retraction = new RegExp(
  [
    // That is wrong.
    "(?:that|this|it|these|those|which|both|above|answer|result|solution|statement|claim|value|conclusion|calculation|reasoning|line|one|bob|he|she|they|argument|box|guess)(?:['’]s|\\s+(?:is|was|are|were|seems?|looks?|turns out to be|would be|must be|may be|might be|could be))\\s+(?:(?:clearly|actually|also|of course|simply|plainly|just|obviously|still|all|surely|definitely|probably|in fact|both)\\s+)*(?:wrong\\w*|incorrect|false|invalid|impossible|a (?:mistake|contradiction|lie|joke|guess|placeholder|hallucination)|an (?:error|example)|mistaken|absurd|nonsense|unlikely|doubtful|only a guess|off|too (?:large|small|big|high|low|many|few)|bogus|plausible|flawed|not (?:correct|right|true|valid|possible|quite|it|so|the (?:answer|right|correct|case|final)|an? (?:answer|solution|valid|possible)|good|what|my|our|real|certain|sure))",
    // That does not work.
    "(?:that|this|it|which|answer|value|result)\\s+(?:does not|doesn['’]t|did not|didn['’]t|will not|won['’]t|cannot|can not|can['’]t|could not|couldn['’]t|must not|should not|shouldn['’]t|would not|isn['’]t|wasn['’]t)\\s+(?:\\w+\\s+)?(?:be|work|hold|satisf\\w+|fit|match|add up|make sense|check|seem|look|right|correct|true|valid|possible|solve|stand|the (?:answer|right|correct)|count|quite|it)\\b(?! (?:that|hard|difficult|too hard|any|further|simplified|reduced|improved|zero|negative|divided))",
    "(?:that|this|it|which|and this|answer|value)\\s+(?:fails?|contradicts?|violates|is contradictory|leads? to (?:a |an )?(?:contradiction|absurd\\w*)|gives a contradiction|yields a contradiction|would (?:contradict|violate))",
    "(?:isn['’]t|wasn['’]t)\\s+(?:it|right|correct|true|the (?:answer|right|correct))",
    "(?:it|this|that|answer) should (?:have been|be|instead|actually|rather)",
    "(?:have|has|having)\\s+(?:\\w+\\s+)?doubts?|there (?:is|must be|may be|might be|seems to be|was)\\s+(?:a|an|some)\\s+(?:\\w+\\s+)?(?:mistake|error|flaw|bug|gap)|(?:redo|re-do|start over|try again|rethink|reconsider|start again)|except (?:that )?(?:it|this|that)|(?:except|but|only|and|well|yet),? (?:that )?(?:it|this|that) (?:isn['’]t|is not|wasn['’]t)|withdrawn|retracted|trust (?:this|that|me)|do not use|don['’]t use",
    "false alarm|hasty|remains? (?:open|unclear|unresolved)|must have (?:slipped|erred|mis\\w+)|(?:would|should) double-check|before relying|skipped (?:a|one|some)|only (?:holds?|works?|valid|true|applies|if|for|when)|(?:holds?|works?|valid|true|applies) only|[✗✘❌✖❎🚫⛔👎]|(?:solutions?|books?|keys?|others?|everyone else|teachers?|answer key) (?:says?|gives?|has|have|got)|,\\s*(?:nonsense|absurd|a contradiction|contradiction|impossible)|so i thought|forgot|forgotten|overlooked|realis\\w+|realiz\\w+|(?:add|subtract|remove|multiply by|divide by) (?:one|two|\\d+) more|does not work|doesn['’]t work|is invalid|checks? fails?|fails? the|something(?:['’]s| is| must be| seems| looks) (?:\\w+ )?(?:off|wrong|amiss|fishy|missing|odd|strange|not right)|(?:do not|don['’]t|cannot|can['’]t|not) (?:match|rely|agree|trust|believe|quote|count on)|(?:would|['’]d) like to (?:withdraw|retract|correct|revise)|need(?:s)? to be (?:redone|revised|corrected)|(?:must|should|have to|need to|has to) (?:subtract|redo|revise|correct|fix|recompute|recalculate)",
    // I made a mistake.
    "(?:i|we)(?:['’]\\w+)?(?:\\s+\\w+)?\\s+(?:made|make|see|found|spotted|notice\\w*|have made|realize\\w*|realise\\w*)\\s+(?:a|an|some|my|the|another|that i made an?)\\s+(?:\\w+\\s+)?(?:mistake|error|slip|typo|blunder)\\w*",
    "(?:i|we)\\s+(?:\\w+\\s+)?(?:retract|withdraw|revoke|recant|miscounted|miscalculated|misread|misunderstood|mis\\w+|double-?counted|overcounted|undercounted|was wrong|were wrong|am wrong|was mistaken|am mistaken|messed up|disagree|doubt|give up|gave up|changed my mind|change my mind|lied|guessed|am guessing|was guessing|made (?:it|this|that) up)",
    "i\\s+take\\s+(?:that|it|this|my answer|the answer|everything|the above|all)\\s*(?:\\w+\\s+)?back",
    "(?:i|we)(?:['’]m|\\s+am|\\s+was|['’]re|\\s+are|\\s+were)?\\s+(?:still |really |really still |just |simply |honestly |no longer |sadly )?(?:not (?:sure|certain|able|confident|convinced|so sure)|unable|unsure|uncertain|guessing|joking|kidding)",
    "(?:i|we)\\s+(?:\\w+\\s+)?(?:don['’]t|do not|did not|didn['’]t|no longer|cannot|can['’]t|could not|couldn['’]t|can not|have not|haven['’]t|was not|wasn['’]t|never)\\s+(?:\\w+\\s+)?(?:know|knew|believe|trust|think|stand|agree|solve\\w*|find|found|answer|decide|tell|say|determine|figure|finish|work it|able|manage|prove|succeed|sure)\\b(?! (?:a better|an easier|any other|more|anything|whether there))",
    "(?:i|we)\\s+(?:really )?have\\s+no\\s+(?:idea|answer|clue|solution)|no idea\\b|\\bunable to (?:solve|answer|determine|decide|find)",
    // Ignore that.
    "(?:please )?(?:ignore|disregard|forget|discard|delete|strike|scrap|scratch|omit|skip)\\s+(?:that|this|it|the|my|everything|all|what)(?! (?:order|sign|units|case|trivial|factor|constant|orientation|rotation|leap|zero|term))",
    "never ?mind|nevermind|just kidding|kidding|not really|not quite|not so fast|on second thought|actually,? no\\b|wait,? (?:no|that|this|it is not|it isn|i)|no,? wait|hold on,? (?:no|that|this)|oops|whoops|my bad|my mistake|correction:|scratch that|or not\\b|or maybe|or perhaps",
    // Several.
    "both (?:are|seem|look|answers|values|would|could|fit|work)|either (?:is|one|could|of|would|answer)|alternatively|another (?:possible|plausible|candidate|answer)|it (?:could|might|may) (?:also |well |equally |as well )?be|hard to say|cannot decide|can['’]t decide|hesitate|toss-?up|(?:is|are) (?:also|equally) (?:possible|plausible|likely)",
    "perhaps not|maybe not|but perhaps|but maybe|could be wrong|may be wrong|might be wrong|may be incorrect|might be incorrect|could be incorrect|just a guess|only a guess|a wild guess|a random guess"
  ]
    .map((one) => `(?:${one})`)
    .join("|")
    .replace(/^/, "(?<![\\p{L}'’])(?:")
    .concat(")(?![\\p{L}])"),
  "iu"
)

/** Confirmations at the end of the text that the answer is correct after all. */
export const restored =
  /(?:\b(?:it|that|this|answer|result|value|everything|all)\b[^.!?]{0,30}\b(?:stands|holds(?: up)?|checks out|is (?:still |indeed |in fact |therefore )?(?:right|correct|fine|valid|consistent|unchanged)|(?:stays|remains)(?= (?:at|as|the same|unchanged|valid|correct|□)))\b)[^.!?]{0,20}[.!]?\s*$/i

/** A sentence that consists of nothing but a denial. */
export const denial =
  /(?:^|[.!?…\n]\s*)(?:no|nope|nah|wrong|incorrect|false|not|hmm,? no|well,? no|actually,? no|wait,? no|or not)\s*(?:[.!…]|$)/i

/** Words of a short, harmless sentence after an answer. */
export const harmless =
  /(?<![\p{L}])(?:correct\w*|takeaways?|recap|right|valid|true|conditions|requirements|constraints|done|complet\w+|finish\w*|hopes?|help\w*|thanks?|great|good luck|let me know|feel free|questions?|checks?(?: out)?|checked|verif\w+|confirm\w*|consistent|match\w*|agrees?|same|equivalent\w*|as (?:desired|required|claimed|expected|needed|wanted|stated)|satisf\w+|holds?|works?|final answer|answer|solution|solve[sd]?|explain\w*|explanation|details?|enjoy|cheers|unique|q\.?e\.?d\.?|proof|proved|proven|integers?|positive|follows?|used|using|theorem|lemma|formulas?|identity|definition|symmetry|induction|property|method|smallest|largest|least|greatest|step|idea|key|because|since|factor\w*|counted|product|such|note|notice|exact\w*|simplif\w+|simplest|lowest|reduced|rounded|units?|ways?|see|above|boxed|concludes?|conclusion|summary|that['’]s it|voilà|gelöst|bewiesen|bestätigt|richtig|korrekt|fertig|probe|hoffe|fini|fin|fine|hecho|resuelto|resolvido|pronto|risolto|terminé|résolu|concluye|conclut|w\.?z\.?b\.?w|c\.?q\.?f\.?d|juste|exact|vérifi\w*|espère|correcto|listo|comprob\w*|espero|corretto|spero|fatto|juist|klaar|hoop|rätt|klart|hoppas|rigtigt|riktig|corect|gata|poprawn\w*|dobrze|doğru|верно|правильно|готово|проверка)(?![\p{L}])|正确|正確|完成|验证|驗證|希望|正しい|完了|맞습|맞다|완료|صحيح|נכון|ถูกต้อง/iu

/** First words of a predicate about an answer, as in "is the answer" and "is correct". */
export const predicates: ReadonlySet<string> = new Set(
  "the our my his her your what a an as in at indeed correct right valid true unique optimal minimal maximal prime even odd positive negative attained achieved reached exactly also obtained given consistent required desired therefore thus hence then clearly now always equal equivalent both simply just confirmed verified possible that this all sufficient enough because since".split(
    " "
  )
)

/** Words after a comma that continue the sentence with reasons, units or consequences. */
export const continuing =
  /^(?:and|or|as|so|thus|hence|since|because|for|by|with|where|which|respectively|namely|i\.e|e\.g|exactly|the|a|an|our|indeed|etc|too|also|both|not|rounded|correct|respectivement|y|e|et|und|en|og|och|i|a|и|та|και|donc|also|deci|dunque|luego|logo|ce qui|was|wat|lo que|il che|o que|co|což|что|що|вот|и|и)(?![\p{L}])/iu

/** Starts of a sentence that explains an answer instead of judging it. */
export const explaining =
  /^[\s*_>#(•–—-]*(?:(?:note|notice|observe|remember|recall|tip|hint|explanation|reasoning|reason|why|proof|details?|key \w+|in other words|for reference|fun fact|interestingly|intuitively|equivalently|geometrically|remark|one can|this (?:covers|completes|exhausts|confirms|works|follows|holds|uses|is (?:because|since|where|why|how|the (?:only|same|well-known)))|that(?:['’]s| is) (?:how|why|roughly|about)|it (?:is|follows|also)|common (?:mistake|error|pitfall)s?|students?|no other|no one|both|the other|of course|(?:we|you|i) (?:do not|don['’]t|did not|didn['’]t) (?:need|count|consider|use|include)|(?:i|we) (?:have )?(?:double-?|re-?)?checked|(?:we|you|one) (?:can|could|may) (?:also|verify|check)|(?:we|i) (?:used?|chose|also|have used|took|applied|rejected|discard(?:ed)?|exclud\w+)|i should note)(?![\p{L}])|(?:each|every|all|any)\s+(?!of (?:this|that|the above)))/iu

/** Closing sentences that address the reader. */
export const closing =
  /\b(?:let me know|feel free|just ask|happy to|glad to|good luck|keep (?:it )?up|if you(?:['’]d| would| want| have| need| like)|(?:would|do) you (?:like|want)|(?:that|this|it) (?:helps|clears|makes sense)|hope)\b/i

/** Words of contrast and doubt, which a sentence that explains an answer does not have. */
export const contrast =
  /(?<![\p{L}])(?:but|however|though|although|yet|except|unless|still|instead|actually|maybe|perhaps|might|somehow|wrong(?= (?:answer|result|value|total))|(?:answer|result|value|total|box|this|that|it|i|we) (?:\w+ )?(?:not|cannot|\w+n['’]t) (?:be|hold|work|match|fit|satisf\w+|right|correct|the))(?![\p{L}])/iu

/** Requests to put an answer where the text has one. */
export const template =
  /\b(?:your own (?:answer|value|number|result)|(?:replace|fill in|substitute|overwrite|swap|put|insert|enter)\b[^.]{0,40}\b(?:your|yours|above|there|tags?|box|brackets|placeholder)|(?:treat|regard|consider|take|see) (?:the above|this|that|it|my answer) as (?:an? )?(?!exact|final|correct|right)\w+)\b/i

/** Words that refer to the answer before a sentence, or to its writer. */
export const anaphor =
  /(?<![\p{L}])(?:answer|result|solution|total|value|count|above|this|that|it|which|box|i|we|my|our|problem|question)(?![\p{L}])/iu

/** Remarks that a value is not the requested one, and values that are operands. */
export const unwanted =
  /\(which (?:\w+ )?\w+n['’]t\b[^()]*\)|\banswer\s+(?:plus|minus|times|squared|cubed|mod(?:ulo)?|(?:divided|multiplied|increased|reduced) by)\b|\b(?:times|plus|minus) (?:the|my|our) (?:final )?answer\b|^[\s*_]*(?!(?:giv|leav|yield|gett|obtain|mak|total|mean|submitt|answer)ing\b)[a-z]{2,}ing (?:up |in |out |the )?[\s$\\(□]*$|^\W*(?:in order )?to (?!(?:one|two|three|four|five|the|this|that|each|our|my|a)\b)\w+[^,:□]*$|^\W*not an? (?:full |complete |real )?(?:answer|solution)\b|\((?:[^()]*\b(?:not (?:asked|required|needed|wanted|what)|wrong|incorrect|invalid|rejected|irrelevant|erroneous)\b[^()]*)\)[^,;.]*$/i

/** Denials of something other than the answer. */
export const aside =
  /\b(?:no (?:calculators?|need|other|others|further|more|tricks?|computation|rounding|simplification|problem|surprise|doubt|ambiguity)|not (?:a coincidence|surprising|hard|difficult|needed|required|unexpected)|nothing (?:else|more)|n['’]t (?:matter|forget|worry|needed|hard))\b/i

/** Words that make a harmless sentence negative. */
export const negative =
  /(?<![\p{L}])(?:not|no|never|n['’]t|\w+n['’]t|cannot|hardly|barely|wrong|incorrect|false|unless|if only|zero|doubt\w*|neither|nor|none|but|though|although|however|yet|except|i['’]d have|(?:i|we) (?:would|will|should|must|might)(?: first)? (?:have|need|want)|another (?:look|pass|try)|mix-?up|unjustified|unfounded|unsupported|unproven|circular|incomplete|inconsistent|mistaken\w*|error|overlap\w*)(?![\p{L}])/iu

/** Harmless remarks in parentheses after an answer. */
export const remark =
  /^(?:(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|\w+ty|hundred|thousand|million|half|third|quarter|dozen)(?=$|[\s-])|exact\w*|final|answer|ans|approx\w*|rounded|units?|in\b|mod\b|by\b|since|because|as\b|using|from|where|see|i\.e|or equivalently|equivalently|which|the\b|after|assuming|with|to\b|for\b|per\b|base|this is|it is|we|square|cubic|total|minimum|maximum|verified|checked|correct|q\.?e\.?d|mit|car|weil|da\b|puisque|porque|ya que|perché|poiché)/i

/** A short sentence that reports that there is no answer. */
export const absence =
  /(?<![\p{L}])(?:no|not|none|n['’]t|\w+n['’]t|cannot|n\/a|error|unknown|todo|tbd|fail\w*|unable|undefined|null|skip\w*|pass)(?![\p{L}])/iu

/** Words of a remark in parentheses that leave open whether the answer is correct. */
export const dubious =
  /\b(?:guess\w*|maybe|perhaps|probably|possibly|if|unsure|unverified|might|may|could|wild|not|wrong|unless|hopefully|i think|tentative\w*|approximation|tb[acd]|pending|unconfirmed|unchecked|to be (?:confirmed|checked|verified|proved|proven|determined))\b/i

/** Headings for content that is uncertain or by someone else. */
export const heading =
  /^[\s*_#>(]*(?:step \d+\s*[:.—–-]\s*)?(?:conjecture|hypothes[ie]s|exercise|problem|question|example|sample|template|contradiction|counter-?claim|myth|fallacy|false (?:claim|proof|solution)|wrong (?:answer|solution|approach)|bogus (?:proof|solution)|common mistake|pitfall|rubric|hint|attempt)s?\s*#?\d*\W*$/i

/** Statements that no answer was found. */
export const refusal =
  /(?<![\p{L}])(?:(?:i|we)(?:\s+\w+)?\s+(?:cannot|can['’]t|can not|could not|couldn['’]t|do not|don['’]t|did not|didn['’]t)\s+(?:\w+\s+)?(?:know|solve|answer|find|determine|figure|tell)|(?:i|we)\s+(?:was|were|am|are|['’]m)?\s*(?:not able|unable|not sure about the answer|give up|gave up)|i['’]m (?:not able|unable)|(?:not|n['’]t) (?:have |enough |sufficient )+information|insufficient information|rather not|(?:won['’]t|will not|refuse to|decline to) (?:state|give|commit|answer|guess)|(?:is|are)(?: not|n['’]t) (?:uniquely )?determined|(?:have|has)(?: not|n['’]t) (?:yet )?(?:solved|derived|computed|verified|worked)|have no (?:idea|answer|clue|solution)|no idea|unable to (?:solve|answer|determine|find)|give up|gave up)(?![\p{L}])/iu

/** Statements that work remains: "To get the area we still need one more side". */
export const unfinished =
  /(?<![\p{L}])(?:still|yet) (?:need|have|must|remains?)(?: to)?\b|(?<!all )\b(?:we|i|you) (?:also |still )?need (?:to|one|two|another|more|the|its|a)\b|\bran out of|\bremain(?:s|ing) to be|\bit remains to|\bremaining (?:\w+ )?(?:steps?|parts?|work|cases?)|\bleave (?:it|the rest|this)? ?to (?:you|the reader)|\bto be continued|\bthen\b[^.]{0,60}\b(?:must|needs? to|ha(?:s|ve) to) (?:still |also )?be\b|\b(?:step|part) is (?:still )?missing/iu

/** Announcements that the next line is not meant seriously. */
export const announcement =
  /(?<![\p{L}])(?:(?:ignore|disregard|skip|do not (?:use|count|grade|take)|don['’]t (?:use|count|grade|take))\b[^.]{0,30}\b(?:next|following|below)|(?:next|following|below)\b[^.]{0,30}\b(?:wrong|incorrect|false|not (?:the|my|an?) (?:final )?answer|to be ignored|invalid|an? example|a placeholder))/iu

/** Concluding words, which end the scope of a doubt. */
export const conclusion =
  /以上より|以上から|(?<![\p{L}])(?:so|thus|hence|therefore|then|consequently|finally|but|тож|which (?:leaves|gives|yields)|leaving|giving|yielding|rather|whence|in fact|actually|instead|we (?:get|find|have|obtain|conclude|see)|in (?:conclusion|total)|dann|also|somit|daher|folglich|deshalb|alors|donc|ainsi|entonces|luego|por (?:lo )?tanto|allora|quindi|dunque|então|logo|portanto|dus|alltså|altså|derfor|därför|atunci|deci|prin urmare|więc|zatem|tedy|proto|takže|dakle|siis|tehát|torej|öyleyse|dolayısıyla|vậy|nên|maka|jadi|значит|следовательно|поэтому|тогда|отже|тому|άρα|συνεπώς|aber|sondern|mais|sino|pero|ma|bensì|mas|maar|men|utan|dar|ci|ale|lecz|nýbrž|mutta|vaan|hanem|ama|fakat|nhưng|tetapi|melainkan|но|а|але|αλλά)(?![\p{L}])|所以|因此|故|于是|於是|则|則|而是|但|よって|したがって|故に|ゆえに|しかし|따라서|그러므로|하지만|إذن|لذلك|لذا|فإن|وبالتالي|لكن|بل|לכן|אז |אלא|אבל|بنابراین|इसलिए|अतः|बल्कि|लेकिन|সুতরাং|কিন্তু|ดังนั้น|จึง|แต่/iu

/** Adversative words, which contrast with an apparent fact. */
export const turn =
  /(?<![\p{L}])(?:but|however|so|thus|hence|therefore|in fact|in reality|actually|really|(?:should|must|ought to) (?:instead |rather |have been |really )?be|(?:true|correct|right|actual|real) (?:answer|value|one|result|minimum|maximum|number|solution|total|probability)|tatsächlich|in wirklichkeit|en réalité|en fait|en realidad|in realtà|na verdade|eigenlijk|in werkelijkheid|egentligen|i virkeligheten|de fapt|w rzeczywistości|ve skutečnosti|zapravo|todellisuudessa|valójában|aslında|thực ra|sebenarnya|на самом деле|насправді|στην πραγματικότητα|aber|doch|sondern|mais|pero|sino|ma|però|mas|maar|men|dar|ale|lecz|jednak|mutta|azonban|ama|fakat|nhưng|tetapi|но|однако|але|αλλά|όμως)(?![\p{L}])|其实|其實|事实上|实际上|实际|實際|実は|実際|사실|실제로|في الحقيقة|في الواقع|למעשה|בעצם|در واقع|दरअसल|वास्तव में|আসলে|อันที่จริง|จริง ๆ|但|しかし|하지만|لكن|אבל|אך|اما|लेकिन|কিন্তু|แต่/iu

/** English verbs of identity, such as "is". */
export const identity =
  /(?<![\p{L}])(?:is|are|was|be|equals?|gives?|get|gets|got|obtain|have|has|becomes?|yields?|leaves?|find|found|see|shows?|conclude)(?![\p{L}])|=/iu

/** Verbs of identity in all languages. */
export const copula =
  /(?<![\p{L}])(?:is|are|was|be|equals?|gives?|get|gets|got|obtain|have|has|becomes?|yields?|leaves?|find|found|see|shows?|conclude|ist|lautet|beträgt|ergibt|erhalten|est|vaut|donne|es|queda|è|vale|é|fica|blir|är|er|este|to|je|on|equals|wynosi|là|adalah|равно|равен|ответ|είναι)(?![\p{L}])|=|是|为|為|は|은|는|هو|هي|היא|הוא|คือ/iu

/** Words between two stated values that mark the first as an intermediate step. */
export const sequence =
  /(?<![\p{L}])(?:so|thus|hence|therefore|then|next|finally|in total|total|altogether|step|steps|first|second|third|after|adding|add|added|double|doubling|multiply\w*|subtract\w*|dividing|sum|we (?:get|have|obtain|find|now)|gives|final|combin\w+|together|overall|now|using|also|similarly|part|case|substitut\w*|plug\w*|hence|from (?:this|which)|also|somit|daher|folglich|schließlich|insgesamt|alors|donc|ainsi|enfin|entonces|luego|por (?:lo )?tanto|finalmente|quindi|infine|então|logo|portanto|dus|tenslotte|alltså|slutligen|deci|zatem|więc|tehát|siis|следовательно|значит|итого|отже|άρα)(?![\p{L}])|所以|因此|于是|最后|最終|よって|したがって|따라서|إذن|לכן|ดังนั้น/iu

/** Words between two stated values that retract the first. */
export const correction =
  /(?<![\p{L}])(?:actually|wait|no|nope|correction|corrected|edit|typo|slip|on (?:second thought|reflection)|mistak\w*|error|wrong|incorrect|scratch|instead|should (?:have been|be)|sorry|oops|whoops|recheck\w*|re-check\w*|rather|not|n['’]t|isn['’]t|revis\w*|recount\w*|reconsider\w*|redo|forgot|miscount\w*|misread|nein|halt|falsch|fehler|korrektur|verrechnet|non|faux|erreur|attendez|trompé|espera|error|equivoqué|incorrecto|mal|sbagliato|errore|aspetta|errado|erro|espere|fout|nee|wacht|fel|nej|vänta|fejl|feil|vent|greșit|stai|błąd|pomyłka|chwila|špatně|chyba|väärin|virhe|hiba|rossz|yanlış|hata|hayır|sai|nhầm|salah|tunggu|нет|неверно|ошиб\p{L}*|подождите|неправильно|ні|λάθος|όχι)(?![\p{L}])|错|錯|不对|不對|等等|更正|間違|誤り|訂正|待って|いや|틀렸|잘못|정정|아니|خطأ|أخطأت|انتظر|טעיתי|טעות|רגע|שגוי|اشتباه|गलत|रुकिए|ভুল|ผิด|เดี๋ยว/iu

/** A sentence that instructs the reader what to write. */
export const imperative =
  /^[\s*_"“(>-]*(?:please |kindly |then |always |just |only )?(?:(?:write|put|give|box|enter|state|report|reserve|keep|save|hold|provide|submit|return|express|print|output|replace|use|insert|include|type)(?:\s*$|\s+(?:down |out )?(?:your|the|a|an|it|this|that|any|only|like|final|answer|result|value|number|[□‹]))|prove or disprove|(?:show|prove|demonstrate|verify)\s+that|(?:answer|respond|reply|end|finish|conclude)\s+(?:with|as|like|in|by|your)|(?:end|finish) your)(?![\p{L}])/iu

/** An answer under a counterfactual condition. */
export const conditional = /\bwould (?!like\b)\w+|\b(?:you|we|i|it|one)['’]d (?:get|have|obtain|find|be|need)\b/i

/** "So the answer would be" means the same as "So the answer is". */
export const plainly =
  /^\W*(?:(?:so|thus|hence|therefore|then|and|finally)\W+)?(?:the|my|our) (?:final |correct )?answer would be\W*$/i

/** Predicates that may follow an answer at the start of its sentence. */
export const subject =
  /^[\s□.*_)\]}$]*(?:,?\s*(?:is|was|must be|are|as|=)\s+(?:therefore |thus |hence |then |indeed |clearly )?(?:the|our|my|what was|what we|exactly)\b(?!\s+(?:only option|wrong|incorrect|false|first|second|other|previous|old|last|naive|same as|number of options|trap|decoy|answer to (?:another|a different|the previous|the wrong)))(?:\s+\w+)*?\s+(?:answer|solution|result|value|number|total|sum|asked|wanted|want|need|required|count|minimum|maximum|probability|area|only)|[,;:(–—-]|(?:\s*(?:in total|total|altogether|in all|of them|more|left|as (?:required|desired|claimed|needed))\b)|(?:\s+(?:square|cubic|sq\.?|cu\.?|more|such|different|possible|distinct|red|blue|green))*\s+(?:[a-z]+s|cm|km|mm|m|kg|g|h|min|mph|ft|percent|children|people|men|women|feet|inch)(?:\^?\d|[²³])?(?:\s*[.,;)]|\s*$|\s+(?:in|of|per|because|since|left|altogether|exist|remain|can be (?:made|formed|chosen|seated|arranged|constructed|drawn|selected|written|built|created|produced))\b)|\s+(?:since|because|for|by|using|with|from|per|mod)\b)/i

/** Nouns and adjectives from mathematics and measurement that describe a value. */
const terms =
  "absolute acceleration acute addend adjacent age ages algebraic altitude amount amplitude antiderivative apothem arc arithmetic arrangements asymptote asymptotes average axis balance base basis bearing bill binary binomial budget capacity cartesian center centre centroid change charge chord circle circumradius codomain coefficient coefficients combinations common complex component components composite composition concentration cone congruence conjugate constant coordinate coordinates cosine critical cross cube cubic cumulative current curve cylinder date day days decay decimal decimals decreasing deficit degree degrees denominator density deposit depth derivative determinant deviation diagonal diameter digit digits dimension dimensions direction discount discriminant distinct divisor divisors domain dot duration edge edges eigenvalue eigenvalues eigenvector ellipse endpoint endpoints energy entries entropy even event exponent exponents exponential expected exterior faces factor factorisation factorization factors factorial fee focus foci force form formula fraction frequency function functions gain gcd gcf geometric gradient graph growth half harmonic hexadecimal horizontal hours hyperbola hypotenuse identity imaginary improper income increasing increase decrease index inequality infinite inner integral intercept intercepts interest interior intersection interval intervals inverse irrational kinetic lateral lcm leading leg legs limit line linear local log logarithm loss magnitude margin mass matrix maximal maxima mileage midpoint minima minimal minutes mixed modulus moment momentum month months multiple multiples multiplicity multiplier natural net nonzero norm normal notation numerator oblique octal odd odds optimal order ordered origin orthogonal outcome outcomes pace pair parabola parallel parameter partial pattern payment percent percentage percentile period permutations perpendicular phase place placevalue plane point points polar polygon polynomial population position possibilities potential power powers pressure prime primes principal prism profit proportion purchase pyramid quadrant quadratic quadrilateral quantity quarter quartile radian radians radical radius range rank rational real reciprocal rectangle rectangular recurrence reflection region relation remaining rent residue resistance retail revenue root roots rotation rounding salary sale sales sample savings scalar scale score scores secant seconds sequence series set sector sides side sign significant sine singular size slope smallest largest space sphere spread square squares standard subtotal supplement surface symmetric tangent tax temperature tension tens hundreds ones term tip torque transpose triangle trinomial tuition turning union unit units unknown unknowns value variance variable variables vector vectors velocity vertex vertical vertices voltage wage wages wavelength weight weights whole width work x-intercept y-intercept x-intercepts year years yield zero zeros ratio pmf cdf pdf equation equations inequality number-line roman numeral numerals mod cosine derivative integer integers perfect"

/** Words of a short lead-in with a colon that introduces an answer. */
export const leads = new Set(
  `${terms} tldr tally figure json ergo value's confirmed brute force python code simulation program inspection hand there you have winner the a an of for to in is are we our my i so thus hence therefore then and finally final answer answers ans result results solution solutions value values total totals sum sums area areas volume perimeter circumference length width height probability chance number numbers count counts ways pairs integers triples solutions product difference quotient ratio remainder minimum maximum mean average median mode cost price time distance speed rate angle degree degrees step steps part conclude concluding conclusion summary simplify simplified simplifying simplification combine combining compute computing calculate calculating calculation evaluate evaluating add adding addition sum summing subtract subtracting multiply multiplying divide dividing substitute substituting back box boxed box short long factored expanded corrected revised updated it exact exactly correct right numerical get obtain have find this that gives give yields yield equals required requested desired asked x y n k m z a b c d p q r s t let me write put here following format will all together overall altogether everything end solve solving solved which by from at with form simplest lowest terms expression equation be both i'll i'd my best as follows below state report double checked twice verified confirmed submit output`.split(
    " "
  )
)

/** Lead-in words in other languages. */
export const foreignLeads = new Set(
  "slutgiltigt slutgiltiga slutliga endelige endelig definitieve definitiva definitivo definitiv lopullinen végső ostateczna ostateczny końcowa końcowy konečná konečný konečná nihai kesin akhir окончательный итоговый остаточна кінцева τελική soluzione solución solução soluție oplossing lösning løsning rozwiązanie řešení odp rép resp risp antw отв відп искомое искомая искомый число значение получаем имеем получим находим отсюда получается отримуємо маємо всего осталось залишилось всього de donde resumen résumé resumo riassunto samenvatting sammanfattning podsumowanie вывод en in riepilogo итак отже resumiendo fazit 'où d'où où d lautet lauten beträgt ergibt vaut vale donne est è é jest to wynosi je är er este adalah die der das den dem ist also somit daher folglich endgültige endgültig finale richtige gesuchte damit insgesamt summe fläche anzahl wert wahrscheinlichkeit schluss zusammenfassung la le les el los las lo il i gli o os as un une una final finale finala définitive correcte exacte donc ainsi conclusion somme aire total totale valeur nombre probabilité définitif es por tanto correcta definitiva suma área valor número resultado entonces conclusión quindi corretta definitiva somma valore numero conclusione portanto correta soma conclusão het een dus definitieve juiste som oppervlakte waarde aantal totaal det slutliga slutgiltiga alltså rätt summa värde antal endelige endelig endeligt đáp số án câu trả lời kết quả rigtige riktige sum torej prin urmare finală corect sumă valoare număr końcowa ostateczna wynik suma pole liczba tedy konečná výsledná součet hodnota lopullinen oikea végső helyes összeg son nihai doğru toplam sonuç cuối cùng tổng akhir jumlah luas итоговый окончательный итого сумма площадь значение число вероятность правильный остаточна остаточний сума площа τελική σωστή άρα النهائية النهائي الصحيح הסופית סופית נכונה نهایی अंतिम सही চূড়ান্ত".split(
    " "
  )
)

/** Symbols next to an answer that mark it as wrong. */
export const crosses = /[✗✘❌✖❎🚫⛔👎]/u
