/** The built-in few-shot examples. Each set demonstrates a single call, parallel attempts, a chain and a tree. */
import type { Example } from "./Prompt.ts"

const idiom: Example = {
  topic: "everyday language",
  question:
    "My landlord wrote that the rent offer is 'subject to contract'. What does that mean? One sentence, please.",
  thought:
    "A common phrase, explained in one sentence: any capable model can do this alone, and a check would add nothing.",
  workflow: {
    steps: [
      { worker: 3, subtask: "Explain the phrase for a tenant, in one plain sentence without legal jargon.", access: [] }
    ]
  }
}

const slogan: Example = {
  topic: "advertising",
  question:
    "Our bicycle repair shop also serves coffee. Find a slogan of at most six words that works on the shop sign and on the cups.",
  thought:
    "Taste decides here and first ideas are often flat, so three models should try without seeing one another. A fourth then picks the best and holds it against the limit of six words.",
  workflow: {
    steps: [
      { worker: 0, subtask: "Write five slogans that play on both repairing bicycles and coffee.", access: [] },
      { worker: 5, subtask: "Write five short, warm slogans that a regular customer would smile at.", access: [] },
      {
        worker: 2,
        subtask: "Write five plain slogans without wordplay that say clearly what the shop offers.",
        access: []
      },
      {
        worker: 4,
        subtask:
          "Choose the best of these slogans, or improve it. It has at most six words and fits both the sign and the cups. Answer with the slogan alone.",
        access: [0, 1, 2]
      }
    ]
  }
}

const translation: Example = {
  topic: "translation",
  question:
    "Put this notice into formal French, with no more than forty words: 'Hi all! The lift is dead again. Someone comes to fix it Monday. Please take the stairs, and shout if you need a hand with bags.'",
  thought:
    "Three things in a row: the notice has to become formal, then French, then be held against the limit of words and the original. Each needs the result of the one before.",
  workflow: {
    steps: [
      {
        worker: 6,
        subtask: "Rewrite the notice in formal English, as short as possible. Lose none of its facts.",
        access: []
      },
      {
        worker: 1,
        subtask: "Translate the formal notice into formal French, as a French building manager would write it.",
        access: [0]
      },
      {
        worker: 3,
        subtask:
          "Compare the French notice with the original. Correct what is missing or wrong, keep it within forty words, and answer with the final French text alone.",
        access: [0, 1]
      }
    ]
  }
}

const outing: Example = {
  topic: "event planning",
  question:
    "I have to take 24 ten-year-olds to a lake for a day. Draft the programme for the day and the letter to the parents, with what each child must bring.",
  thought:
    "Two parts that hardly touch: what happens during the day, with what it takes in equipment, and what parents must know about safety. Each is worked out on its own; one model joins them into one text.",
  workflow: {
    steps: [
      {
        worker: 2,
        subtask: "Draft a programme by the hour for a day at the lake, with one alternative for rain.",
        access: []
      },
      {
        worker: 0,
        subtask: "List the risks of a lake outing for this age and the rule or measure that answers each.",
        access: []
      },
      {
        worker: 5,
        subtask: "From the programme, list what each child must bring and what the school brings.",
        access: [0]
      },
      {
        worker: 1,
        subtask: "From the risks and measures, write what parents have to be told and to sign.",
        access: [1]
      },
      {
        worker: 6,
        subtask:
          "Write the final text: first the programme, then one friendly letter to the parents that holds the packing list and the safety information.",
        access: "all"
      }
    ]
  }
}

const anatomy: Example = {
  topic: "multiple-choice knowledge",
  question:
    "Which organ produces bile? A. The gallbladder  B. The liver  C. The pancreas  D. The spleen. Answer with the letter.",
  thought: "A fact that every model knows, with one trap (bile is stored in A). One call is enough.",
  workflow: {
    steps: [
      {
        worker: 4,
        subtask: "Tell apart where bile is made and where it is stored, then answer with the letter alone.",
        access: []
      }
    ]
  }
}

