/** A name of a file as an error shows it: in quotes, and no more than its beginning. */
export const shown = (name: string): string => JSON.stringify(name.length > 80 ? `${name.slice(0, 80)}...` : name)
