/** Units as answers write them, each under one name. */

const spellings: Readonly<Record<string, string>> = {
  dollar: "dollars usd buck bucks",
  cent: "cents",
  euro: "euros eur €",
  pound: "£ gbp",
  degree: "degrees deg °",
  radian: "radians rad",
  percent: "percent pct",
  metre: "m meter meters metres",
  kilometre: "km kilometer kilometers kilometres",
  centimetre: "cm centimeter centimeters centimetres",
  millimetre: "mm millimeter millimeters millimetres",
  inch: "inches in",
  foot: "feet ft",
  yard: "yards yd yds",
  mile: "miles mi",
  second: "seconds sec secs s",
  minute: "minutes min mins",
  hour: "hours hr hrs h",
  day: "days",
  week: "weeks",
  month: "months",
  year: "years yr yrs",
  gram: "grams g",
  kilogram: "kg kilograms",
  ounce: "ounces oz",
  litre: "liter liters litres l",
  millilitre: "ml milliliter milliliters"
}

const names = new Map(
  Object.entries(spellings).flatMap(([name, others]) => others.split(" ").map((other) => [other, name] as const))
)

const fillers = new Set(["units", "unit", "square", "sq", "cubic", "cu", "per", "of", "the"])

const singular = (word: string) => names.get(word) ?? (word.length > 3 ? word.replace(/(?<!s)s$/, "") : word)

/** One name for a unit, whatever its spelling and number; its powers aside. Empty for "units", which says nothing. */
export const unitName = (text: string): string =>
  text
    .toLowerCase()
    .replace(/\^\s*\{?\d\}?|[.²³]/g, "")
    .split(/[^a-z°€£/]+/)
    .filter((word) => word !== "" && !fillers.has(word))
    .map(singular)
    .join(" ")

/** Whether text behind a value can be a unit: at most three words, none of which changes the value. */
export const isUnit = (text: string): boolean =>
  /^[a-zA-Z°€£][a-zA-Z°€£./ ²³]*$/.test(text) &&
  text.trim().split(/\s+/).length <= 3 &&
  !/^(?:arc)?(?:sin|cos|tan|cot|sec(?!onds?\b|s?\b)|csc|log|ln|exp|sqrt)/i.test(text) &&
  !/\b(?:and|or|if|for|where|when|with|not|no|is|are|mod|plus|minus|times|over|to|from|at|than|million|billion|thousand|hundred|trillion|dozen)\b/i.test(
    text
  )

/** Whether two units agree: they are the same, or one of them is left out. */
export const isSameUnit = (a: string, b: string): boolean => a === "" || b === "" || a === b

/** Whether these letters are the short name of a unit, e.g. `cm`. */
export const isShortUnit = (text: string): boolean => text.length > 1 && names.has(text)
