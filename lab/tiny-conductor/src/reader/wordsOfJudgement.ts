/**
 * Words for praise and criticism, checking, care and breadth. They were looked up among the synonyms, antonyms and
 * hyponyms of common words in WordNet, so that they do not reflect one author's choice. Combinations that match a
 * phrase held out by the gym are discarded and drawn again.
 */

const list = (text: string): ReadonlyArray<string> => text.split("|")

/** Qualities of a worker or of its work. */
export const qualities = {
  good: list(
    "good|skilled|adept|expert|practised|proficient|skilful|competent|able|capable|reliable|dependable|excellent|first-class|splendid|strong|accurate|effective|efficient|superior|outstanding|impressive|brilliant|superb|talented|gifted|knowledgeable|learned|well-read|sound|confident|fluent|smooth|successful|qualified|perfect|trustworthy|trusty|experienced|very good|great|keen|neat|nifty|smashing|satisfactory|decent|solid|accomplished|consummate|masterful|masterly|technical|versatile|workmanlike|surefooted|resourceful|certain|sure|tested|tried and true|powerful|robust|rugged|fortified|correct|right|faithful|true|potent|useful|first-rate|super|topnotch|top-notch|select|choice|prime|sterling|superlative|high-performance|classic|premium|shining|supreme|surpassing|amazing|awesome|sensational|stunning|astonishing|astounding|dazzling|spectacular|striking|grand|formidable|glorious|magnificent|educated|fit|safe|secure|stable|assured|self-assured|graceful|productive|undefeated|flourishing|thriving|victorious|winning|well-qualified|flawless|errorless|faultless|ideal|honest|responsible|trusted|fully fledged|seasoned|veteran|admirable|clever|bright|smart|quick-witted|sharp|intelligent|unbeatable|unrivalled|unmatched|unsurpassed|exceptional|extraordinary|remarkable|marvellous|wonderful|fantastic|terrific|fabulous|exquisite|fine|worthy|commendable|praiseworthy|laudable|exemplary|best|better than most|ahead of all|deft|dexterous|handy|nimble|agile|steady|consistent|unfailing|trustable|recommended|well-trained|well-prepared|world-class|peerless|matchless|polished|refined|mature|sensible|insightful|perceptive|wise|astute|lucid|commanding|convincing|persuasive|rewarding|valuable|helpful|beneficial|advantageous|favourable|promising|prized|cherished|celebrated|renowned|respected|esteemed|acclaimed|at ease|well-suited|well equipped|in its element|a delight|a joy|on top|top|high|unproblematic|effortless|easy|trouble-free|welcome"
  ),
  weak: list(
    "bad|weak|poor|incompetent|unqualified|awkward|clumsy|cumbersome|inapt|inept|unskilled|undependable|unreliable|unable|inaccurate|incorrect|wrong|hopeless|incapable|inferior|inexperienced|useless|ineffective|ineffectual|unsuccessful|deficient|lacking|wanting|ignorant|unlearned|defective|faulty|baffled|befuddled|bemused|bewildered|confounded|confused|mixed-up|awful|dire|dreadful|fearful|frightening|horrendous|horrific|terrible|ungainly|unwieldy|unfit|inadequate|unequal|helpless|incapacitated|untrustworthy|unfavourable|worse|worst|atrocious|abominable|painful|deplorable|lamentable|pitiful|sad|sorry|frightful|horrid|lousy|rotten|mediocre|negative|no-good|unsuitable|powerless|feeble|lame|flimsy|puny|vulnerable|limp|broke|unskilful|bungling|fumbling|crude|rough|out of practice|rusty|fallible|imprecise|mistaken|false|improper|erroneous|fallacious|discouraging|impossible|abject|bleak|dim|despairing|desperate|forlorn|low|outclassed|naive|callow|raw|new|unpractised|unversed|unseasoned|untested|untried|futile|unavailing|meaningless|unusable|idle|inefficient|toothless|unproductive|defeated|unfortunate|disappointing|disappointed|frustrated|frustrating|thwarted|done for|ruined|washed-up|empty-handed|pointless|self-defeating|winless|uneducated|imperfect|perplexed|puzzled|alarming|missing|wasted|unsatisfactory|dishonest|devious|shifty|slippery|tricky|troublesome|problematic|questionable|doubtful|dubious|suspect|risky|dangerous|unsafe|unsound|hazardous|insecure|uncertain|unsure|unsteady|wobbly|shaky|patchy|spotty|second-rate|third-rate|substandard|subpar|below average|worthless|laughable|ridiculous|embarrassing|shameful|disgraceful|miserable|wretched|dismal|grim|appalling|disastrous|catastrophic|ruinous|fatal|nightmarish|foolish|stupid|dumb|dull|slow-witted|dense|thick|clueless|mindless|senseless|absurd|nonsensical|illogical|muddled|jumbled|garbled|chaotic|messy|untidy|half-baked|half-hearted|shallow|superficial|limited|restricted|handicapped|crippled|overwhelmed|overburdened|overtaxed|swamped|stuck|blocked|barred|off-limits|forbidden|discouraged|inadvisable|unwise|ill-advised|ill-suited|ill-equipped|ill-prepared|unprepared|untrained|unready|unfamiliar|blind|deaf|afraid|scared|terrified|nervous|anxious|uncomfortable|uneasy|ill at ease|unhappy|unwilling|reluctant|a burden|a pain|a problem|a risk|a mistake|not enough|below par|behind|last|low"
  )
} as const

