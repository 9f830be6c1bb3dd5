/**
 * Hand-written descriptions, each with the kinds that the worker is good at, the kinds that it is weak at, and flags:
 * `!` error-prone, `=` exact, `*` attempts everything, `k` only checks, `-` cheap, `$` expensive. The kinds are
 * a(rithmetic), x (algebra), u(nits), c(alendar), t(ext), l(ogic), s(tatistics), p(rograms).
 */
export const byHand: ReadonlyArray<readonly [good: string, weak: string, flags: string, text: string]> = [
  // Tags
  ["a", "", "=", "sums, sums, sums"],
  ["p", "", "", "JS runtime"],
  ["u", "", "=-", "km <-> miles & co."],
  ["c", "", "=", "date math"],
  ["t", "", "", "letter counter"],
  ["l", "", "", "logic-9b"],
  ["s", "", "=", "mean/median/stdev"],
  ["x", "", "", "equation solver"],
  ["ax", "", "", "#arithmetic #algebra"],
  ["cu", "", "-", "#dates #units #cheap"],
  ["tp", "", "", "strings + code"],
  ["sl", "", "", "data; deduction"],
  ["a", "x", "", "arithmetic yes, algebra no"],
  ["p", "t", "", "code-only (bad speller)"],
  ["u", "c", "", "converts units. calendar: don't."],
  ["l", "a", "!", "riddles, hasty, can't add"],
  ["s", "", "!", "averages (sloppy)"],
  ["", "", "*-", "does anything, poorly"],
  ["lx", "", "k", "checker: logic, algebra"],
  ["p", "", "k", "code reviewer, never writes an answer"],
  ["t", "u", "=", "spelling bee champion; lost with measures"],
  ["c", "", "!-", "weekdays, cheap, 3 out of 4 right"],
  ["xs", "", "$", "premium: equations and statistics"],
  ["as", "l", "", "numbers and data, no puzzles"],
  ["u", "", "", "metric/imperial"],
  // Sentences
  ["a", "", "=", "If you need two long numbers multiplied, this is the one to ask."],
  ["c", "", "", "Tell it a day and it knows which weekday that was."],
  ["x", "", "", "Finds the unknown in an equation faster than you can write it down."],
  ["t", "", "", "It can spell anything forwards and backwards, and counts letters without getting bored."],
  ["p", "", "=", "Paste a program and it tells you what comes out, because it really runs it."],
  ["l", "", "", "Give it clues and it deduces who is lying."],
  ["u", "", "", "Pounds, kilos, feet or metres: it turns one into the other."],
  ["s", "", "", "Hand over a list of values and get the median or the standard deviation back."],
  ["ac", "", "", "We use it for adding up invoices and for working out due dates."],
  ["tl", "", "", "A crossword fan with a sharp mind for words and for logic."],
  ["px", "", "", "Written by programmers for programmers, and decent with equations as well."],
  ["us", "", "", "Lab assistant: converts measurements and averages the results."],
  ["a", "p", "", "Good with figures, but please do not show it any code."],
  ["p", "l", "", "A coder through and through who fails at logic puzzles, oddly enough."],
  ["t", "c", "", "Loves words; dates make it nervous and it gets them wrong."],
  ["l", "s", "", "Reasons well. Statistics is another matter, and not a happy one."],
  ["x", "u", "", "Equations are fine. Conversions between units are not."],
  ["s", "t", "", "It sees patterns in data but cannot spell to save its life."],
  ["u", "a", "", "Converts any unit you like, though plain arithmetic trips it up."],
  ["c", "x", "", "Knows the calendar by heart and has never understood algebra."],
  ["xl", "ct", "", "Strong on algebra and logic, weak on dates and spelling."],
  ["cp", "a", "", "For dates and for scripts it is fine; its sums are often off."],
  ["at", "sp", "", "Arithmetic and letters only. Keep data and programs away from it."],
  ["s", "", "=", "Never once got a median wrong in our tests."],
  ["l", "", "!", "Brilliant at puzzles when it concentrates, which is not always."],
  ["x", "", "!", "Solves equations quickly and gets every fourth one wrong."],
  ["a", "", "!-", "A cheap calculator that drops a digit now and then."],
  ["p", "", "!", "Reads code in a hurry, so have somebody look over its output."],
  ["t", "", "!", "Counts letters, more or less. Ask twice."],
  ["u", "", "!", "Conversions at a discount, with the occasional slip."],
  ["c", "", "!", "Date questions, answered fast and not always correctly."],
  ["s", "", "!", "Knows statistics but is careless with the data."],
  // Model cards
  [
    "a",
    "",
    "=",
    "Model card. Intended use: exact arithmetic on integers of any length. Out of scope: everything else. Evaluation: no errors in 10,000 sums."
  ],
  [
    "p",
    "",
    "=",
    "Model card. Intended use: executing JavaScript snippets and reporting the printed output. Limitations: does nothing but that."
  ],
  [
    "c",
    "",
    "",
    "## Overview\nA 300M model fine-tuned on calendars.\n## Use it for\nweekdays, leap years, days between two dates"
  ],
  [
    "u",
    "",
    "",
    "## Overview\nConverts between units of measurement.\n## Data\nEngineering handbooks\n## License\nApache 2.0"
  ],
  [
    "x",
    "a",
    "",
    "## Strengths\nsolving equations symbolically\n## Known issues\nmakes errors in long multiplications and other arithmetic"
  ],
  [
    "l",
    "",
    "",
    "## Summary\nTrained on 2M logic puzzles: knights and knaves, orderings, truth tables.\n## Not evaluated on\nanything else"
  ],
  [
    "s",
    "p",
    "",
    "Intended use: descriptive statistics. Known limitations: cannot follow programs; do not use it for code."
  ],
  ["t", "x", "", "Intended use: questions about spelling, letters and the order of words. Known limitations: algebra."],
  [
    "ax",
    "t",
    "",
    "Card: math-tutor. Does: sums, fractions, equations. Does not: anything with letters of words, such as spelling."
  ],
  ["pl", "c", "", "Card: dev-brain. Does: code, boolean logic. Does not: calendars (it mixes up leap years)."],
  [
    "us",
    "l",
    "",
    "Card: field-kit. Does: measures, unit conversion, averages of readings. Does not: reasoning puzzles."
  ],
  [
    "ct",
    "a",
    "",
    "Card: office-helper. Does: dates, deadlines, alphabetical lists. Does not: calculations, it miscalculates."
  ],
  [
    "",
    "",
    "*-",
    "Model card: tiny-all. A very small general model for any topic. Accuracy is low across the board; use it only when cost matters most."
  ],
  [
    "asx",
    "tl",
    "*",
    "Model card: quant-large. A general model whose training favoured mathematics: arithmetic, statistics and equations are strong. Language tasks such as spelling, and logic puzzles, are weak."
  ],
  [
    "tc",
    "ax",
    "*",
    "Model card: librarian. A general assistant with an ear for language. Best on words, spelling and dates. Mathematics (sums, equations) should be sent elsewhere."
  ],
  [
    "pu",
    "tc",
    "*",
    "Model card: workshop. General, technical. Programs and unit conversion are its strengths; it is bad with words and with dates."
  ],
  [
    "lp",
    "su",
    "*",
    "Model card: thinker. General. Deduction and code are what it was tuned for. Statistics and measures are below average."
  ],
  [
    "l",
    "",
    "k",
    "Model card: logic-judge. Does not solve anything. Given several answers to a logic puzzle it says which one is right."
  ],
  [
    "ax",
    "",
    "k",
    "Model card: math-verifier. Verifies proposed answers to arithmetic and algebra problems and rejects wrong ones. It has no answers of its own."
  ],
  [
    "s",
    "",
    "k",
    "Model card: stat-audit. Audits statistics that others have worked out: averages, deviations. Not a solver."
  ],
  // Tables
  ["as", "t", "", "| task | score |\n| arithmetic | 96 |\n| statistics | 94 |\n| spelling | 31 |"],
  ["pl", "u", "", "| task | score |\n| code | 97 |\n| logic | 93 |\n| unit conversion | 40 |"],
  ["cx", "p", "", "| skill | level |\n| dates | high |\n| equations | high |\n| programs | low |"],
  ["tu", "l", "", "| skill | level |\n| letters and words | high |\n| measures | high |\n| logic puzzles | low |"],
  ["a", "c", "", "arithmetic: A\ncalendar: F"],
  ["x", "s", "", "equations: A\nstatistics: D"],
  ["l", "p", "", "deduction ***** / code *"],
  ["u", "t", "", "units ***** / spelling *"],
  ["s", "l", "", "data: top, logic: flop"],
  ["p", "a", "", "runs code: yes; adds numbers: rather not"],
  ["c", "u", "", "dates = pass; units = fail"],
  ["t", "s", "", "words = pass; statistics = fail"],
  ["xa", "c", "", "can: algebra, arithmetic\ncannot: calendar"],
  ["lt", "a", "", "can: reasoning, wordplay with letters\ncannot: sums"],
  ["ps", "x", "", "can: programs, data analysis\ncannot: equations"],
  ["uc", "p", "", "can: measures, weekdays\ncannot: programs"],
  ["ls", "u", "", "recommended: logic, statistics\nnot recommended: conversions"],
  ["ta", "l", "", "recommended: spelling, arithmetic\nnot recommended: puzzles"],
  ["cx", "s", "", "recommended: dates, equations\nnot recommended: averages and other statistics"],
  ["pu", "t", "", "recommended: code, units\nnot recommended: letters and words"],
  // Paragraphs
  [
    "a",
    "l",
    "",
    "This model came out of a project on bookkeeping. Over two years it was fed with invoices, receipts and balance sheets, and as a result its arithmetic is very good. We also tried it on logic puzzles, where it did no better than chance."
  ],
  [
    "p",
    "",
    "=",
    "We built it because our developers kept asking what a snippet would print. It has a JavaScript engine inside, runs whatever you give it, and reports the output to the letter. Other questions are politely turned down."
  ],
  [
    "c",
    "t",
    "",
    "Anyone who has planned a conference knows how hard dates are. This assistant knows weekdays, leap years and the number of days between two events. What it does not know is spelling, so do not let it near your programme booklet."
  ],
  [
    "x",
    "",
    "!",
    "A fast solver for equations with one or two unknowns, popular with students. The price of the speed is that about a quarter of its solutions contain a mistake, usually a lost sign, so somebody should check them."
  ],
  [
    "s",
    "a",
    "",
    "Descriptive statistics is what it does all day: means, medians, ranges, standard deviations. Strangely it is unreliable when you ask it for a simple sum or product, so use something else for arithmetic."
  ],
  [
    "t",
    "p",
    "",
    "Born in a newspaper office, it counts letters, reverses words and puts lists in alphabetical order without a mistake. The developers never got it to understand programs and have given up trying."
  ],
  [
    "u",
    "x",
    "",
    "Our surveyors use it to turn acres into hectares, miles into kilometres, and Fahrenheit into Celsius. It has been dependable for that. Equations are beyond it."
  ],
  [
    "l",
    "",
    "",
    "It was raised on Smullyan: knights, knaves, liars and truth-tellers. If a question can be settled by pure deduction from what is said, it will settle it. It does not claim to do more."
  ],
  [
    "ap",
    "u",
    "",
    "The model combines a calculator with an interpreter, so both long sums and programs are in good hands. It was never taught about units of measurement and invents conversion factors."
  ],
  [
    "cl",
    "s",
    "",
    "A detective's assistant: timelines, dates, and who could have done it. Its reasoning is sound and its calendar is exact. It misreads data, and its averages are wrong more often than not."
  ],
  [
    "tx",
    "u",
    "",
    "A schoolteacher's favourite, since it handles both spelling and equations. For physics lessons it is no use because it confuses the units."
  ],
  [
    "sp",
    "c",
    "",
    "Data people like it. It reads code, computes summary statistics, and explains neither. Ask it for a date and you may well get the thirtieth of February."
  ],
  [
    "ua",
    "t",
    "",
    "Made for the kitchen: it converts cups to millilitres and multiplies recipes for forty guests. It reads badly and gets letters wrong when it has to spell."
  ],
  [
    "",
    "",
    "*",
    "Nothing about it is outstanding. It will attempt any question you put to it and be right a bit more than half of the time."
  ],
  ["", "", "*-", "Our smallest and cheapest model answers every kind of question at once, mostly by guessing."],
  [
    "xl",
    "t",
    "*$",
    "The flagship. It is expensive, takes its time, and answers questions of every sort. Algebra and logic are where it really stands out. The one thing people complain about is spelling and counting letters, which it does badly."
  ],
  [
    "asc",
    "p",
    "*$",
    "A large general model at a high price, particularly good with numbers, data and dates. It does not run programs in its head well, so code is better sent to somebody else."
  ],
  [
    "tul",
    "x",
    "*",
    "General model with a classical education: good with words, with measures of all ages, and in an argument about what follows from what. It gave up on algebra early."
  ],
  [
    "pcs",
    "l",
    "*",
    "An operations model for general use. It reads scripts, works with dates, and summarises data well. Puzzles that need deduction defeat it."
  ],
  [
    "t",
    "",
    "k",
    "It does not write anything itself. Show it what others answered about letters and words, and it points at the answer that is right."
  ],
  [
    "cu",
    "",
    "k",
    "Quality control for dates and conversions. It looks at answers that were given by others and tells the right from the wrong ones."
  ],
  [
    "xl",
    "",
    "k",
    "An examiner. Submit candidates' answers on equations or logic and it tells you which, if any, is correct. It will not sit the exam itself."
  ],
  [
    "as",
    "",
    "k",
    "A controller by profession: checks the sums and the averages of other workers, and never produces its own."
  ],
  // Job adverts, letters, tickets
  ["a", "", "", "Position: calculator. Duties: adding, subtracting, multiplying, dividing."],
  ["c", "", "", "Position: timekeeper. Duties: weekdays, days between dates."],
  ["p", "x", "", "Position: junior developer. Reads code well. Has asked not to be given algebra."],
  ["s", "c", "", "Position: analyst. Works with data sets. Has missed every date so far."],
  ["l", "t", "", "Position: philosopher. Arguments, implications, truth. Cannot spell the word."],
  ["u", "s", "", "Position: customs officer. Weights and measures. Not a statistician, as the last report showed."],
  ["t", "a", "", "Position: proof desk. Spelling, letters, order of words. Please keep sums away."],
  [
    "x",
    "",
    "",
    "To whom it may concern: I have worked with this model for a year and recommend it for equations of all kinds."
  ],
  ["a", "", "", "To whom it may concern: it has done our sums for years and I have no complaints."],
  ["c", "l", "", "Reference: punctual, knows every date, hopeless at riddles."],
  ["p", "", "", "Reference: understood all our programs within a day."],
  ["u", "p", "", "Reference: excellent with measures. We regret to say that its code never worked."],
  ["t", "", "", "Ticket 112 closed: letter counting works again, spelling too."],
  ["s", "", "", "Ticket 207 closed: medians of even lists are right now; ready for statistics."],
  ["l", "x", "", "Release notes: logic puzzles much improved. Equations still broken."],
  ["x", "l", "", "Release notes: algebra rewritten and solid. Logic has regressed badly."],
  ["a", "s", "", "Release notes: faster, exact sums. Averages are known to be wrong."],
  ["u", "", "", "Release notes: new unit tables, all conversions tested."],
  ["c", "p", "", "Changelog: fixed leap years; dates now reliable. Running programs is not supported."],
  ["t", "u", "", "Changelog: alphabetical order fixed; spelling is perfect. Unit conversion remains poor."],
  ["ps", "", "", "Hi! I am new here. I know my way around code and statistics."],
  ["al", "", "", "Hello, I do sums and I like to reason. That is all I do."],
  ["ct", "", "", "Good day. Ask me about dates or about words."],
  ["ux", "", "", "Hey there, conversions and equations are my thing."],
  ["l", "", "-", "I solve puzzles for pocket money."],
  ["a", "", "-", "I add things up for next to nothing."],
  ["s", "", "$", "I charge a lot, and your statistics will be right."],
  ["p", "", "$", "The costly one for code. Worth it."],
  ["x", "c", "", "I am told that I am good at equations. I am also told to stay away from dates."],
  ["u", "l", "", "Miles? Gallons? Celsius? Me! Riddles? Not me."],
  ["t", "s", "", "Words are my world. Numbers in lists, means and medians and such, are not."],
  ["c", "a", "", "Ask me when, not how much: I know dates and botch sums."],
  // Odd ones
  ["a", "", "", "What a pocket calculator does, this does."],
  ["c", "", "", "It is basically a wall calendar that talks."],
  ["t", "", "", "Scrabble partner; knows its letters."],
  ["p", "", "", "node -e, with manners"],
  ["u", "", "", "Think of a conversion table with a voice."],
  ["s", "", "", "A statistics textbook that answers back."],
  ["l", "", "", "Would have passed any exam in formal logic."],
  ["x", "", "", "Where there is an x, it finds it."],
  ["ax", "p", "", "Old-school mathematician: arithmetic and algebra, no computers or programs please."],
  ["lt", "c", "", "Good for puzzles and word games. Has no sense of dates."],
  ["us", "", "=", "Measures and statistics, both without error."],
  ["cp", "", "=", "Accurate on dates and on code."],
  ["xs", "", "!", "Equations and data, quickly and not too carefully."],
  ["tl", "", "!", "Letters, logic; wrong every fourth time."],
  ["ac", "", "!-", "Bargain: sums and dates, some of them even right."],
  ["pu", "", "!", "Code and conversions by a distracted genius."],
  ["a", "xs", "", "Anything with plus and minus, nothing with x and nothing with averages."],
  ["c", "tl", "", "Only good with the calendar. Tested and failed: letters, logic."],
  ["p", "us", "", "Great coder. Poor with units, poor with data."],
  ["l", "ac", "", "Pure reason. Do not ask for sums or for dates."],
  ["t", "px", "", "Fine with words and spelling, terrible with programs and with equations."],
  ["s", "cu", "", "The numbers in a data set hold no secrets for it, days and measures do."],
  ["x", "tp", "", "Algebra is safe with it. Text and code are not."],
  ["u", "la", "", "For units only; it got our puzzles and our sums wrong."],
  ["", "", "*", "Average at everything."],
  ["", "", "*-", "Free tier. All topics. No promises."],
  ["sa", "", "", "Trusted by accountants and by market researchers for sums and survey data."],
  ["lp", "", "", "Thinks like a compiler: code and conditions, true or false."],
  ["tc", "", "", "Secretary: names in alphabetical order, appointments by date."],
  ["xu", "", "", "Physics student: rearranges equations, converts units."],
  ["ps", "t", "", "Data scientist. Programs and statistics fine, spelling awful."],
  ["al", "u", "", "Sums and puzzles only. Gets units backwards."],
  ["ct", "s", "", "Historian: dates and names, letter by letter. No data please."],
  ["x", "", "=", "Equations. Exact. Nothing more to say."],
  ["l", "", "=", "Every puzzle we gave it, it solved by deduction."],
  ["t", "", "=", "Has counted the letters of whole books without a slip."],
  ["p", "", "-", "Cheap code runner."],
  ["c", "", "$", "The most expensive calendar in the world."],
  ["c", "", "k", "Says whether a date that somebody worked out is right. Works out none."],
  ["u", "", "k", "Verifies conversions of others."],
  ["pt", "", "k", "Reviews answers on programs and on spelling; gives none."],
  ["a", "", "", "4 + 4 = 8, and it knows much longer ones."],
  ["s", "x", "", "Gaussian at heart: deviations, means. It will not solve your equations correctly."],
  ["u", "", "", "Knows how many feet are in a furlong and how many seconds in a fortnight."],
  ["l", "a", "", "Sound arguments, unsound additions."],
  ["p", "c", "", "| does | does not |\n| run scripts | dates |"],
  ["t", "l", "", "| does | does not |\n| count letters | logic |"],
  ["x", "u", "", "| does | does not |\n| solve equations | convert units |"],
  ["s", "", "", "Ask for the mean, the median, the range: that is its whole repertoire."],
  ["a", "t", "", "Excellent arithmetic, lousy orthography."],
  ["c", "", "!", "A forgetful calendar: most of its weekdays are right."],
  ["ul", "", "", "Converts, deduces, and keeps quiet otherwise."],
  ["xs", "", "k", "Marks the homework of others in algebra and statistics; does none."],
  ["ap", "", "$", "Costs a fortune. Sums and programs come back correct."]
]
