/** Returns the message for an error in plain JavaScript code. */
export const messageOf = async (mistake: () => unknown): Promise<string> => {
  try {
    const given = await mistake()
    return (given as { readonly detail?: string } | undefined)?.detail ?? "no error"
  } catch (error) {
    return (error as Error).message
  }
}
