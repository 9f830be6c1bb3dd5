process.argv.splice(2, 0, "run")
// File names are relative to the folder from which npm was called.
if (process.env.INIT_CWD) process.chdir(process.env.INIT_CWD)
await import("./divisi.mjs")
