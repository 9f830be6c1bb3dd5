/**
 * Published routers in their simplest form, trained on the same embedded questions, with reference points: one fixed
 * worker, a random one, and the best in hindsight.
 */
import { argmax, clusters, dot, draw, type Vector } from "../baselines/vectors.ts"
import { type Contender, choosing, type Question, type Training } from "./Contender.ts"
import * as Linear from "./linear.ts"

const scoresOf = (questions: ReadonlyArray<Question>, worker: string): ReadonlyArray<number> =>
  questions.map(({ scores }) => scores.get(worker)!)

const mean = (values: ReadonlyArray<number>): number => values.reduce((sum, value) => sum + value, 0) / values.length

const meanCost = (questions: ReadonlyArray<Question>, worker: string): number =>
  mean(questions.map(({ costUsd }) => costUsd.get(worker) ?? Number.NaN))

/** Returns at most the given number of questions, spread evenly over the list. */
const thinned = (questions: ReadonlyArray<Question>, most: number): ReadonlyArray<Question> => {
  const step = Math.max(1, questions.length / most)
  return Array.from({ length: Math.floor(questions.length / step) }, (_, index) => questions[Math.floor(index * step)]!)
}

/**
 * Returns the worker with the best mean score on some of the questions. The means are shrunk toward those of all
 * questions, with a weight of 5 questions.
 */
const bestOf = ({ best, questions, workers }: Training): ((some: ReadonlyArray<Question>) => string) => {
  const overall = workers.map((worker) => mean(scoresOf(questions, worker)))
  return (some) => {
    if (some.length === 0) return best
    const drawn = workers.map((worker, at) => {
      const sum = scoresOf(some, worker).reduce((total, score) => total + score, 0)
      return (sum + 5 * overall[at]!) / (some.length + 5)
    })
    return workers[argmax(drawn)]!
  }
}

/** Always selects the worker that was best on the training questions. */
export const bestSingle: Contender = choosing(
  "best-single",
  ({ best }) =>
    () =>
      best
)

/** Selects a random worker for each question. */
const random: Contender = choosing("random", ({ seed, workers }) => {
  const source = draw(seed)
  return () => workers[source.index(workers.length)]!
})

/** Returns the nonzero dimensions of a point, which are few for a short text. */
const usedOf = (point: Float32Array): ReadonlyArray<number> =>
  [...point.keys()].filter((dimension) => point[dimension] !== 0)

const neighbours = 40

/**
 * Selects the best worker on the 40 nearest training questions, out of at most 2,000 stored ones. Points have length 1.
 */
const knn: Contender = choosing("knn", (training) => {
  const known = thinned(training.questions, 2000)
  const best = bestOf(training)
  return ({ point }) => {
    const used = usedOf(point)
    const likeness = Float32Array.from(known, (other) => {
      let sum = 0
      for (const dimension of used) sum += point[dimension]! * other.point[dimension]!
      return sum
    })
    const least = likeness.toSorted().at(-neighbours) ?? Number.NEGATIVE_INFINITY
    return best(known.filter((_, index) => likeness[index]! >= least))
  }
})

const penalties = [3, 10, 30, 100, 300]

const pointsOf = (questions: ReadonlyArray<Question>): ReadonlyArray<Vector> => questions.map(({ point }) => point)

/** Cached Gram matrices of training questions, shared by all regressions on them. */
const products = new WeakMap<ReadonlyArray<Question>, Linear.Gram>()

const productsOf = (questions: ReadonlyArray<Question>): Linear.Gram => {
  const known = products.get(questions) ?? Linear.gram(pointsOf(questions))
  products.set(questions, known)
  return known
}

/**
 * Selects the worker with the highest score predicted by ridge regression. The penalty is selected on a fifth of the
 * training questions.
 */
