/** The pages in the order of a person's questions, by the name of their file in `docs`. */
import type { StarlightUserConfig } from "@astrojs/starlight/types"

export const sidebar: StarlightUserConfig["sidebar"] = [
  {
    label: "Begin",
    items: ["install", "first-answer", "own-pool", "providers", "budgets"]
  },
  {
    label: "Evaluate",
    items: ["evals", "evals-grading", "evals-baselines", "evals-sandbox"]
  },
  {
    label: "Train",
    items: ["training", "gym", "tiny-conductor", "llamacpp", "training-7b"]
  },
  {
    label: "Extend",
    items: [
      "plugins",
      "contributing",
      { label: "Examples", collapsed: true, items: [{ autogenerate: { directory: "examples" } }] }
    ]
  },
  {
    label: "Reference",
    items: [
      "first-hour",
      "reliability",
      "security",
      "performance",
      { label: "Packages", collapsed: true, items: [{ autogenerate: { directory: "packages" } }] },
      { label: "API", collapsed: true, items: [{ autogenerate: { directory: "api", collapsed: true } }] }
    ]
  },
  { label: "Decisions", collapsed: true, items: [{ autogenerate: { directory: "decisions" } }] }
]
