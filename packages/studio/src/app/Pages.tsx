/** @jsxImportSource preact */
/** Pages of the studio in navigation order. New pages are added here; each is loaded on demand. */
import type { ComponentChildren } from "preact"
import { lazy } from "./Lazy.tsx"
import type { Place } from "./Router.ts"
import { RunsPage } from "./Runs.tsx"
import { isExported, isMounted, mayHave, mayHaveRuns } from "./Source.ts"
import { canSteer } from "./Steering.ts"

const ofRuns = () => import("./pagesOfRuns.ts")
const ofFolders = () => import("./pagesOfFolders.ts")

const RunPage = lazy(ofRuns, "RunPage")
const ComparePage = lazy(ofRuns, "ComparePage")
const OperatePage = lazy(ofRuns, "OperatePage")
const PlaygroundPage = lazy(ofRuns, "PlaygroundPage")
const EvaluationsPage = lazy(ofFolders, "EvaluationsPage")
const TrainingsPage = lazy(ofFolders, "TrainingsPage")
const CostsPage = lazy(ofFolders, "CostsPage")

/** A page of the studio. */
export interface Page {
  /** First segment of the page's path. */
  readonly path: string
  readonly name: string
  readonly icon: string
  /** Letter that opens the page when it is pressed after G. */
  readonly letter: string
  readonly render: (place: Place, retry: () => void) => ComponentChildren
  /** Whether the page is available. Pages that require a server are hidden in exported pages. */
  readonly isShown: () => boolean
}

export const pages: ReadonlyArray<Page> = [
  {
    path: "runs",
    name: "Runs",
    icon: "runs",
    letter: "r",
    isShown: mayHaveRuns,
    render: ({ path: [, id] }, retry) => (id === undefined ? <RunsPage retry={retry} /> : <RunPage key={id} id={id} />)
  },
  {
    path: "compare",
    name: "Compare",
    icon: "compare",
    letter: "c",
    isShown: mayHaveRuns,
    render: (_, retry) => <ComparePage retry={retry} />
  },
  {
    path: "evaluations",
    name: "Evaluations",
    icon: "evaluations",
    letter: "e",
    isShown: () => mayHave("v1/evaluations"),
    render: ({ path: [, id] }) => <EvaluationsPage id={id} />
  },
  {
    path: "training",
    name: "Training",
    icon: "training",
    letter: "l",
    isShown: () => mayHave("v1/trainings"),
    render: ({ path: [, id] }) => <TrainingsPage id={id} />
  },
  {
    path: "costs",
    name: "Costs",
    icon: "costs",
    letter: "m",
    isShown: () => mayHave("v1/costs"),
    render: () => <CostsPage />
  },
  {
    path: "playground",
    name: "Playground",
    icon: "playground",
    letter: "p",
    isShown: canSteer,
    render: () => <PlaygroundPage />
  },
  {
    path: "operate",
    name: "Operate",
    icon: "operate",
    letter: "o",
    isShown: () => !isExported() && isMounted(),
    render: () => <OperatePage />
  }
]

/** The pages available in this studio. */
export const shownPages = (): ReadonlyArray<Page> => pages.filter(({ isShown }) => isShown())