const ridge: Contender = choosing("ridge", ({ questions, workers }) => {
  const fit = (some: ReadonlyArray<Question>, all: ReadonlyArray<number>, gram: Linear.Gram) =>
    Linear.ridge(
      pointsOf(some),
      workers.map((worker) => scoresOf(some, worker)),
      all,
      gram
    )
  const choose = (predict: Linear.Predict) => (question: Question) => workers[argmax(predict(question.point))]!
  const held = questions.filter((_, index) => index % 5 === 0)
  const all = productsOf(questions)
  const tried = fit(
    questions.filter((_, index) => index % 5 !== 0),
    penalties,
    Linear.without(all, Linear.gram(pointsOf(held)))
  ).map((predict) => mean(held.map((question) => question.scores.get(choose(predict)(question))!)))
  return choose(fit(questions, [penalties[argmax(tried)]!], all)[0]!)
})

/** Selects the best worker for the nearest of at most 60 clusters of training questions, as in Avengers. */
const clustered: Contender = choosing("clusters", (training) => {
  const known = thinned(training.questions, 1500)
  const count = Math.max(1, Math.min(60, Math.floor(known.length / 20)))
  const assigned = clusters(
    known.map(({ point }) => point),
    count,
    10
  )
  const groups = [...Map.groupBy(known, (_, index) => assigned[index]!).values()]
  const best = bestOf(training)
  const centres = groups.map((group) => ({ centre: centreOf(group), worker: best(group) }))
  return ({ point }) => centres[argmax(centres.map(({ centre }) => dot(point, centre)))]!.worker
})

const centreOf = (group: ReadonlyArray<Question>): Vector => {
  const sum = new Float64Array(group[0]!.point.length)
  for (const { point } of group) for (let at = 0; at < sum.length; at++) sum[at]! += point[at]!
  const length = Math.sqrt(dot(sum, sum)) || 1
  return sum.map((value) => value / length)
}

/**
 * Routes between two workers: the best one, and the best of those at no more than half its cost (or else the second
 * best). A regression predicts the advantage of the strong worker, to which the half of the questions with the largest
 * predicted advantage is assigned. Modeled on RouteLLM, whose win predictor is trained on preferences.
 */
const strongOrWeak: Contender = choosing("routellm", ({ best, questions, workers }) => {
  const weak = weakBeside(questions, workers, best)
  if (weak === undefined) return () => best
  const [strongScores, weakScores] = [scoresOf(questions, best), scoresOf(questions, weak)]
  const [predict] = Linear.ridge(
    pointsOf(questions),
    [strongScores.map((score, index) => score - weakScores[index]!)],
    [30],
    productsOf(questions)
  )
  const gains = questions.map(({ point }) => predict!(point)[0]!).sort((left, right) => left - right)
  const threshold = gains[Math.floor(gains.length / 2)]!
  return ({ point }) => (predict!(point)[0]! >= threshold ? best : weak)
})

const weakBeside = (questions: ReadonlyArray<Question>, workers: ReadonlyArray<string>, best: string) => {
  const others = workers
    .filter((worker) => worker !== best)
    .map((worker) => ({ worker, score: mean(scoresOf(questions, worker)), cost: meanCost(questions, worker) }))
    .sort((left, right) => right.score - left.score)
  const most = meanCost(questions, best) / 2
  return (others.find(({ cost }) => cost <= most) ?? others[0])?.worker
}

/**
 * Selects the best worker for the question's kind, which is given. This is an upper bound for routers that classify by
 * kind.
 */
const toldKind: Contender = choosing("kind-told", (training) => {
  const best = bestOf(training)
  const named = training.questions.filter(({ kind }) => kind !== undefined)
  const workers = new Map([...Map.groupBy(named, ({ kind }) => kind!)].map(([kind, group]) => [kind, best(group)]))
  return ({ kind }) => (kind === undefined ? undefined : workers.get(kind)) ?? training.best
})

/**
 * Selects the best worker for each question in hindsight, the cheaper one in a tie. No router can reach this score,
 * because it includes luck.
 */
const oracle: Contender = choosing("oracle", ({ workers }) => ({ costUsd, scores }) => {
  const highest = Math.max(...workers.map((worker) => scores.get(worker)!))
  const costs = workers.map((worker) =>
    scores.get(worker) === highest ? -(costUsd.get(worker) ?? 0) : Number.NEGATIVE_INFINITY
  )
  return workers[argmax(costs)]!
})

/** All baselines except the best single worker. */
export const baselines: ReadonlyArray<Contender> = [random, knn, ridge, clustered, strongOrWeak, toldKind, oracle]
