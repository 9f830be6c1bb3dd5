/**
 * Renders a session report: the cost of a server's or user's runs over a period, each worker's contribution over time,
 * and the cost of a single strong worker for comparison.
 *
 * The page is a single self-contained HTML file. It contains the first words of each question, and no answers.
 */
import { page } from "./page/Page.ts"
import { comparison } from "./session/comparison.ts"
import { overview } from "./session/overview.ts"
import { runsSection } from "./session/runs.ts"
import { figures, type Session } from "./session/Session.ts"
import { purposeSection, workerSection } from "./session/workers.ts"

export type * from "./session/Session.ts"
export { figures } from "./session/Session.ts"

/** Renders the page as HTML. The session must contain at least one run. */
export const render = (session: Session): string => {
  const found = figures(session)
  return page(session.title, overview(session.title, found), [
    workerSection(found),
    purposeSection(found),
    comparison(session, found),
    runsSection(session.runs, found)
  ])
}
