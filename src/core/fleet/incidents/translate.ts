import { defaultRisks, type IncidentType, incidentTypeOf, plain } from './types.ts';
import { type Meaning, means, noIncident, providerWords } from './words.ts';

/** A connection's provider and its own map of labels, which takes precedence. */
export type Feed = { provider: string; incidentTypeMap?: Record<string, string[]> | undefined };

/** A provider's labels as incident types, with the highest risk. Unmapped ones are `Other`. */
export function normaliseIncidents(
  feed: Feed,
  words: readonly string[],
): { types: IncidentType[]; risk: number } {
  const meanings = words
    .map((word) => meaningOf(feed, word))
    .filter(({ types }) => types.length > 0);
  if (meanings.length === 0) return { types: ['Other'], risk: defaultRisks.Other };
  const risks = meanings.map(
    ({ types, raise }) => Math.max(...types.map((type) => defaultRisks[type])) + raise,
  );
  return {
    types: [...new Set(meanings.flatMap(({ types }) => types))],
    risk: Math.min(5, Math.max(1, ...risks)),
  };
}

/** Whether a label of this feed is known, even as no incident. */
export const isMapped = (feed: Feed, word: string): boolean => known(feed, word) !== undefined;

/** Whether a label of this feed means an incident. */
export const isIncident = (feed: Feed, word: string): boolean =>
  (known(feed, word)?.types.length ?? 0) > 0;

const meaningOf = (feed: Feed, word: string): Meaning => known(feed, word) ?? means('Other');

function known({ provider, incidentTypeMap }: Feed, word: string): Meaning | undefined {
  const mapped = incidentTypeMap && Object.hasOwn(incidentTypeMap, word) && incidentTypeMap[word];
  if (mapped) return means(mapped.map((name) => incidentTypeOf(name) ?? 'Other'));
  if (provider === 'samsara' && plain(word).startsWith('context')) return noIncident;
  const type = incidentTypeOf(word);
  return (
    vocabularies.get(provider)?.get(plain(word)) ?? (type && means(type)) ?? shared.get(plain(word))
  );
}

const vocabularies = new Map(
  Object.entries(providerWords).map(([provider, words]) => [
    provider,
    new Map(Object.entries(words).map(([word, meaning]) => [plain(word), meaning])),
  ]),
);

/** What a label means to all providers that have it, for those that do not; never that it is no incident. */
const shared = new Map<string, Meaning>();
const everybodys = [...vocabularies.values()].flatMap((words) => [...words]);
for (const [word, all] of Map.groupBy(everybodys, ([word]) => word)) {
  const [meaning, ...others] = new Set(all.map(([, meaning]) => JSON.stringify(meaning)));
  const agreed: Meaning | undefined =
    meaning && others.length === 0 ? JSON.parse(meaning) : undefined;
  if (agreed && agreed.types.length > 0 && !agreed.types.includes('Other'))
    shared.set(word, agreed);
}
