/** A queue that gives the first of its items, by an order, at any time: a binary heap. */

export interface PriorityQueue<A> {
  readonly push: (item: A) => void
  readonly pop: () => A | undefined
}

export const make = <A>(isBefore: (left: A, right: A) => boolean): PriorityQueue<A> => {
  const heap: Array<A> = []

  /** Lifts `item` from `at` to where its parent is before it. */
  const rise = (item: A, from: number) => {
    let at = from
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!isBefore(item, heap[parent]!)) break
      heap[at] = heap[parent]!
      at = parent
    }
    heap[at] = item
  }

  /** Lowers `item` from the top to where it is before its children. */
  const sink = (item: A) => {
    let at = 0
    for (let child = 1; child < heap.length; child = 2 * at + 1) {
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child += 1
      if (!isBefore(heap[child]!, item)) break
      heap[at] = heap[child]!
      at = child
    }
    heap[at] = item
  }

  return {
    push: (item) => {
      heap.push(item)
      rise(item, heap.length - 1)
    },
    pop: () => {
      const first = heap[0]
      const last = heap.pop()
      if (heap.length > 0) sink(last!)
      return first
    }
  }
}
