/** How many words of a name can be searched for. Each is a row written, and one more if it has digits. */
export const maxWords = 6;

/** How many characters of a key are kept, and compared. */
const maxKey = 64;

/** Letters that Unicode does not take apart, each with what people type for it. */
const plainLetters = new Map(
  'ßss æae œoe øo đd ðd łl ħh ŧt þth ςσ'
    .split(' ')
    .map(([letter, ...plain]) => [letter, plain.join('')]),
);

/** Marks, what nobody sees, and the apostrophes that Unicode counts among letters. */
const ignored = /[\p{M}\p{Default_Ignorable_Code_Point}\u02b0-\u02ff\ua78b\ua78c]/gu;

const wordsIn = (text: string): string[] =>
  text
    .toUpperCase()
    .toLowerCase()
    .normalize('NFKD')
    .replace(ignored, '')
    .replace(/[^\0-\x7f]/gu, (letter) => plainLetters.get(letter) ?? letter)
    .match(/[\p{L}\p{N}]+/gu) ?? [];

const joined = (words: string[]): string => [...words.join('')].slice(0, maxKey).join('');

/**
 * Puts how many digits a number has in front of it, so that 10 comes after 2: as a control character,
 * which no key has and which comes before all that they have.
 */
const orderedNumbers = (word: string): string =>
  word.replace(
    /0*(\d+)/g,
    (_, digits: string) => String.fromCharCode(Math.min(digits.length, 31)) + digits,
  );

/**
 * The keys of a name, without accents, spaces and punctuation, from each word on: `Doe`, `doe, j`
 * and `Jane Doe` begin one of "Jane Doe". The first orders lists, by numbers as people count.
 * `code` adds one of its own.
 */
export function searchKeys(name: string, code?: string | null): string[] {
  const words = wordsIn(name);
  const order = joined(words.map(orderedNumbers));
  const further = words
    .slice(1, maxWords)
    .map((_, i) => joined([...words.slice(i + 1), ...words.slice(0, i + 1)]));
  const ofCode = code ? [keyOf(code)] : [];
  const whole = keyOf(name);
  return [...new Set([order || whole, whole, ...further, ...ofCode])];
}

/** The key of what people type. Text of punctuation alone is compared as it is. */
export const keyOf = (text: string): string =>
  joined(wordsIn(text)) || joined([text.trim().toLowerCase().normalize('NFKD')]);
