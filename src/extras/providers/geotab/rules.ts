import crc32 from 'crc-32';
import { isIncident } from '../../../core/fleet/incidents/translate.ts';
import { providerWords } from '../../../core/fleet/incidents/words.ts';
import { dayMs, hourMs } from '../../../core/platform/durations.ts';
import { ProviderError } from '../connector/connector.ts';
import { field, fitting } from '../connector/read.ts';
import { type Api, get } from './rpc.ts';

/** The rules to pull, with the incident label of each, for the connection's map with the checksum `map`. */
export type Rules = { at: number; map: number; words: { [id: string]: string } };

/** How many rules are read, and how many of their bytes are kept. */
const maxRules = 2_000;
const maxKept = 8_000;
/** How long events wait for rules that are known. */
const rulesMs = 5_000;
/** A longer name cannot be an incident label. */
const maxWord = 100;

/** The rules, read again once a day and when the connection's own map has changed. @throws Problem */
export async function currentRules(api: Api, kept: Rules | undefined): Promise<Rules> {
  const map = crc32.str(JSON.stringify(api.access.incidentTypeMap ?? {}));
  const now = Date.now();
  if (kept && kept.map === map && now - kept.at < dayMs) return kept;
  const { geotab: stock = {} } = providerWords;
  const byId = { ...stock, ...api.access.incidentTypeMap };
  const known = Object.keys(byId).flatMap((id) => wordOf(api, id));
  try {
    const until = kept ? Math.min(api.access.until, now + rulesMs) : api.access.until;
    const within = { ...api, access: { ...api.access, until } };
    const rules = await get(within, 'Rule', { resultsLimit: maxRules });
    const own = rules.flatMap((rule) => wordOf(api, field(rule, 'id'), field(rule, 'name')));
    const isStock = ([id]: [string, string]) => Object.hasOwn(stock, id);
    const named = own.filter((rule) => rule[1] !== rule[0] || !isStock(rule));
    const taken = fitting([...known.filter(isStock), ...named], maxKept);
    return { at: now, map, words: Object.fromEntries(taken) };
  } catch (error) {
    if (!(error instanceof ProviderError) || error.kind === 'refused') throw error;
    if (!kept && error.kind !== 'unexpected') throw error;
    // These need no names. The others are as they were, and tried again in an hour.
    const others = Object.entries(kept?.words ?? {}).filter(([id]) => !Object.hasOwn(byId, id));
    return {
      at: now - dayMs + hourMs,
      map,
      words: Object.fromEntries(fitting([...known, ...others], maxKept)),
    };
  }
}

/** A rule with its incident label, from its id or name; the connection's own map takes precedence. */
function wordOf(
  { access: { incidentTypeMap } }: Api,
  id: unknown,
  name?: unknown,
): [string, string][] {
  if (typeof id !== 'string' || id.length > maxWord) return [];
  const feed = { provider: 'geotab', incidentTypeMap };
  const words = typeof name === 'string' && name.length <= maxWord ? [id, name.trim()] : [id];
  const own = words.find((word) => incidentTypeMap && Object.hasOwn(incidentTypeMap, word));
  const word = (own === undefined ? words : [own]).find((one) => isIncident(feed, one));
  return word === undefined ? [] : [[id, word]];
}
