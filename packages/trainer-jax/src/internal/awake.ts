/** Keeps the process alive: Node may stop while only threads that it does not wait for are at work. */
export const awake = async <A>(run: () => Promise<A>): Promise<A> => {
  const timer = setInterval(() => {}, 60_000)
  try {
    return await run()
  } finally {
    clearInterval(timer)
  }
}
