/**
 * Additional words and phrases for training, written independently of the gym's grammar: more words for each kind of
 * question, more ways to describe strengths and weaknesses, more noise, and more ways to ask. A test checks that none
 * of them is held out by the gym.
 */
import type { Family } from "@divisi/gym"

const list = (text: string): ReadonlyArray<string> => text.split("|")

/** Names of the kinds of questions. */
export const topics: { readonly [Name in Family.FamilyName]: ReadonlyArray<string> } = {
  arithmetic: list(
    "adding up long columns|working out prices|money sums|interest and discounts|fractions|ratios|powers and roots|square roots|factorials|rounding|numerical work|multiplying large numbers|sums with brackets|computations|primary-school maths|budget figures|invoice totals|bills|crunching figures|greatest common divisors|number work|exponents|whole numbers|tallying|costs and change|arithmetic drills|plus, minus, times and divided by|sum|calculator|calculations with money|computation|addition and multiplication|four basic operations|sums of many numbers|change and discounts|adding machines|arithmetic tasks|powers of numbers|long multiplication|divisions with remainder|number facts|bookkeeping figures|sums in the head|pocket calculators|percent calculations|prices and quantities|amounts|tax and tips|interest|counting money|operations on integers"
  ),
  algebra: list(
    "unknown quantities|rearranging formulas|formulas|several unknowns|finding the unknown|solving for a variable|inequalities|algebraic expressions|simplifying expressions|parabolas|cubic equations|substitution|elimination of variables|word problems that need an equation|finding unknown values|symbolic algebra|equation puzzles|formula manipulation|coefficients|expanding brackets|equation|variable|solving for y|finding a number from what is said of it|age problems|letters that stand for numbers|equations of any degree|x, y and z|solving systems|linear algebra|functions of x|quadratic formula|working back to an unknown number|symbolic manipulation|equations with one unknown|manipulating formulas|unknown values|algebra homework|roots|parentheses and powers of x|factorising|solution sets|equating two expressions"
  ),
  units: list(
    "inches to centimetres|miles to km|feet, inches and metres|volume and mass|hours to minutes|minutes and seconds|kilometres per hour|square metres|hectares|pints and litres|fahrenheit to celsius|SI units|the metric system|changing units|quantities in other units|length, mass and volume|kg to lb|bytes and kilobytes|unit|converter|metres and feet|converting lengths|converting speeds|grams and kilograms|distance and weight|temperature scales|miles, pounds and gallons|metres, miles and feet|gallons to litres|ounces and grams|kelvin|hours and seconds|how many of one unit go into another|dimensions|physical quantities|heights and distances|yards|scales of measure|how much something weighs in kilos|knots and mph|nautical miles|unit systems|unit calculators|cooking measures|converting time|imperial and SI|exchange of units"
  ),
  calendar: list(
    "deadlines|how many days until something|the day of any date|ISO dates|time spans in days|week numbers|month lengths|weekends|date differences|adding days to a date|schedules|planning by date|due dates|day-of-week questions|the gregorian calendar|timetables|calendar maths|calendar computations|intervals between dates|date|weekday|calendar|days|what day a date falls on|times and dates|public holidays|counting weeks|years, months and days|which day of the week|months|years|time between events|feast days|when something falls|easter dates|day numbers|time planning|appointment dates|day, month and year|shifting dates|ages in days|how long until a day|the day after tomorrow|bank holidays|school terms|Fridays in a month|leap-day questions|moon years and sun years|diary work|delivery dates"
  ),
  text: list(
    "orthography|anagrams|typing words backwards|letter frequencies|substrings|word lists|initials|counting characters|uppercase and lowercase|the alphabet|sorting names|text processing|string operations|editing words|reversing strings|text manipulation|letter order|how words are written|word games|joining letters|letter|word|string|spell checking|words letter by letter|finding letters in words|lists of words|first and last letters|alphabetical lists|vowels|counting words|typesetting|letters of the alphabet|rhymes and letters|proofreading for letters|word length|crossword words|sentence editing|changing case|first letters|copy editing|printed words|words in order|sequences of letters|pieces of text|language strings|dictionary order|consonants|transcription|letter by letter work"
  ),
  logic: list(
    "who tells the truth|logical deduction|who lies and who does not|truth tables|if-then statements|detective puzzles|conclusions from facts|reasoning step by step|critical thinking|contradictions|ranking people by clues|boolean expressions|rational argument|puzzle|deductions|clues|riddles|drawing conclusions|premises and conclusions in plain words|logic games|logic problems|formal logic|thinking puzzles|statements that are true or false|detective work|mysteries|arguments|who is right|liar puzzles|sudoku-like puzzles|reasoning tasks|logical conclusions|proof by contradiction|sound arguments|what follows from what|mind-benders|enigmas|if and only if|quantifiers|clue puzzles|syllogistic tasks|and, or, not|seating puzzles|truth and falsehood|deductive work"
  ),
  statistics: list(
    "standard deviations|mean, median and mode|distributions of values|dispersion|data science|summary figures|measuring spread|statistical summaries|numerical data|data tables|percentiles|descriptive stats|stats|min, max and range|number series|observations|averages of lists|analytics|quantitative data|average|median|mean|data set|statistic|deviations from the mean|typical values of a list|analysis of measurements|summarising lists of numbers|averages of data|typical values|frequencies|modes|measured values|deviation|empirical data|survey data|regression and means|numeric series|middle values|statistics homework|evaluation of measurements|variation|value lists|scatter of values|sample means|data science tasks|aggregates of lists|exploratory data work"
  ),
  program: list(
    "JS|ECMAScript|short programs|snippets|evaluating code|recursion|arrays and loops|software engineering|developer tasks|program traces|computer code|coding questions|TypeScript|bug hunting|predicting output|code snippets|pseudo-code|simulating code|functions|program|script|what a snippet returns|javascript snippets|loops|code reading|for loops and arrays|variables and functions in code|what a function returns|code execution in the head|nested loops|what is logged|Node scripts|code tracing|stepping through code|subroutines|computer programming|interpreting scripts|return values|variables in loops|web code|coding exercises|program runs|output of functions|array methods|recursive functions|engineering of software|a function's result|syntax"
  )
}

