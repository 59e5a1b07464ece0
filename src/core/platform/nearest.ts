/** Says that there is no `name` among the known ones, and which of them was meant. */
export function notKnown(kind: string, name: string, known: string[]): string {
  const meant = nearest(name, known);
  if (meant !== undefined) return `is not a ${kind} here, did you mean ${meant}?`;
  return `is not a ${kind} here; ${known.length > 0 ? `known are ${known.join(', ')}` : 'there is none'}`;
}

/** The known name with the same letters, or that shares most pairs of them, if these are more than half. */
export const nearest = (name: string, known: string[]): string | undefined =>
  likest(name, known, 1)[0];

/** As `nearest`, but several, the most alike first. */
export function likest(name: string, known: string[], most: number): string[] {
  const pairs = pairsOf(name.slice(0, 100));
  const letters = lettersOf(name.slice(0, 100));
  return known
    .map((other) => ({
      other,
      likeness: lettersOf(other) === letters ? 1 : likenessOf(pairs, pairsOf(other)),
    }))
    .filter(({ likeness }) => likeness > 0.5)
    .sort((a, b) => b.likeness - a.likeness)
    .slice(0, most)
    .map(({ other }) => other);
}

const lettersOf = (name: string): string => [...name.toLowerCase()].sort().join();

const pairsOf = (name: string): Set<string> =>
  new Set([...name.toLowerCase().matchAll(/(?=(..))/g)].map(([, pair = '']) => pair));

const likenessOf = (a: Set<string>, b: Set<string>): number =>
  (2 * a.intersection(b).size) / (a.size + b.size || 1);
