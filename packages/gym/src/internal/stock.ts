/** The stock of the gym's warehouse: the same for all questions. Nothing but its tool tells a worker what is in it. */
import * as Draw from "./draw.ts"

/** The stock of an article. */
export interface Stock {
  readonly pieces: number
  /** The price of a piece. */
  readonly dollars: number
}

const makes = (
  "amber antique brass canvas cedar chrome copper cotton crystal folding glass granite ivory leather marble oak paper " +
  "pine plastic pocket porcelain scarlet silver steel striped velvet walnut wicker wooden woollen"
).split(" ")

const things = (
  "baskets bells benches buttons chairs clocks combs cushions drawers fans frames gloves hinges kettles ladders lamps " +
  "lanterns mirrors pillows ribbons rings spoons stools trays umbrellas vases whistles"
).split(" ")

/** Draws so many different articles. */
export const articles = (draw: Draw.Draw, count: number): ReadonlyArray<string> => {
  const made = draw.some(makes, count)
  return draw.some(things, count).map((thing, index) => `${made[index]} ${thing}`)
}

/** The stock of an article; `undefined` where the warehouse has no such article. */
export const of = (article: string): Stock | undefined => {
  const [make = "", thing = "", ...others] = article.trim().toLowerCase().split(/\s+/)
  if (!makes.includes(make) || !things.includes(thing) || others.length > 0) return undefined
  const name = `${make} ${thing}`
  const draw = Draw.make(Draw.derive("stock", name))
  return { pieces: draw.int(13, 9_876), dollars: draw.int(2, 240) }
}
