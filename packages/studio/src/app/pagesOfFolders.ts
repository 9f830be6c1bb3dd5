/** The pages for evaluations and training runs, bundled together because they share the code for charts. */
export { EvaluationsPage } from "./evaluation/Evaluations.tsx"
export { TrainingsPage } from "./training/Trainings.tsx"
