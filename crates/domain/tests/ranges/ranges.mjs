// Prints ranges with what npm's semver says about them, one JSON array a line: the range, whether it is valid, and for each version of
// the first line whether the range contains it (1), lies below it (2), or neither (0). Arguments: how many, and a seed.
import semver from 'semver'

const [count, seed] = process.argv.slice(2).map(Number)
let state = seed >>> 0
const next = (bound) => {
  state = (state + 0x6d2b79f5) >>> 0
  let mixed = Math.imul(state ^ (state >>> 15), state | 1)
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
  return ((mixed ^ (mixed >>> 14)) >>> 0) % bound
}
const pick = (choices) => choices[next(choices.length)]

const numbers = ['0', '1', '2', '3']
// Whether `>=0.0.0` excludes pre-releases of 0.0.0 depends on its spelling there, so they are left out.
const versions = ['0.0.0']
for (const core of ['0.0.1', '0.0.2', '0.1.0', '0.1.2', '0.2.0', '1.0.0', '1.0.1', '1.1.0', '1.2.3', '2.0.0', '2.1.3', '3.0.0', '10.2.0']) {
  versions.push(`${core}-0`, `${core}-a.1`, `${core}-b`, core)
}

// One choice in 20 is odd, so that most ranges are valid.
const odd = (choices, oddities) => (next(20) ? pick(choices) : pick(oddities))

const part = () => odd([...numbers, ...numbers, 'x', '*'], ['X', '01', '10'])
const pre = () => odd(['-a', '-a.1', '-0', '-b.2+5', '+5'], ['-01', '-', '-a..b'])
const plain = () => {
  const core = Array.from({ length: odd([1, 2, 3, 3, 3], [0, 4]) }, part).join('.')
  return odd(['', '', 'v', '='], ['v=', '==', 'v ', '= ']) + core + (next(4) ? '' : pre())
}
const operator = () => odd(['', '', '^', '~', '~>', '>', '>=', '<', '<=', '='], ['> =', '~ >', '^=', '~=', '=<', '^^'])
const comparator = () => operator() + pick(['', '', '', ' ', '  ']) + plain()
// npm removes a `*` anywhere, also in a pre-release (`1.0.0-a*`), which is refused here: `-` always has spaces around it.
const alternative = () =>
  next(6) ? Array.from({ length: pick([1, 1, 1, 2, 2, 3]) }, comparator).join(pick([' ', ' ', ' ', '  ', '\t'])) : plain() + pick([' - ', '  -  ']) + plain()
const range = () => {
  const text = Array.from({ length: pick([1, 1, 1, 2, 3]) }, () => (next(25) ? alternative() : '')).join(pick(['||', ' || ', '|| ']))
  return pick(['', '', '', ' ']) + text + pick(['', '', '', ' '])
}

const lines = [JSON.stringify(versions)]
for (let made = 0; made < count; made += 1) {
  const text = range()
  const valid = semver.validRange(text) !== null
  const says = (version) => (semver.satisfies(version, text) ? 1 : semver.gtr(version, text) ? 2 : 0)
  lines.push(JSON.stringify([text, valid, valid ? versions.map(says) : []]))
}
console.log(lines.join('\n'))
