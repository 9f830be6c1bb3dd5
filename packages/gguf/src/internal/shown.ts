/** Formats a name from a file for an error message: quoted and truncated. */
export const shown = (name: string): string => JSON.stringify(name.length > 80 ? `${name.slice(0, 80)}...` : name)