/** Nouns for a worker. */
export const people = {
  good: list(
    "expert|specialist|master|maestro|ace|champion|adept|maven|virtuoso|genius|star|superstar|whiz|wizard|mastermind|brain|authority|professional|veteran|all-star|past master|old hand|craftsman|artist|prodigy|winner|hero|leader|guru|hotshot|favourite|scholar|doyen|connoisseur|record-holder|front-runner|pro|crack|giant|oracle|sage|luminary|heavyweight|great talent|power|force|treasure|asset|blessing|success|pillar|rock"
  ),
  weak: list(
    "beginner|novice|failure|fool|amateur|loser|bungler|blunderer|fumbler|bumbler|sad case|botcher|butcher|apprentice|greenhorn|rookie|newcomer|fledgling|starter|freshman|newbie|trainee|flop|dabbler|dilettante|clown|buffoon|dunce|dud|lemon|disaster|catastrophe|liability|burden|nuisance|menace|danger|disappointment|write-off|weakling|cripple|ignoramus|laggard|straggler|misfit|stranger|outsider|layman|bad choice|poor choice|wrong choice|waste of time|waste of money|guesser|bluffer|pretender|impostor|laughing stock|also-ran|non-starter|risk|problem child|mess|nightmare|joke"
  )
} as const

/** Verbs for what a worker does. */
export const deeds = {
  good: list(
    "excels|stands out|surpasses all|masters|succeeds|wins|delivers|knows its way|manages well|understands|solves all|works well|copes easily|shines|outperforms the rest|prevails|triumphs|leads|impresses|convinces|satisfies|gets it right|hits the mark|nails it|cracks it|pulls it off|carries the day|tops the list|beats everyone|outshines others|outdoes others|performs superbly|goes far|achieves much|thrives|flourishes|is right|finds the answer|makes sense of|grasps|comprehends|has a firm grip|scores high|passes|aces|dominates|rules|sparkles|amazes|pleases|is worth its price|earns its keep|can be believed|can be trusted|helps most|is the one to pick|knows best|makes light work|does a fine job|does splendidly|is at its finest"
  ),
  weak: list(
    "fails|goes wrong|errs|mistakes|slips|confuses things|struggles|misinterprets|misunderstands|falters|wavers|misses|botches|bumbles|fumbles|muffs|blows it|screws up|spoils|mucks up|bungles|messes up|blunders|flounders|misidentifies|disappoints|lets you down|collapses|caves in|gives up|breaks down|founders|loses track|chokes|flops|misremembers|slips up|trips up|misjudges|misreads|miscounts|overlooks things|buckles|crumples|sinks|drowns|suffers|despairs|panics|surrenders|quits|loses|guesses blindly|talks nonsense|makes things up|invents answers|hallucinates|rambles|muddles|garbles|mangles|ruins|wrecks|wastes your time|misleads|deceives|annoys|bores|frustrates|is wrong|is mistaken|cannot be believed|is a gamble|drops the ball|hits a wall|runs into trouble|has nothing to offer|knows nothing|lags behind|comes last|scores low|flunks|is beaten|does badly|does terribly|is at its lowest|makes a mess|makes blunders|breaks"
  )
} as const

