/** Whole texts, in which contests' solutions and people's replies end, in several languages. */
import type { Kinds } from "../pairs/Kind.ts"

export const sentences: Kinds = {
  "chain at the end": (random) => {
    const [a, b] = random.distinct(2, 5, 90) as [number, number]
    return {
      gold: `${a + b}`,
      right: [
        `Then $m=${a}$ and $n=${b}$, so $m+n = ${a}+${b} = ${a + b}$.`,
        `Therefore $m+n=${a}+${b}=\\boxed{${a + b}}$.`,
        `Adding, we get\n$$${a} + ${b} = ${a + b}.$$`,
        `Hence the requested sum is $${a}+${b}=${a + b}$.`
      ],
      wrong: [
        `Then $m=${a}$ and $n=${b + 1}$, so $m+n = ${a}+${b + 1} = ${a + b + 1}$.`,
        `Therefore $mn=${a}\\cdot ${b}=\\boxed{${a * b}}$.`,
        `Hence the requested difference is $${b}-${a}=${b - a}$.`
      ],
      isText: true
    }
  },
  headline: (random) => {
    const [a, b] = random.distinct(2, 3, 95) as [number, number]
    const right = (value: number) => [
      `We add.\n\n### Final Answer\n\n$${value}$`,
      `We add.\n\n**Final Answer**\n\n\\(${value}\\)`,
      `We add.\n\n## Answer\n${value}`,
      `Step 1: add.\nStep 2: done.\n\n**Final answer: ${value}**`,
      `So we are done. Final Answer: The final answer is $${value}$. I hope it is correct.`,
      `We are done.\n\n#### ${value}`,
      `ANSWER: ${value}`,
      `**The answer is ${value}.**`,
      `The correct answer is **${value}**.`,
      `\\[\\boxed{${value}}\\]\n\nThis completes the solution.`,
      `$\\boxed{${value}}$ ✅`
    ]
    return { gold: `${a}`, right: right(a), wrong: right(b), isText: true }
  },
  "other languages, box": (random) => {
    const [a, b] = random.distinct(2, 3, 95) as [number, number]
    const texts = (value: number) => [
      `Die Antwort ist also $\\boxed{${value}}$.`,
      `La respuesta final es $\\boxed{${value}}$.`,
      `Donc la réponse est \\(\\boxed{${value}}\\).`,
      `因此，答案是 $\\boxed{${value}}$。`,
      `Ответ: $\\boxed{${value}}$.`,
      `したがって、答えは $\\boxed{${value}}$ です。`,
      `Portanto, a resposta é $\\boxed{${value}}$.`
    ]
    return { gold: `${a}`, right: texts(a), wrong: texts(b), isText: true }
  },
  "other languages, words": (random) => {
    const [a, b] = random.distinct(2, 3, 95) as [number, number]
    const texts = (value: number) => [
      `Die Antwort ist ${value}.`,
      `Antwort: ${value}`,
      `La respuesta es ${value}.`,
      `Respuesta: $${value}$`,
      `La réponse est ${value}.`,
      `Réponse : ${value}`,
      `答案是${value}。`,
      `答案：${value}`,
      `Ответ: ${value}`,
      `A resposta é ${value}.`,
      `La risposta è ${value}.`,
      `答えは${value}です。`,
      `정답: ${value}`,
      `Odpowiedź: ${value}`,
      `Antwoord: ${value}`
    ]
    return { gold: `${a}`, right: texts(a), wrong: texts(b), isText: true }
  },
  "last sentence": (random) => {
    const [a, b] = random.distinct(2, 13, 95) as [number, number]
    const texts = (value: number) => [
      `Hence, the desired area is $${value}$.`,
      `So the probability is $\\frac{1}{${value}}$, and the sum that was asked for is $${value}$.`,
      `Therefore the largest such integer is ${value}.`,
      `Thus $n = ${value}$ is the smallest such number.`,
      `It follows that $x = ${value}$.`,
      `So $f(3) = ${value}$.`,
      `This gives a total of ${value}.`,
      `Hence the number of such triples is ${value}.`,
      `So Anna has ${value} marbles left.`,
      `The train needs ${value} minutes.`
    ]
    return { gold: `${a}`, right: texts(a), wrong: texts(b), isText: true }
  },
  "fraction in a sentence": (random) => {
    const [a, b] = random.distinct(2, 13, 95) as [number, number]
    const texts = (top: number, bottom: number) => [
      `The probability is $\\frac{${top}}{${bottom}}$.`,
      `So the answer is ${top}/${bottom}.`,
      `Thus the probability equals $\\dfrac{${top}}{${bottom}}$.`,
      `We get \\[\\frac{${top}}{${bottom}}.\\]`,
      `Answer: $${top}/${bottom}$.`
    ]
    return { gold: `\\frac{${a}}{${b}}`, right: texts(a, b), wrong: [...texts(b, a), ...texts(a, b + 1)], isText: true }
  },
  "taken back": (random) => {
    const [a, b] = random.distinct(2, 3, 95) as [number, number]
    return {
      gold: `${a}`,
      right: [
        `The answer is ${b}. Wait, let me recheck. I forgot to add ${a - b}. The correct answer is ${a}.`,
        `\\boxed{${b}}? No: we counted twice. So \\boxed{${a}}.`,
        `First I thought the answer was ${b}. It is not. The answer is ${a}.`,
        `Answer: ${b}\n\nCorrection:\n\nAnswer: ${a}`
      ],
      wrong: [
        `The answer is ${a}. Wait, let me recheck. I forgot to add ${b - a}. The correct answer is ${b}.`,
        `The answer cannot be ${a}.`,
        `I am not sure, but it may be ${a}.`,
        `\\boxed{${a}} \\text{ or } \\boxed{${b}}`,
        `The answer is ${a} or ${b}.`,
        `The answer is between ${a} and ${b}.`,
        `The answer is more than ${a}.`
      ],
      isText: true
    }
  },
  weekday: (random) => {
    const days = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
    const [day, other] = random.shuffle(days) as [string, string]
    return {
      gold: `\\text{${day}}`,
      right: [
        `The answer is ${day}.`,
        `It is a $\\boxed{\\text{${day}}}$.`,
        `$\\boxed{${day}}$`,
        `**Answer:** ${day}`,
        `\\boxed{\\textbf{${day}}}`
      ],
      wrong: [
        `The answer is ${other}.`,
        `$\\boxed{\\text{${other}}}$`,
        `**Answer:** not ${day}`,
        `\\boxed{\\text{${day} or ${other}}}`
      ],
      isText: true
    }
  },
  "time of day": (random) => {
    const [hour, minute] = [random.whole(1, 9), random.whole(11, 58)]
    return {
      gold: `${hour}\\!:\\!${minute}\\text{ p.m.}`,
      right: [
        `\\boxed{${hour}:${minute}\\text{ p.m.}}`,
        `\\boxed{${hour}:${minute} \\text{ PM}}`,
        `The answer is ${hour}:${minute} p.m.`
      ],
      wrong: [
        `\\boxed{${hour}:${minute}\\text{ a.m.}}`,
        `\\boxed{${hour}:${minute + 1}\\text{ p.m.}}`,
        `\\boxed{${hour + 1}:${minute}\\text{ p.m.}}`
      ],
      isText: true
    }
  },
  choice: (random) => {
    const [letter, other] = random.shuffle(["A", "B", "C", "D", "E"]) as [string, string]
    const texts = (one: string) => [
      `\\boxed{\\textbf{(${one})}}`,
      `$\\boxed{\\text{${one}}}$`,
      `\\boxed{(${one})}`,
      `The answer is (${one}).`,
      `The answer is $\\textbf{(${one})}$.`,
      `\\boxed{${one}}`
    ]
    return { gold: `\\text{(${letter})}`, right: texts(letter), wrong: texts(other), isText: true }
  },
  "groups of digits": (random) => {
    const [high, low] = [random.whole(2, 99), random.whole(111, 999)]
    return {
      gold: `${high}${low}`,
      right: [
        `\\boxed{${high},${low}}`,
        `\\boxed{${high}{,}${low}}`,
        `\\boxed{${high}\\,${low}}`,
        `\\boxed{${high},\\!${low}}`,
        `The answer is ${high},${low}.`,
        `There are ${high},${low} of them.`
      ],
      wrong: [
        `\\boxed{${high}.${low}}`,
        `\\boxed{${high},${low - 1}}`,
        `\\boxed{${high}, ${low}}`,
        `The answer is ${low},${high}0.`
      ],
      isText: true
    }
  },
  "unit in a sentence": (random) => {
    const [value, unit] = [random.whole(3, 95), random.pick(["cm", "m", "kg", "minutes"])]
    return {
      gold: `${value}`,
      right: [
        `The length is ${value} ${unit}.`,
        `So it takes $${value}$ ${unit}.`,
        `\\boxed{${value} \\text{ ${unit}}}`,
        `\\boxed{${value}\\ \\mathrm{${unit}}}`,
        `**${value} ${unit}**`
      ],
      wrong: [`The length is ${value + 1} ${unit}.`, `\\boxed{${value + 1} \\text{ ${unit}}}`, `**${value}0 ${unit}**`],
      isText: true
    }
  }
}
