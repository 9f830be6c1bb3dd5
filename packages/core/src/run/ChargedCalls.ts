/**
 * The names of calls already charged to an in-memory ledger.
 *
 * A suspended run can be resumed much later, and more than once from the same transcript, so a name never becomes
 * obsolete. Only the most recently used names are retained. If a name has been evicted, a resumed run is charged again
 * for its call; the ledger may therefore overcount but never undercounts.
 */

/** About 10 MB of names, enough for 10,000 to 20,000 runs of five calls each. */
const maxNames = 100_000

/**
 * A bounded set of call names, organized in two generations. When the younger generation is full, it replaces the older
 * one.
 */
export class ChargedCalls {
  private younger = new Set<string>()
  private older = new Set<string>()

  /** Whether the call was already charged. A lookup counts as use of the name. */
  has(call: string): boolean {
    if (this.younger.has(call)) return true
    if (!this.older.delete(call)) return false
    this.add(call)
    return true
  }

  add(call: string): void {
    this.younger.add(call)
    if (this.younger.size < maxNames / 2) return
    this.older = this.younger
    this.younger = new Set()
  }

  delete(call: string): void {
    this.younger.delete(call)
    this.older.delete(call)
  }

  get size(): number {
    return this.younger.size + this.older.size
  }
}
