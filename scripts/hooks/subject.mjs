/** Checks commit subjects: imperative, at most 72 characters. */

const longest = 72

const thirdPerson =
  /^(?:adds|allows|applies|bounds|builds|changes|checks|corrects|counts|drops|fixes|gives|has|holds|improves|is|keeps|lets|makes|moves|puts|reads|refuses|removes|renames|replaces|reports|runs|sets|shows|splits|stops|supports|takes|tests|updates|uses|writes)$/

// Verbs whose imperative looks like a participle.
const imperatives =
  /^(?:bleed|breed|bring|cling|embed|exceed|feed|fling|heed|need|ping|proceed|ring|seed|shed|shred|sing|sling|speed|spring|sting|string|succeed|swing|wed|wring)$/

/**
 * Returns the problems of a commit message. Merges, reverts and fixups are not checked.
 *
 * @param {string} message
 * @returns {ReadonlyArray<string>}
 */
export const problemsOf = (message) => {
  const subject = message.split("\n").find((line) => line.trim() !== "" && !line.startsWith("#")) ?? ""
  if (/^(?:Merge|Revert|fixup!|squash!|amend!|Version Packages)/.test(subject)) return []
  const problems = []
  const length = [...subject].length
  if (length > longest) {
    problems.push(`The subject has ${length} characters; at most ${longest}. Move figures and reasons into the body.`)
  }
  if (subject.trimEnd().endsWith(".")) problems.push("The subject ends with a full stop.")
  const text = subject.replace(/^[a-z]+(?:\([^)]*\))?!?:\s*/, "")
  const first = (/^[\w'-]+/.exec(text)?.[0] ?? "").toLowerCase()
  const isImperative = imperatives.test(first) || !(thirdPerson.test(first) || /(?:ed|ing)$/.test(first))
  if (first === "") problems.push("The subject says nothing. Write: fix(server): bound the depth of requests")
  else if (!isImperative) problems.push(`"${first}" is not imperative. Write: fix(server): bound the depth of requests`)
  return problems
}
