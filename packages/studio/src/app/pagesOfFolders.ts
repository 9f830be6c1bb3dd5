/** The pages for evaluations, training runs and costs, bundled together because they share the code for charts. */
export { EvaluationsPage } from "./evaluation/Evaluations.tsx"
export { CostsPage } from "./session/Session.tsx"
export { TrainingsPage } from "./training/Trainings.tsx"