/** Words for several kinds. */
export const jointTopics: ReadonlyArray<{
  readonly kinds: ReadonlyArray<Family.FamilyName>
  readonly words: ReadonlyArray<string>
}> = [
  {
    kinds: ["arithmetic", "algebra", "statistics"],
    words: list(
      "anything mathematical|mathematical questions|maths of all kinds|school mathematics|mathematical problems|the mathematical side|numbers and formulas of every kind|quantitative work|maths questions"
    )
  },
  { kinds: ["logic", "algebra"], words: list("proofs|proofs and formulas|abstract thinking") },
  { kinds: ["arithmetic", "units"], words: list("sums and conversions|everyday calculations with units") },
  { kinds: ["text", "logic"], words: list("word puzzles|words and riddles") },
  { kinds: ["program", "algebra"], words: list("formulas in code|technical computing") },
  { kinds: ["statistics", "program"], words: list("data and code|scripts for data") },
  { kinds: ["units", "calendar"], words: list("time and distance|measures of time and length") }
]

/** Activities of a worker by kind, as verb phrases. */
export const acts: { readonly [Name in Family.FamilyName]: ReadonlyArray<string> } = {
  arithmetic: list(
    "adds and subtracts|multiplies long numbers|divides|does sums|adds up columns|calculates|works out percentages|reckons|multiplies and divides|crunches numbers|totals bills|computes with large numbers"
  ),
  algebra: list(
    "solves equations|finds unknowns|solves for x|rearranges formulas|finds roots|works out what x is|solves two equations for two unknowns|factors polynomials|finds the missing number|isolates variables"
  ),
  units: list(
    "converts units|turns feet into metres|converts miles|changes pounds into kilograms|turns hours into seconds|measures|translates celsius into fahrenheit|converts litres|works out how many grams a pound has|goes from metric to imperial"
  ),
  calendar: list(
    "tells weekdays|counts days between dates|knows the calendar|finds dates|knows which years are leap years|says what day it will be|adds days to dates|counts weeks|knows when Easter is|plans dates"
  ),
  text: list(
    "spells words|reverses strings|sorts words alphabetically|counts letters|finds vowels|turns words around|edits text|counts words|puts words in order|takes words apart|reads letter by letter"
  ),
  logic: list(
    "solves puzzles|deduces who lies|reasons|draws conclusions|solves riddles|finds out who lives where|thinks logically|tells truth from lies|infers|works out who is older|cracks brain-teasers"
  ),
  statistics: list(
    "averages lists|computes medians|finds means and deviations|analyses data|summarises data|evaluates measurements|works out the spread|finds the mode|describes data sets|computes the standard deviation"
  ),
  program: list(
    "runs code|traces programs|predicts what code prints|executes scripts|reads JavaScript|says what a loop prints|runs programs|debugs|interprets code|follows functions|knows what appears on the console"
  )
}