const counting: Example = {
  topic: "competition mathematics",
  question:
    "How many ways are there to seat four couples around a round table so that no one sits beside their partner?",
  thought:
    "A counting problem in which slips are common. Two models should count by different methods without seeing one another; a third settles any difference.",
  workflow: {
    steps: [
      {
        worker: 1,
        subtask: "Count the seatings by inclusion and exclusion over the couples. Show each term.",
        access: []
      },
      {
        worker: 5,
        subtask: "Count the seatings by placing one couple first and going through the cases. Show each case.",
        access: []
      },
      {
        worker: 2,
        subtask:
          "Compare the two counts. Where they differ, find the mistake. Answer with the right number and one line of reasoning.",
        access: [0, 1]
      }
    ]
  }
}

const stream: Example = {
  topic: "programming contest",
  question:
    "Read n integers, then q queries (l, r). For each, print how many distinct values stand between positions l and r. n and q are up to 200,000. Use Python and standard input.",
  thought:
    "A hard task: the simple way is too slow, so the method has to be settled first, then coded with care, then checked against the limits. A chain, each step on what came before.",
  workflow: {
    steps: [
      {
        worker: 2,
        subtask: "Describe an offline algorithm in O((n + q) log n), with its data structure. No code.",
        access: []
      },
      {
        worker: 6,
        subtask: "Implement the algorithm in Python with fast input and output. Answer with the whole program.",
        access: [0]
      },
      {
        worker: 0,
        subtask:
          "Check the program for wrong index ranges, slow input and edge cases, correct it, and answer with the final program alone.",
        access: [0, 1]
      }
    ]
  }
}

const market: Example = {
  topic: "general reasoning",
  question:
    "A country taxes imported steel. Steel is made with coal, and cars are made with steel. In the short run, what happens at home to the price of cars and to the demand for coal, and why?",
  thought:
    "Two effects that can be worked out apart: one upstream on coal, one downstream on cars. Each gets its own model, and one joins the two into an answer.",
  workflow: {
    steps: [
      {
        worker: 3,
        subtask: "Work out what the tax does to domestic steel output and so to the demand for coal.",
        access: []
      },
      {
        worker: 0,
        subtask: "Work out what the tax does to the price of steel and so to the price of cars.",
        access: []
      },
      {
        worker: 4,
        subtask: "Look for a mistake in the reasoning about coal and state its corrected conclusion.",
        access: [0]
      },
      {
        worker: 5,
        subtask:
          "Answer the question in two short paragraphs, one for cars and one for coal, with the reason for each.",
        access: [1, 2]
      }
    ]
  }
}

/** An example with items, shown by default if the policy may write the `how` list. */
export const mapExample: Example = {
  topic: "many parts",
  question: "Read the attached minutes, answer each question that was left open, and write one reply to the team.",
  thought:
    "The number of questions is not known yet: one model lists them, a second answers each of them by itself, and a third writes the reply from all answers.",
  workflow: {
    steps: [
      { worker: 0, subtask: "List the open questions of the minutes.", access: [], gives: { list: 16 } },
      { worker: 1, subtask: "Answer the question: {item}", access: [], each: 0 },
      { worker: 2, subtask: "Write one reply to the team from all answers.", access: [1] }
    ]
  }
}

/**
 * Examples unlike the tasks that Conductors are usually trained and evaluated on. According to the paper (section 1),
 * these work best.
 */
export const outOfDistributionExamples: ReadonlyArray<Example> = [idiom, slogan, translation, outing]

/**
 * Examples from the domains that the paper trains on: knowledge, mathematics, programming and reasoning.
 *
 * **Example**
 *
 * ```ts
 * import { Prompt } from "@divisi/core"
 *
 * Prompt.inDistributionExamples.length // => 4
 * ```
 */
export const inDistributionExamples: ReadonlyArray<Example> = [anatomy, counting, stream, market]

/**
 * Two examples from each of the other two sets.
 *
 * **Example**
 *
 * ```ts
 * import { Prompt } from "@divisi/core"
 *
 * Prompt.mixedExamples.every((example) => example.workflow.steps.length > 0) // => true
 * ```
 */
export const mixedExamples: ReadonlyArray<Example> = [idiom, counting, stream, outing]