/** Nouns for what a worker has. */
export const having = {
  good: list(
    "has talent|has skill|has great skill|shows mastery|has a knack|has flair|has an aptitude|has proficiency|has expertise|has command|has know-how|has experience|brings experience|has long experience|has deep knowledge|shows strength|has ability|has power|shows brilliance|shows genius|has authority|has success|has no difficulty|has no difficulties|has no problem|has no rivals|has no equal|has few rivals|has an advantage|has the edge|has confidence|has insight|has a steady hand|has a sure touch|has a firm hold|shows excellence|has perfect results|has an excellent reputation|has a good name|has our trust|has our full confidence|has every qualification|has much to offer|has all it takes|has what it takes|brings quality|has a feel|has instinct|has a strong grasp|has good sense"
  ),
  weak: list(
    "has no talent|has no skill|has little skill|has no clue|has no idea|has problems|has difficulty|has great difficulty|has difficulties|has trouble|shows weakness|has a weakness|has weaknesses|has shortcomings|shows ignorance|shows incompetence|has defects|has flaws|has faults|has no experience|has little experience|has no knowledge|has no ability|has no understanding|has a handicap|has limits|has limitations|has bad luck|has bad results|has a bad reputation|has a bad name|has a poor record|has no training|has no business|has no future|has no chance|has no success|has little success|has a blind spot|has a gap|has gaps|has nothing to say|has much to learn|has a long way to go|has no feel|has no instinct|has no grasp|has a weak grasp|has no confidence|has failed us|shows confusion|shows no sense|has deficits|brings trouble|brings confusion"
  )
} as const

/** Advice to the person who asks. M is another worker. */
export const advice = {
  good: list(
    "trust it with X|rely on it in X|let it do X|choose it for X|pick this for X|prefer it for X|call on it for X|reserve it for X|keep it for X|give all X to it|pass X on to it|X belongs here|X is in good hands|X? this one|X? certainly|X: gladly|we recommend it for X|praised for X|famous for X|known for its X|valued for X|admired for X|loved for X|hired for X|X is its job|X is its profession|X is its passion|X is its forte|X is its speciality|X is its strong point|nothing about X is new to it|X holds no secrets from it|X never fails|X always works|X works|go ahead with X|feel free to ask it X|certified for X|approved for X|licensed for X|X to perfection|X in its sleep|M envies its X|better than M at X|beats M at X|ahead of M in X|outperforms M on X"
  ),
  weak: list(
    "do not trust it with X|do not rely on it in X|do not let it do X|do not choose it for X|prefer M for X|keep it off X|keep it out of X|spare it X|stay away with X|X belongs with M|pass X on to M|hand X to M|reserve X for M|use M for X|hire M for X|pick M for X|X is better done by M|M does X better|X? try M|X? no|X? never|X: never|X: forget it|X: hardly|not approved for X|not licensed for X|not certified for X|banned from X|warned off X|notorious for bad X|feared for its X|criticised for X|complaints about X|X complaints|we regret X|we do not recommend it for X|X is its downfall|X is its weak side|X is its undoing|X is a risk|X never works|X does not work|X fails|X breaks it|X is too much for it|X is too hard for it|X overwhelms it|X defeats it|X baffles it|X puzzles it|worse than M at X|loses to M at X|behind M in X|beaten by M on X|X was a failure|X was a mistake|except X|anything except X|all except X|save for X|with the exception of X|X excluded|excluding X|minus X|stops at X|ends where X begins"
  )
} as const

/** Other workers. */
export const others = list(
  "another|another model|another worker|a colleague|the others|a different one|someone better|the competition|one of the rest|an expert|a specialist|its rivals|its neighbour|other models"
)

export const prepositions = list(
  "at|in|with|on|about|for|when it comes to|where it is about|as regards|as far as it concerns|concerning|in matters of|in the field of|in all of|with anything like|in questions of|on the subject of|regarding|around"
)

export const negators = list(
  "not|not at all|never|hardly|scarcely|anything but|far from|by no means|not really|not exactly|not very|in no way|rarely|nowhere near|less than|not the least bit|barely"
)

