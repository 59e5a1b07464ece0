import crc32 from 'crc-32';
import { isIncident } from '../../fleet/incidents/translate.ts';
import { providerWords } from '../../fleet/incidents/words.ts';
import { dayMs, hourMs } from '../../platform/durations.ts';
import { field } from '../read.ts';
import { type Api, GeotabError, get } from './rpc.ts';

/**
 * The rules to pull, with the incident label of each; read at `at`, for the connection's own map with the checksum
 * `map`. Stock rules of our table are always pulled.
 */
export type Rules = { at: number; map: number; words: { [id: string]: string } };

/** How many rules of a database are read, and how many of them are kept. */
const maxRules = 2_000;
export const maxOwnRules = 300;
/** A longer name cannot be an incident label. */
const maxWord = 100;

/** The rules, read again once a day and when the connection's own map has changed. @throws Problem */
export async function currentRules(api: Api, kept: Rules | undefined): Promise<Rules> {
  const map = crc32.str(JSON.stringify(api.access.incidentTypeMap ?? {}));
  const now = Date.now();
  if (kept && kept.map === map && now - kept.at < dayMs) return kept;
  try {
    return { at: now, map, words: await readWords(api) };
  } catch (error) {
    if (!(error instanceof GeotabError) || error.kind !== 'unexpected') throw error;
    // Stock rules need no names. The others are tried again in an hour.
    return { at: now - dayMs + hourMs, map, words: kept?.words ?? {} };
  }
}

async function readWords(api: Api): Promise<{ [id: string]: string }> {
  const rules = await get(api, 'Rule', { resultsLimit: maxRules });
  const wanted = rules.flatMap((rule): [string, string][] => {
    const id = field(rule, 'id');
    if (typeof id !== 'string' || id.length > maxWord) return [];
    const word = wordFor(api, id, field(rule, 'name'));
    return word === undefined || isStock(word) ? [] : [[id, word]];
  });
  return Object.fromEntries(wanted.slice(0, maxOwnRules));
}

const isStock = (word: string): boolean => Object.hasOwn(providerWords.geotab ?? {}, word);

/**
 * The incident label of a rule: its id or its name, whichever means an incident. The connection's own map takes
 * precedence, also when it excludes a rule.
 */
function wordFor({ access: { incidentTypeMap } }: Api, id: string, name: unknown): string | undefined {
  const feed = { provider: 'geotab', incidentTypeMap };
  const words = typeof name === 'string' && name.length <= maxWord ? [id, name.trim()] : [id];
  const own = words.find((word) => incidentTypeMap && Object.hasOwn(incidentTypeMap, word));
  if (own !== undefined) return isIncident(feed, own) ? own : undefined;
  return words.find((word) => isIncident(feed, word));
}

/** The incident label of the exceptions of a rule; undefined if they are not pulled. */
export const wordOf = (api: Api, { words }: Rules, rule: unknown): string | undefined => {
  if (typeof rule !== 'string') return undefined;
  return Object.hasOwn(words, rule) ? words[rule] : wordFor(api, rule, undefined);
};

export const rulesTaken = (api: Api, rules: Rules): string[] =>
  [...new Set([...Object.keys(providerWords.geotab ?? {}), ...Object.keys(rules.words)])].filter(
    (rule) => wordOf(api, rules, rule) !== undefined,
  );
