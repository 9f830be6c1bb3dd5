/** Where the site is published, and where its sources are. */
export const site = "https://divisi-ai.github.io"
export const base = "/divisi"
export const repository = "https://github.com/divisi-ai/divisi"
