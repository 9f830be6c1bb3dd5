/** Sandboxes for untrusted programs, with different kinds of isolation. */
export * as BubblewrapSandbox from "./sandbox/BubblewrapSandbox.ts"
export * as ContainerSandbox from "./sandbox/ContainerSandbox.ts"
export * as LocalPythonSandbox from "./sandbox/LocalPythonSandbox.ts"
export * as PyodideSandbox from "./sandbox/PyodideSandbox.ts"
export * as Sandboxes from "./sandbox/Sandboxes.ts"