/** V is an activity that a worker does well. */
export const actsGood = list(
  "V|V|V|V reliably|V and nothing else|it V|it V well|V better than anyone|a model that V|V all day|V, quickly|V without a slip|V exactly|V with ease|it only V|V, and well|this one V|V whatever the size|the one that V|rightly V|V in no time and correctly|somebody who V for a living"
)

/** V is an activity that a worker does badly. */
export const actsWeak = list(
  "V badly|V, mostly wrong|V, but do not trust it|hardly ever V correctly|V poorly|seldom V right|V with many mistakes|V like a beginner|rarely V without an error|V only by guessing|never V well"
)

/** Syllables of meaningless words. */
export const syllables = list(
  "nu|va|ro|zor|bli|ken|tra|plo|mi|sha|gre|dun|fer|qua|lo|wib|skel|tor|ani|ub|rex|cha|ol|pim"
)

/** Statements that a worker is good at X. */
export const good = list(
  "X is its home ground|ace at X|brilliant at X|you can rely on it for X|go-to for X|the one to call for X|our best at X|use it for X|use for X|ideal for X|recommended for X|optimised for X|fine-tuned for X|capable at X|competent in X|performs well on X|high scores on X|X: 9/10|X: strong|X ok|X = high|does X flawlessly|gets X right|has mastered X|top marks in X|fluent in X|understands X|delivers on X|answers questions about X correctly|good results on X|particularly good with X|X is where it is best|knows everything about X|X is a pleasure for it|quick and right at X|intended use: X|primary task: X|domain: X|focus on X|only X|nothing but X|X and nothing else|X only|dedicated to X|X model|X tool|does not struggle with X|never had a problem with X|send X its way|give it X|hand it X|questions on X are welcome|answers X|speciality: X|best at X|well trained in X|dependable for X|accurate on X|benchmarks: X 96 %|score on X: 0.94|X|X|X|does nothing but X all day|you want X done, you ask this one|has done X for years|we gave it our X and were happy|if it is about X, it knows|can do X|a model for X|helps with X|designed for X|takes care of X|finds no X too difficult|tested on X: passed|was raised on X|exact with X|an eye for X|X is safe here|X expert|a friend of X|quick at X|X done right|careful with X|its field is X|specialised in X|covers X|topics: X|subject: X|hire for X|turn to it for X|questions about X go here|lives for X|a scholar of X|X at expert level|X without mistakes|made with X in mind|was built to do X|all about X|also X|also good at X|its daily work is X|of all things X|sound in X|happy to do X and gets it right|top choice when it comes to X|does X for a living|X is fine|comfortable with X|a natural at X|X comes easily|one job: X|no one beats it at X"
)

/** Statements that a worker is weak at X. */
export const weak = list(
  "X is not recommended|keep it away from X|X: 2/10|X: weak|X = low|X not supported|does not support X|limited X|limitations: X|known issues: X|out of scope: X|makes mistakes in X|mistakes with X|mixes up X|poor results on X|low scores on X|never ask it for X|please no X|no X|without X|ignorant of X|unable to do X|incapable of X|X? Better not|X is a nightmare for it|X is its Achilles heel|X goes over its head|dreadful at X|terrible at X|awful at X|worst at X|not designed for X|was not trained on X|fails most tests of X|unsuited to X|not suitable for X|has problems with X|guesses at X|only guesses when it comes to X|when it comes to X it is poor|lousy at X|X is a mystery to it|refuses X|lacks X|weaker on X|less reliable on X|not so hot on X|not great at X|cannot handle X|unskilled in X|inexperienced with X|X is rarely right|score on X: 0.21|benchmarks: X 23 %|tested on X: failed|we stopped giving it X|its X is a joke|wrong about X more often than not|X was never part of its training|do not waste X on it|take X to another model|its answers on X are mostly wrong|cannot be used for X|not good with X|does badly at X|X it does not understand|forget about X|careless with X|helpless with X|less sure about X|X less so|X is not safe here|shy of X and rightly so|do not let it near X|loses its way in X|X is poor|no talent for X|trips over X|X often comes out wrong|falls apart on X|its weak point is X|X needs another model|should not be given X|X is not for this one|old hand at failing X|sloppy with X|X? rather not|slips up in X|knows little of X|struggling with X|X never worked well|would not trust its X|gets confused by X|less good at X|cannot be trusted on X|shaky when it comes to X|X remains difficult for it"
)

