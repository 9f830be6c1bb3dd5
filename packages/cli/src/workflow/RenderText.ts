/** Draws a workflow as plain text: its steps with the topology next to them. */
import { Topology, type Workflow } from "@divisi/core"
import * as Format from "../view/Format.ts"
import { wrap } from "../view/Line.ts"
import { sees } from "../view/PlainView.ts"
import * as StepGraph from "../view/StepGraph.ts"

/** Summarizes a workflow: `3 steps, tree, width 2, depth 2`. */
export const summary = (workflow: Workflow.Workflow): string => {
  if (workflow.steps.length === 0) return "no further steps, the previous answer is accepted"
  const topology = Topology.make(workflow)
  const count = Format.count(workflow.steps.length, "step")
  return `${count}, ${Topology.shape(topology)}, width ${Topology.width(topology)}, depth ${Topology.depth(topology)}`
}

/** Draws a workflow with the given width, in columns. */
export const renderText = (workflow: Workflow.Workflow, width = 80): string => {
  const { rows } = StepGraph.make(workflow)
  const steps = workflow.steps.flatMap((step, index) => {
    const { below, node } = rows[index]!
    return [
      `${node}  ${index}  worker ${step.worker}, ${sees(step.access)}`,
      ...wrap(step.subtask, Math.max(20, width - below.length - 5)).map((text) => `${below}     ${text}`.trimEnd())
    ]
  })
  return [summary(workflow), "", ...steps].join("\n").trimEnd()
}
