/**
 * The scripted worker of core, for tests of what stands on top of workers: it follows a script without any socket and
 * records every call.
 */
export * from "@divisi/core/ScriptedWorker"