export const degrees = list(
  "very|quite|rather|really|extremely|truly|somewhat|fairly|pretty|highly|downright|always|often|mostly|usually|generally|completely|particularly|especially|notably|utterly|thoroughly|a bit|clearly|surprisingly|simply|plainly|known to be|said to be|proven|reportedly"
)

/** What a checking worker does with the work of others. */
export const checking = list(
  "checks|verifies|reviews|inspects|judges|evaluates|assesses|appraises|audits|scrutinises|corrects|rates|grades|analyses|examines|confirms|validates|criticises|approves|ratifies|marks|vets|umpires|scores|reassesses|reexamines|screens|controls|tests|supervises|monitors|oversees|proofreads|revises|certifies|endorses|rejects|passes judgement on|compares|cross-checks|second-guesses|weighs|ranks|sorts out|decides between|arbitrates between|finds faults in|finds errors in|spots errors in|detects mistakes in|goes through|goes over|reads over|keeps watch over"
)

export const checkers = list(
  "judge|critic|reviewer|inspector|examiner|tester|evaluator|auditor|arbiter|appraiser|censor|checker|arbitrator|umpire|assessor|controller|verifier|validator|grader|marker|supervisor|proofreader|overseer|watchdog|moderator|jury|gatekeeper|corrector|adjudicator|final authority|quality inspector|fact-checker|cross-checker|devil's advocate"
)

/** Work that is checked. */
export const works = list(
  "answers|solutions|results|work|attempts|replies|responses|proposals|claims|drafts|outputs|conclusions|finished work|given answers|candidate answers|several answers|two answers|rival answers"
)

export const ofOthers = list(
  "of others|by others|of other models|from the team|of colleagues|that others gave|that others made|that somebody else did|others have written|others came up with|from other workers|made elsewhere|of the rest|handed in by others|before they go out"
)

export const carelessness = list(
  "careless|negligent|hasty|headlong|sloppy|inaccurate|erratic|fickle|mercurial|rash|imprecise|inconsistent|undependable|unreliable|forgetful|imprudent|inattentive|incautious|superficial|casual|cursory|perfunctory|haphazard|slipshod|heedless|reckless|offhand|derelict|neglectful|remiss|lax|slack|hurried|untidy|inexact|faulty|wide of the mark|changeable|variable|self-contradictory|uneven|patchy|fallible|unmindful|mindless|absent-minded|distracted|impatient|impulsive|slovenly|lazy|thoughtless|scatterbrained|overhasty|in a rush|rushed|precipitate|unsteady|unfocused|hit or miss|nonchalant|lackadaisical|wobbly|moody|capricious|unpredictable"
)

export const exactness = list(
  "exact|accurate|precise|perfect|careful|infallible|faultless|immaculate|impeccable|thorough|conscientious|painstaking|scrupulous|correct|right|literal|mathematical|rigorous|strict|faithful|dead-on|surgical|true|dead on target|punctilious|on the button|refined|unblemished|errorless|flawless|diligent|prudent|detailed|minute|particular|studious|foolproof|unfailing|inerrant|word-perfect|pedantic|fastidious|attentive|dependable|mistake-free|watertight|clockwork|methodical|exacting|pinpoint|razor-sharp|consistently right|bulletproof"
)

export const slips = list(
  "errors|mistakes|slips|faults|blunders|oversights|omissions|lapses|flaws|mix-ups|miscalculations|wrong answers|gaffes|inaccuracies|misprints|false results|slip-ups"
)

export const care = list(
  "care|accuracy|precision|attention|diligence|exactness|rigour|thoroughness|caution|patience|concentration|correctness|discipline|attention to detail"
)

export const breadth = list(
  "versatile|cosmopolitan|general|universal|generalist|broad|comprehensive|all-around|all-round|well-rounded|varied|unspecialised|general-purpose|all-purpose|generic|sweeping|across-the-board|all-embracing|all-encompassing|all-inclusive|extensive|encyclopedic|omnibus|all-rounder|polymath|many-sided|multifaceted|catholic|eclectic|interdisciplinary|multi-talented|polyvalent|utility player|maid of all work|handyman|factotum|wide-ranging|everyman|general assistant|unlimited|for all purposes"
)
