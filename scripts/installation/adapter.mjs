// What someone writes who installs an adapter alone: it is there, and says what it is.
const [name, constructor] = process.argv.slice(2)
const adapter = await import(name)
console.log(`${name}: ${typeof adapter[constructor]} ${constructor}`)
if (typeof adapter[constructor] !== "function") process.exitCode = 1