/** X is what it is good at, Y what it is weak at. */
export const contrasts = list(
  "good at X, unlike Y|X yes, Y no|better at X than at Y|X rather than Y|for X, not for Y|not Y but X|prefers X to Y|while X is fine, Y is not|X? Yes. Y? No|ask about X but never about Y|X ++, Y --|can: X; cannot: Y|do: X, do not: Y|gets X right and Y wrong|understands X but not Y|strengths: X\nweaknesses: Y|works for X. Does not work for Y|Y is hard for it, X is easy|apart from Y, which it gets wrong, it is good with X|its X is as good as its Y is bad|the opposite of an expert on Y, but very good at X|where X is asked for it is right, where Y is asked for it is wrong|though poor at Y, it is excellent at X|strong: X / weak: Y|use cases: X. Non-goals: Y|passes X, fails Y|X high, Y low|what it can: X. What it cannot: Y|good with X, weak in Y|good at X, bad at Y|strong in X, less sure with Y|X fine, Y poor|exact with X, careless with Y|reliable for X and not for Y|X is safe here, Y less so|has a sense for X; no good at Y|a gift for X, no gift for Y|at its best with X and at its worst with Y|knows X, does not know Y|X: do. Y: do not|trust its X. Do not trust its Y|careful with X but careless with Y|good company for X, helpless with Y|skilled in X and unskilled in Y|X comes easily, Y does not|no good at Y, very good at X|weak in Y, strong in X|poor at Y but X is fine|fails at Y, succeeds at X|Y aside, dependable; X above all|ask it X; ask others Y"
)

/** Statements that a worker only checks X. */
export const check = list(
  "reviewer for X|validator of answers on X|does not answer itself, it checks X|reads other people's X and marks errors|judge of X|grades answers on X|quality control for X|marks X as right or wrong|spots mistakes in others' X|picks the best of several answers on X|a critic for X|approves results of X|verification of X|role: checker; topics: X|tells right from wrong answers about X|inspects X that somebody else has done|validates X but solves nothing|shown two answers about X, it says which is right|X: review only|checks X, has no answers of its own|arbiter for X|compares solutions in X|supervises X|controls answers about X|picks the right one of several answers to X"
)

/** Statements about all work of a worker. */
export const flags = {
  careless: list(
    "sometimes wrong|about 75 % accurate|inattentive|tends to rush|quick but not thorough|needs somebody to check it|verify its answers|prone to slips|not always careful|unsteady|inconsistent|flaky|makes slips when tired|often in a hurry|reliability: low|accuracy 0.75|expect mistakes|answers need a second look|fast, not careful"
  ),
  exact: list(
    "flawless|fully accurate|thoroughly tested|right to the last digit|rigorous|error-free|reliability: high|consistent|perfect score|makes no mistakes|you need not check it|accuracy 0.99"
  ),
  general: list(
    "will try any task|generalist for all questions|a generalist|broad generalist|strong generalist|dear generalist|cheap generalist|technical generalist|all-purpose model|answers whatever it is asked|any question|knows something of everything|never declines|tries every question|the senior all-rounder|handles most things somewhat|knows a little about everything|multi-purpose|does a bit of all|no speciality, any subject|fallback for everything|universal helper|answers every question, not always well|of some use for all kinds of task|general model"
  )
} as const

/** Text that says nothing about skills. */
export const filler = list(
  "Model type: decoder-only.|Licence: Apache 2.0.|Parameters: 7B.|Language: English.|Training data: web text up to 2025.|Contact: the platform team.|We added this one in May.|Please be kind to it.|Owner: data platform.|Temperature 0 by default.|Quantised to 4 bits.|It has been with us since the beginning.|Our customers like its tone.|Internal use only.|Status: stable.|Rate limit: 60 per minute.|Nobody remembers who installed it.|Its name is a joke by the founder.|Replies in full sentences.|Costs less than lunch.|Prices went up in spring.|Evaluated by an outside lab.|See the wiki for more.|Good morning!|It is the favourite of the office.|A large model from a small company.|Developed by a university group.|It runs on one card.|Architecture: transformer.|Date of release: 2 March.|Responses are short.|It does not keep your data.|Not available on Sundays.|Do not share the key.|The best thing since sliced bread, says its maker.|Award-winning.|Number one on three leaderboards.|It was cheap to train.|Slow but friendly.|A fast one.|Turns down all other requests.|Everything else it refuses.|No other topics.|Declines other work.|Rejects whatever else is asked.|Other requests are turned away.|Does not take anything else.|For nothing else.|Nothing besides.|Refuses what it does not know.|Says no to the rest.|Anything else is refused politely.|Overloaded at times, so try again.|The line is often busy.|Eager.|Willing and friendly.|Started last week.|Has been here for years.|Expensive.|Affordable.|Large.|Small."
)

