/**
 * The page of a session: what the runs of a server, or of a person, have cost in some time, who did what and when, and
 * what one strong worker would have cost instead.
 *
 * It is one HTML file that asks for nothing else. Of what was asked it holds the first words of each question; of what
 * was answered, nothing.
 */
import { page } from "./page/Page.ts"
import { comparison } from "./session/comparison.ts"
import { overview } from "./session/overview.ts"
import { runsSection } from "./session/runs.ts"
import { figures, type Session } from "./session/Session.ts"
import { purposeSection, workerSection } from "./session/workers.ts"

export type * from "./session/Session.ts"
export { figures } from "./session/Session.ts"

/** Returns the page as the text of an HTML file. The session has at least one run. */
export const render = (session: Session): string => {
  const found = figures(session)
  return page(session.title, overview(session.title, found), [
    workerSection(found),
    purposeSection(found),
    comparison(session, found),
    runsSection(session.runs, found)
  ])
}
