/** Finds the lowest unused number of calls. */

/** The numbers from 0 of which some are used. */
export class FreeNumbers {
  /** For each used number, a higher number below which no number is free. */
  private readonly next = new Map<number, number>()

  /** Returns the lowest free number that is at least `least`. Repeated searches do not visit the same numbers again. */
  from(least: number): number {
    let free = least
    for (let next = this.next.get(free); next !== undefined; next = this.next.get(free)) free = next
    for (let passed = least; passed !== free; ) {
      const next = this.next.get(passed)!
      this.next.set(passed, free)
      passed = next
    }
    return free
  }

  use(number: number): void {
    this.next.set(number, number + 1)
  }
}