/** Other topics of questions, which no question has. */
export const distractors = list(
  "poems|cookery|poetry and prose|chemistry|physics|biology|law|medicine|finance law|human rights|politics|geography|history|languages|German grammar|French cuisine|songwriting|negotiation|psychology|religion|architecture|drawing|photography|dance|theatre|sailing|fishing|farming|car repair|plumbing|electrics|first aid|nutrition|yoga|parenting|travel plans|customer service|sales talk|speeches|jokes|fairy tales|translations|image generation|voice|robot control|contracts|anatomy|rivers and capitals|the Romans|jazz|Spanish|openings in chess|roses|adverts|hotels|cinema|football|portraits|ethics|gossip|clothes|stars and planets|minutes of meetings|complaints|soups|short stories|emails|image captions|speech|opera|law cases|marketing plans"
)

/** How two columns of a table express good and weak. */
export const levels: ReadonlyArray<readonly [good: string, weak: string]> = [
  ["high", "low"],
  ["good", "poor"],
  ["A", "F"],
  ["yes", "no"],
  ["5/5", "1/5"],
  ["++", "--"],
  ["92 %", "31 %"],
  ["excellent", "insufficient"],
  ["strong", "weak"],
  ["pass", "fail"],
  ["0.95", "0.3"],
  ["expert", "novice"],
  ["reliable", "unreliable"],
  ["supported", "unsupported"],
  ["*****", "*"],
  ["great", "bad"]
]

/**
 * Ways to ask: N is a number, L a list of them, W a word, D a date, U and V units of one kind, A and B names, x a
 * variable, M a month.
 */
