/** The pages in reading order, by the name of their file in `docs`. */
import type { StarlightUserConfig } from "@astrojs/starlight/types"

export const sidebar: StarlightUserConfig["sidebar"] = [
  {
    label: "Start",
    items: [
      "install",
      "first-answer",
      { slug: "own-pool", label: "Your own pool" },
      { slug: "own-conductor", label: "A classifier for your pool" },
      { slug: "providers", label: "Real models" },
      { slug: "tools", label: "Tools, images, structured output" },
      "mcp",
      "budgets",
      "durable-runs",
      { slug: "routing", label: "Routing" },
      { slug: "plans", label: "Plans as programs" },
      { slug: "plan-prices", label: "Price, approve and fork plans" },
      { slug: "checks", label: "Checks and revisions" },
      { slug: "server", label: "A server for any client" },
      "server-cluster",
      "many-machines",
      "cluster-scale",
      "deploy",
      { slug: "studio", label: "Studio: runs in the browser" },
      { slug: "session", label: "Cost reports" },
      { slug: "from-litellm-or-openrouter", label: "Coming from LiteLLM or OpenRouter" }
    ]
  },
  {
    label: "Evaluate",
    items: [
      { slug: "evals", label: "Compare policies and models" },
      { slug: "evals-files", label: "Your own files" },
      { slug: "evals-interop", label: "Other libraries" },
      { slug: "evals-baselines", label: "Baselines and reports" },
      { slug: "evals-grading", label: "Graders" },
      { slug: "evals-sandbox", label: "Sandboxes" }
    ]
  },
  {
    label: "Train",
    items: [
      { slug: "training", label: "First training" },
      { slug: "gym", label: "The gym" },
      { slug: "tiny-conductor", label: "The tiny Conductor" },
      { slug: "tiny-language-model", label: "The tiny language model" },
      { slug: "llamacpp", label: "Local models" },
      { slug: "training-7b", label: "The paper's 7B" }
    ]
  },
  {
    label: "Extend",
    items: [
      "plugins",
      { slug: "orchestrators", label: "Policies and orchestrators" },
      "scope",
      "public",
      { slug: "contributing", label: "Contributing" },
      { label: "Contribute by task", collapsed: true, items: [{ autogenerate: { directory: "contributing" } }] },
      { label: "Examples", collapsed: true, items: [{ autogenerate: { directory: "examples" } }] }
    ]
  },
  {
    label: "Reference",
    items: [
      "glossary",
      "reliability",
      "telemetry",
      "security",
      "performance",
      "installation-size",
      { label: "Tables", collapsed: true, items: [{ autogenerate: { directory: "reference" } }] },
      { label: "Packages", collapsed: true, items: [{ autogenerate: { directory: "packages" } }] },
      { label: "API", collapsed: true, items: [{ autogenerate: { directory: "api", collapsed: true } }] }
    ]
  },
  { label: "Measurements", collapsed: true, items: [{ autogenerate: { directory: "lab" } }] },
  { label: "Decisions", collapsed: true, items: [{ autogenerate: { directory: "decisions" } }] }
]
