/** Whole texts: where the answer stands in them, and whether there is one at all. */
import type { Kinds } from "./Kind.ts"

export const texts: Kinds = {
  "last statement": (random) => {
    const [a, b] = random.distinct(2, 2, 90) as [number, number]
    const final = [
      `The first part gives \\boxed{${b}}. We double it and add the rest, so the final answer is ${a}.`,
      `<answer>${b}</answer> Wait, I forgot a case. <answer>${a}</answer>`,
      `\\boxed{${b}} is wrong, as a check shows. The answer is \\boxed{${a}}.`,
      `We have x = \\boxed{${b}} for the first, and after the second step \\boxed{${a}}.`,
      `The answer is ${b}. No, I made a mistake. The answer is ${a}.`,
      `Answer: ${b}\n\nOn reflection that counts one twice.\n\nAnswer: ${a}`,
      `<think>The answer is ${b}.</think> The answer is ${a}.`
    ]
    const swapped = final.map((text) =>
      text.replaceAll(/\b\d+\b/g, (number) => (number === `${a}` ? `${b}` : number === `${b}` ? `${a}` : number))
    )
    return { gold: `${a}`, right: final, wrong: swapped, isText: true }
  },
  "hedge or refusal": (random) => {
    const a = random.whole(3, 90)
    return {
      gold: `${a}`,
      right: [
        `It takes ${a} hours.`,
        `So there are ${a} such numbers.`,
        `Thus, the total is ${a}.`,
        `The answer must be ${a}.`
      ],
      wrong: [
        `The answer could be ${a}.`,
        `We tried ${a}.`,
        `The answer is ${a} squared.`,
        `The answer is less than ${a}.`,
        `There are at least ${a} of them.`,
        `\\boxed{${a} \\approx ${a + 1}}`,
        `\\boxed{\\approx ${a}}`,
        `\\boxed{${a}?}`,
        `\\boxed{\\text{about } ${a}}`,
        `Maybe ${a}?`,
        `The answer is not ${a}.`,
        `I cannot solve problem ${a}.`,
        `The answer is either ${a} or ${a + 1}.`,
        `The value might be $${a}$.`,
        `I do not think that the answer is ${a}.`,
        `\\boxed{${a}} is wrong.`
      ],
      isText: true
    }
  },
  "sentence with a unit": (random) => {
    const a = random.whole(3, 90)
    return random.pick([
      {
        gold: `${a}\\text{ km}`,
        right: [
          `The distance is ${a} km.`,
          `In all, they walk ${a} kilometers.`,
          `So the distance is $${a}$ km.`,
          `The answer is ${a} km.`
        ],
        wrong: [`The distance is ${a} miles.`, `In all, they walk ${a} meters.`, `The answer is ${a} m.`],
        isText: true
      },
      {
        gold: `\\$${a}.50`,
        right: [
          `The total cost is $${a}.50.`,
          `She pays ${a}.50 dollars.`,
          `The answer is $${a}.50.`,
          `It costs \\$${a}.50`
        ],
        wrong: [`The total cost is $${a}.05.`, `She pays ${a}.50 cents.`, `The answer is €${a}.50.`],
        isText: true
      },
      {
        gold: `${a}.5`,
        right: [`The mean is ${a},5.`, `The mean is ${a}.5 points.`, `The mean is approximately ${a}.5`],
        wrong: [`The mean is ${a}5.`, `The mean is less than ${a}.5.`],
        isText: true
      }
    ])
  },
  "several boxes": (random) => {
    const [a, b] = random.distinct(2, 1, 40) as [number, number]
    return {
      gold: `(${a}, ${b})`,
      right: [
        `We get $x = \\boxed{${a}}$ and $y = \\boxed{${b}}$.`,
        `$x = \\boxed{${a}}$, $y = \\boxed{${b}}$`,
        `$\\boxed{x = ${a}}$ and $\\boxed{y = ${b}}$`
      ],
      wrong: [
        `We get $x = \\boxed{${b}}$ and $y = \\boxed{${a}}$.`,
        `$\\boxed{${a}}$, so that is it.`,
        `$x = \\boxed{${a}}$ or $y = \\boxed{${b}}$`
      ],
      isText: true
    }
  },
  chain: (random) => {
    const [a, b] = random.distinct(2, 2, 40) as [number, number]
    return {
      gold: `${a + b}`,
      right: [
        `$x = ${a} + ${b} = ${a + b}$`,
        `\\boxed{x = ${a} + ${b} = ${a + b}}`,
        `After simplification we obtain $n = ${a} + ${b} = ${a + b}$.`,
        `So ${a} + ${b} = ${a + b}.`
      ],
      wrong: [
        `\\boxed{x = ${a} + ${b} = ${a + b + 1}}`,
        `\\boxed{${a} + ${b} = ${a + b + 1}}`,
        `$x = ${a}$`,
        `\\boxed{${a + b} = ${a + b + 1}}`
      ],
      isText: true
    }
  }
}
