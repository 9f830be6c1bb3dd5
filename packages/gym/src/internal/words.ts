/** Words and names used in generated questions. */

export const words: ReadonlyArray<string> = (
  "amber anchor apple arrow autumn basket beacon blanket bottle branch bridge bucket button cabin candle canyon castle " +
  "cedar chapter cherry circle clover copper coral cotton cradle crystal curtain daisy desert dragon drizzle eagle " +
  "ember engine falcon feather fiddle forest fountain garden ginger glacier granite hammer harbor harvest hazel helmet " +
  "hollow island ivory jacket jasmine jungle kettle kitten ladder lantern lemon lizard magnet maple marble meadow " +
  "mirror mountain needle nutmeg ocean olive orchard otter oyster paddle pebble pepper pillow planet pocket puzzle " +
  "quarry quilt rabbit raven ribbon river rocket saddle salmon sandal scarlet shadow silver spider squirrel summer " +
  "sunset tablet teapot temple thistle thunder timber tunnel turtle valley velvet violet walnut weasel whistle willow " +
  "window winter wizard yellow zephyr"
).split(" ")

export const people: ReadonlyArray<string> = (
  "Ana Ben Carla Dmitri Elif Farid Greta Hugo Ines Jonas Kira Liam Mona Nils Olga Pablo Quinn Rosa Sven Tara Umar Vera " +
  "Wim Xenia Yara Zeno"
).split(" ")
