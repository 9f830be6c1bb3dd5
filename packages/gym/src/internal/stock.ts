/**
 * The inventory of the gym's warehouse, which is the same for all questions. Workers can access it only through the
 * tool.
 */
import * as Draw from "./draw.ts"

/** The stock of an item. */
export interface Stock {
  readonly pieces: number
  /** Unit price in US dollars. */
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

/** Samples `count` different items. */
export const articles = (draw: Draw.Draw, count: number): ReadonlyArray<string> => {
  const made = draw.some(makes, count)
  return draw.some(things, count).map((thing, index) => `${made[index]} ${thing}`)
}

/** Returns the stock of an item, or `undefined` if the warehouse does not have it. */
export const of = (article: string): Stock | undefined => {
  const [make = "", thing = "", ...others] = article.trim().toLowerCase().split(/\s+/)
  if (!makes.includes(make) || !things.includes(thing) || others.length > 0) return undefined
  const name = `${make} ${thing}`
  const draw = Draw.make(Draw.derive("stock", name))
  return { pieces: draw.int(13, 9_876), dollars: draw.int(2, 240) }
}
