/** Finds the shortest string that completes a partial match of a grammar. */
import { type Automaton, compile } from "./gbnf.ts"

/** Returns the number of characters from each node to the end of the grammar. */
const distances = ({ edges, end }: Automaton): ReadonlyArray<number> => {
  const before: ReadonlyArray<Array<{ readonly place: number; readonly cost: 0 | 1 }>> = edges.map(() => [])
  for (const [place, { accepts, free, target }] of edges.entries()) {
    for (const next of free) before[next]!.push({ place, cost: 0 })
    if (accepts !== undefined) before[target]!.push({ place, cost: 1 })
  }
  const far = edges.map(() => Number.POSITIVE_INFINITY)
  far[end] = 0
  // Breadth-first search from the end, one distance at a time.
  for (let layer = [end]; layer.length > 0; ) {
    const next: Array<number> = []
    for (const from of layer) {
      for (const { cost, place } of before[from]!) {
        if (far[place]! <= far[from]! + cost) continue
        far[place] = far[from]! + cost
        if (cost === 0) layer.push(place)
        else next.push(place)
      }
    }
    layer = next
  }
  return far
}

const closure = ({ edges }: Automaton, places: Iterable<number>): ReadonlySet<number> => {
  const found = new Set(places)
  for (const place of found) for (const next of edges[place]!.free) found.add(next)
  return found
}

/** Returns the nodes at the end of a text. Empty if the grammar does not accept the text. */
const follow = (automaton: Automaton, text: string): ReadonlySet<number> => {
  let places = closure(automaton, [automaton.start])
  for (const character of text) {
    const code = character.codePointAt(0)!
    const next: Array<number> = []
    for (const place of places) {
      const { accepts, target } = automaton.edges[place]!
      if (accepts?.(code) === true) next.push(target)
    }
    places = closure(automaton, next)
    if (places.size === 0) break
  }
  return places
}

const nearestOf = (places: Iterable<number>, far: ReadonlyArray<number>): number => {
  let nearest = -1
  for (const place of places) if (nearest < 0 || far[place]! < far[nearest]!) nearest = place
  return nearest
}

/** Candidate characters for leaving a node, in the order in which they are tried. */
const candidates = Array.from({ length: 95 }, (_, index) => 126 - index)

/** A grammar with the distance of each node to the end. */
interface Measured {
  readonly automaton: Automaton
  readonly far: ReadonlyArray<number>
}

/** Cache keyed by grammar text, because a pool uses the same grammar for every question. */
const measured = new Map<string, Measured>()

/** Maximum number of cached grammars. Older entries belong to pools that are no longer in use. */
const most = 8

const measuredOf = (grammar: string): Measured | undefined => {
  const known = measured.get(grammar)
  if (known !== undefined) return known
  const automaton = compile(grammar)
  if (typeof automaton === "string") return undefined
  if (measured.size === most) measured.clear()
  const made = { automaton, far: distances(automaton) }
  measured.set(grammar, made)
  return made
}

/** Returns the shortest string that completes a text, or `undefined` if the grammar does not accept the text. */
export const shortestEnding = (grammar: string, text: string): string | undefined => {
  const known = measuredOf(grammar)
  if (known === undefined) return undefined
  const { automaton, far } = known
  const places = follow(automaton, text)
  if (places.size === 0) return undefined
  let at = nearestOf(places, far)
  let ending = ""
  while (at !== automaton.end) {
    const { accepts, free, target } = automaton.edges[at]!
    if (accepts === undefined) {
      at = nearestOf(free, far)
      continue
    }
    const code = [10, ...candidates].find(accepts)
    if (code === undefined) return undefined
    ending += String.fromCodePoint(code)
    at = target
  }
  return ending
}
