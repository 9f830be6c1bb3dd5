// A program that uses an adapter on its own: loads it and prints its properties.
const [name, constructor] = process.argv.slice(2)
const adapter = await import(name)
console.log(`${name}: ${typeof adapter[constructor]} ${constructor}`)
if (typeof adapter[constructor] !== "function") process.exitCode = 1
