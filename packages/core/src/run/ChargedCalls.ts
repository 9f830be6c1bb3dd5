/**
 * The calls that a ledger in memory was charged for, by name.
 *
 * A run can be resumed long after it was suspended, and from the same transcript more than once, so no event marks a
 * name as obsolete. The most recently used names are retained, up to a limit. If a name has been dropped, a resumed run
 * is charged for its call again: the account then counts too much, never too little.
 */

/** About 10 MB of names; 10,000 to 20,000 runs of five calls. */
const maxNames = 100_000

/** Names of calls in two generations. When the younger generation is full, it replaces the older one. */
export class ChargedCalls {
  private younger = new Set<string>()
  private older = new Set<string>()

  /** Whether an account was charged for a call. The lookup counts as a use of the name. */
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