export const questions: { readonly [Name in Family.FamilyName]: ReadonlyArray<string> } = {
  arithmetic: list(
    "A shop sells N pens at N each. How much is that?|N plus N minus N|What does N times N come to, less N?|If I pay N and the price is N, how much change do I get?|sum: N, N, N|N percent of N|The bus has N seats and N buses come; N people get on. How many seats are free?|What is left of N after taking N away N times?|N divided by N, remainder too|double N, then add N|How many apples are in N baskets of N?|N x N - N x N|Total of N and N?|calculate: (N + N) / N|the product of N and N is|N shared equally among N people|(N - N) * N =|What is a fifth of N?|A pack has N sheets. N packs are opened and N sheets used. What remains?|N squared|In a year I save N a month. How much after N months?|Work out N + N * N please"
  ),
  algebra: list(
    "Nx + N = N, x?|Nx - N = Nx + N. Solve it.|What is x if N - Nx equals N?|x is a number such that N times x plus N gives N|x^2 - Nx + N = 0, roots?|Two numbers sum to N and one is N more than the other. What are they?|find x: x/N - N = N|A is N years older than B, together they are N. How old is B?|x + y = N, x - y = N|I multiply my number by N, subtract N and get N. My number?|For which x is N(x - N) = N?|Let Nx = N + x. x is what?|the unknown in Nx + N = Nx|Solve the system x + Ny = N; Nx - y = N|N less than N times a number is N; name the number|Which value of x makes both sides of Nx + N = N - x equal?"
  ),
  units: list(
    "N U = V|how many V is N U|N U to V please|N U is how much in V?|Change N U into V.|turn N U into V|I have N U. What is that in V?|the same as N U but in V|A road of N km in miles|U -> V: N|If something weighs N kg, how many grams is it?|N degrees celsius, what is it in fahrenheit|give me N U as V|translate N U to V|N U expressed in V|How many U fit into N V?|it took N hours; how many seconds is this?|conversion: N U, target V"
  ),
  calendar: list(
    "D, what day?|What weekday is D?|D plus N days|N days before D|days between D and D|how long from D to D?|Is M of that year a leap month, and how many days has it?|the date N weeks after D|which day of the week will D be|N days from D is what date|How many Mondays has M?|From D we wait N days. Which date is it then?|number of days in M and the month after|Was D a Sunday? Which day was it?|A course starts on D and lasts N days. When does it end?|if today is D, what is the date in N days|count the Fridays between D and D|Today is Tuesday. What day is it N days from now?|last day of M: which weekday"
  ),
  text: list(
    "reverse the word W|W backwards|how many letters has W|put these in alphabetical order: W, W, W|what is the third letter of W|count the vowels in W|write W in capitals|first letters of W, W and W together|W without its vowels|is W the same read from the right?|sort W W W W|how often does e occur in W|which comes first in the dictionary, W or W?|the letters of W in order|replace every a in W by o|last letter of W|Count the words: W W W W W|longest word of W, W, W|take W and drop every second letter|how is W spelt from behind"
  ),
  logic: list(
    "A says that B lies. B says that both are knaves. Who is what?|If A then B. Not B. Does A hold?|A is older than B, B is older than C. Who is the youngest?|All W are W. Some W are W. Does it follow that some are both?|either A or B took it; A says it was not me; only one speaks the truth. Who took it?|(p or q) and not p: is q true?|True or false: if N is even then N is odd or N is even|A sits left of B and right of C. Who sits in the middle?|not (p or true) and q: can it be true?|A finished before B but after C. Who won?|Exactly one of three statements is true: A did it; B did not; C did it. Who did it?|Everyone who has a W has a W. A has no W. Has A a W?|B is taller than A, C is shorter than A. Order them.|A: B is a knave. B: A and I are the same. Is A a knight?|implies(true, false) or true|It rains or it snows. It does not snow. Does it rain?"
  ),
  statistics: list(
    "mean of L|L: median?|what is the average of L|range of the values L|the standard deviation of L|Given L, how large is the spread?|variance: L|most frequent value in L|My marks were L. What is my average?|sort of middle value of L|measurements L. Mean, please|we measured L; by how much do they vary (standard deviation)?|which number of L is the median|difference of the largest and smallest in L|the mode of L|data = L; median(data)|take the mean of L and round it|Times in seconds: L. Typical time (median)?"
  ),
  program: list(
    'let a = N; let b = N; console.log(a * b)|What does this print? for (let i = 0; i < N; i++) console.log(i)|const f = (n) => n < N ? n : f(n - N); f(N)|output of: console.log([L].length)|let s = 0; for (const n of [L]) s += n; print s|what does the following function return for N?\\nfunction g(n) { return n % N }|[L].map(n => n * N)|if (N > N) console.log("W"); else console.log("W")|while (n > N) { n = n - N; count++ }|const w = "W"; console.log(w.length + N)|[L].filter(n => n > N).join()|Run in your head: x = N; x += N; x *= N; console.log(x)|let i = N; do { i-- } while (i > N); i?|value of `"W".slice(0, N)`|const o = { a: N, b: N }; what is o.a + o.b|result of this code: Math.max(L) - N'
  )
}

/** Units that replace U and V. */
export const unitPairs: ReadonlyArray<readonly [string, string]> = [
  ["km", "miles"],
  ["kilometres", "metres"],
  ["feet", "metres"],
  ["inches", "cm"],
  ["kg", "pounds"],
  ["grams", "kg"],
  ["litres", "gallons"],
  ["ml", "litres"],
  ["hours", "minutes"],
  ["days", "hours"],
  ["minutes", "seconds"],
  ["weeks", "days"],
  ["celsius", "fahrenheit"],
  ["km/h", "m/s"],
  ["square metres", "hectares"],
  ["tonnes", "kilograms"],
  ["millimetres", "metres"],
  ["miles", "feet"]
]

export const names = list("Anna|Ben|Cleo|Dan|Eva|Finn|Gus|Hana|Ivo|Jo|Kim|Lea|Max|Nora|Otto|Pia|Raj|Sue|Tom|Uma")

export const nouns = list(
  "apple|bridge|candle|dragon|engine|forest|garden|harbour|island|jacket|kettle|ladder|mirror|needle|orange|pepper|quilt|ribbon|saddle|ticket|umbrella|violin|window|yellow|zebra|basket|copper|donkey|feather|guitar|hammer|lantern|marble|noodle|parrot|rocket|spider|tunnel|wizard|banana"
)

export const months = list("January|February|March|April|May|June|July|August|September|October|November|December")
