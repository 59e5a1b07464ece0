import { dayMs } from '../../platform/durations.ts';
import type { Access } from '../connector.ts';
import { crashRecords, dismissed, type Learned, type OpenCrash, openCrash, openDays } from '../crash.ts';
import { isValid } from '../geotab/events.ts';
import { reviewOf } from '../motive/crashes.ts';
import { Problem } from '../problem.ts';
import { at, field, itemsAt, msOf } from '../read.ts';
import { crashOf } from '../samsara/events.ts';
import { type Api, get } from './api.ts';
import { eventRecord } from './records.ts';

/**
 * A crash with the version whose verdict is known: the time at which Terminal took that in. Null while Terminal fails to
 * give the verdict, for which it was asked so many times.
 */
export type Seen = OpenCrash & { version: unknown; tries: number };

/** The verdicts that were read, by the event. */
export type Verdicts = ReadonlyMap<unknown, Verdict>;

/** For so many crashes of a page the provider's own records are asked for. */
const mostReads = 10;

/** So often Terminal is asked for a verdict that it fails to give, once a minute. */
const mostTries = 30;

const isCrash = (item: unknown): boolean => at(item, 'type') === 'crash';
const versionOf = (item: unknown): unknown => field(item, 'metadata', 'modifiedAt');

/**
 * The verdict on each crash of these events whose verdict is not known in this version. One that fails to come is left
 * out, unless it may not be missed.
 */
export async function readVerdicts(
  api: Api,
  items: unknown[],
  open: Seen[],
  { mayMiss = true } = {},
): Promise<Verdicts> {
  const isSeen = (item: unknown) =>
    open.some(({ id, version }) => id === at(item, 'id') && version === versionOf(item));
  const wanted = items.filter((item) => isCrash(item) && hasRules(item) && !isSeen(item)).slice(0, mostReads);
  const read = wanted.map(async (item): Promise<[unknown, Verdict][]> => {
    const found = await readEvent(api, at(item, 'id'), mayMiss);
    return found === undefined ? [] : [[item, verdictOf(found)]];
  });
  return new Map((await Promise.all(read)).flat());
}

/** The events of crashes whose verdict failed to come before, with the crashes that are open after asking again. */
export async function readAgain(api: Api, open: Seen[]): Promise<{ items: unknown[]; open: Seen[] }> {
  const wanted = open
    .filter(({ version, tries }) => version === null && tries < mostTries)
    .slice(0, mostReads)
    .map(({ id }) => id);
  const read = await Promise.all(wanted.map((id) => readEvent(api, id, true)));
  return {
    items: read.filter((item) => item !== undefined),
    open: open.map((crash) => (wanted.includes(crash.id) ? { ...crash, tries: crash.tries + 1 } : crash)),
  };
}

/** An event with its provider's own record; undefined if Terminal fails to give it, which nothing waits for. */
async function readEvent(api: Api, id: unknown, mayMiss: boolean): Promise<unknown> {
  try {
    const path = `/safety/events/${encodeURIComponent(String(id))}`;
    return await get(api, path, { raw: true, expand: 'vehicle' });
  } catch (error) {
    const fatal = ['refused', 'rate limited', ...(mayMiss ? [] : ['unavailable'])];
    if (error instanceof Problem && !fatal.includes(error.kind)) return undefined;
    throw error;
  }
}

/**
 * The records of an event: itself, and the levels of an accident if it is a crash, or what dismisses one that is no crash
 * any more. Terminal has no state of review, and never says that it was a false alarm but by another type.
 */
export function learn(
  item: unknown,
  open: Seen[],
  { verdicts, now, ownWords }: { verdicts: Verdicts; now: number; ownWords: Access['incidentTypeMap'] },
): Learned<Seen> {
  const event = eventRecord(item, ownWords);
  const known = open.find(({ id }) => id === event.sourceId);
  const others = open.filter((crash) => crash !== known);
  if (!isCrash(item))
    return {
      records: [event, ...(known ? dismissed(known, event.sourceUpdatedAt) : [])],
      open: others,
    };
  const vin = field(item, 'vehicle', 'vin') ?? known?.vin ?? null;
  const verdict = verdicts.get(item);
  const isConfirmed = verdict === 'confirmed' || (known?.level ?? 1) > 1;
  const level = isConfirmed ? (hasVideo(item) ? 3 : 2) : 1;
  const crash = {
    vin,
    level: Math.max(level, known?.level ?? 1),
    reportUrl: null,
    accelerationG: forceOf(item),
  };
  const isFalse = verdict === 'dismissed';
  const isOld = msOf(event.startedAt) < now - openDays * dayMs;
  const kept = isFalse || isOld ? undefined : openCrash(event, crash);
  const isKnown = verdicts.has(item) || !hasRules(item) || known?.version === versionOf(item);
  return {
    records: [event, ...crashRecords(event, { ...crash, dismissed: isFalse })],
    open: kept
      ? [...others, { ...kept, version: isKnown ? versionOf(item) : null, tries: known?.tries ?? 0 }]
      : others,
  };
}

/** The stronger of the two directions in which it was felt, in g. */
function forceOf(item: unknown): number | undefined {
  const forces = ['gForceForwardBackward', 'gForceSideToSide']
    .map((name) => at(item, 'stats', name))
    .filter((force) => typeof force === 'number');
  return forces.length > 0 ? Math.max(...forces.map(Math.abs)) : undefined;
}

const hasVideo = (item: unknown): boolean =>
  ['frontFacing', 'rearFacing'].some((camera) => at(item, 'cameraMedia', camera, 'available') === true);

/** The state of a crash according to the provider behind Terminal. */
export type Verdict = 'confirmed' | 'dismissed' | undefined;

/** How each provider says it, in a record of its own: by the rules by which we read that provider ourselves. */
const rules: { [provider: string]: (data: unknown) => Verdict } = {
  samsara(data) {
    const crash = crashOf(data);
    return crash?.dismissed ? 'dismissed' : crash && crash.level > 1 ? 'confirmed' : undefined;
  },
  // Geotab says nothing when it was none but that it is not valid any more.
  geotab: (data) => (isValid(data) ? undefined : 'dismissed'),
  motive: (data) => reviewOf(at(data, 'driver_performance_event') ?? data),
};

/** Whether there is something to look for in the records of an event's provider. */
export const hasRules = (item: unknown): boolean => Object.hasOwn(rules, String(at(item, 'provider')));

/** The verdict in the provider's own records, which Terminal gives along with an event when asked. */
export function verdictOf(item: unknown): Verdict {
  const verdicts = itemsAt(item, 'raw').map((one) => rules[String(at(one, 'provider'))]?.(at(one, 'data')));
  return verdicts.includes('dismissed') ? 'dismissed' : verdicts.find((verdict) => verdict !== undefined);
}
