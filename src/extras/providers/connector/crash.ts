import { acceptRecords } from '../../../core/ingest/accept.ts';
import { dayMs, hourMs, minuteMs } from '../../../core/platform/durations.ts';
import { type Access, type Json, ProviderError, type ProviderRecord } from './connector.ts';
import { idAt, msOf } from './read.ts';

/** A provider's data about a crash: its level, its report, and its force. */
export type Crash = {
  vin: unknown;
  level: number;
  dismissed: boolean;
  reportUrl: unknown;
  severity?: unknown;
  accelerationG?: unknown;
  /** Links to its videos and photos, and whether some were left out of a large page. */
  evidence?: object[];
  isLacking?: boolean;
};

/** The records of an accident: one per level reached, or a dismissal; none without VIN and place. */
export function crashRecords(
  {
    sourceId,
    sourceUpdatedAt,
    vehicle,
    driver,
    startedAt,
    location,
    maxSpeedKph,
    issuedOn,
  }: ProviderRecord,
  { vin, level, dismissed, reportUrl, severity, accelerationG: force, evidence = [] }: Crash,
): ProviderRecord[] {
  const accelerationG = typeof force === 'number' ? Math.abs(force) : force;
  const record = {
    kind: 'accident' as const,
    ...{ sourceId, sourceUpdatedAt, eventTime: startedAt, vin, vehicle, driver, location },
    ...{ maxSpeedKph, accelerationG, severity, detectedAt: issuedOn, notificationLevel: 1 },
  };
  const isAccident = acceptRecords([record]).accepted.some(
    (one) => 'vin' in one.record && one.record.vin,
  );
  if (!isAccident) return [];
  if (dismissed) return [{ ...record, dismissed: true }];
  return Array.from({ length: level }, (_, i) => ({
    ...record,
    notificationLevel: i + 1,
    ...(i === 2 && { reportUrl }),
    ...(i === level - 1 && evidence.length > 0 && { evidence }),
  }));
}

/** A crash that may still be dismissed, or become an accident; stored in a feed's cursor. */
export type OpenCrash = {
  id: string;
  startedAt: string;
  level: number;
  /** When it was first seen (milliseconds since 1970), if that confirms it. */
  seenAt?: number;
  vin?: Json;
  location?: Json;
  /** When one that is no accident yet, or lacks links, is read again (milliseconds since 1970); its `issuedOn`. */
  againAt?: number;
  issuedOn?: Json;
};

/** How long crashes stay open. Later they are never dismissed, do not become accidents, and get no more links. */
export const openDays = 7;

/** How many of the newest are kept; the others keep their level. */
const mostOpen = 100;

/** An id may be two UUIDs with a comma. */
const maxText = 80;
const maxPlace = 300;

/** Whether a value of the provider's JSON may be stored. */
const isShort = (value: unknown, most = maxText): value is Json =>
  value !== undefined && JSON.stringify(value).length <= most;

/** What is stored of a crash; undefined without an id and a time. */
function openCrash(
  { sourceId: id, startedAt, issuedOn, location }: ProviderRecord,
  { vin, level, isLacking }: Crash,
  {
    isAccident,
    againAt,
    seenAt,
  }: { isAccident: boolean; againAt: number; seenAt: number | undefined },
): OpenCrash | undefined {
  const isTimed = typeof startedAt === 'string' && Number.isFinite(msOf(startedAt));
  if (typeof id !== 'string' || !isTimed || ![id, startedAt].every((text) => isShort(text)))
    return undefined;
  const again = { againAt, ...(isShort(issuedOn) && { issuedOn }) };
  const crash = {
    id,
    startedAt,
    level,
    ...(seenAt && { seenAt }),
    ...((!isAccident || isLacking) && again),
  };
  if (!isAccident) return crash;
  return isShort(vin) && isShort(location, maxPlace) ? { ...crash, vin, location } : undefined;
}

/** The records that dismiss a crash. `sourceUpdatedAt` is the time of the version that does so, if there is one. */
export const dismissed = (
  { id, vin, startedAt, location }: OpenCrash,
  sourceUpdatedAt?: unknown,
): ProviderRecord[] =>
  crashRecords(
    { kind: 'safetyEvent', sourceId: id, sourceUpdatedAt, startedAt, location },
    { vin, level: 1, dismissed: true, reportUrl: null },
  );

const stillOpen = (open: OpenCrash[], now: number): OpenCrash[] =>
  open
    .filter(
      ({ startedAt, againAt = now + 1 }) =>
        againAt <= now || msOf(startedAt) >= now - openDays * dayMs,
    )
    .sort((a, b) => msOf(b.startedAt) - msOf(a.startedAt) || (a.id < b.id ? -1 : 1))
    .slice(0, mostOpen);

/** An item's event, and how far its crash has come. `isKnown`: none of this is to be reported. */
export type Assessment = {
  event: ProviderRecord;
  crash?: Crash | undefined;
  isKnown?: boolean;
  seenAt?: number;
};

type Assess = (item: unknown, known: OpenCrash | undefined) => Assessment;

/** The records of items: events, and levels or dismissals of accidents. Returns the open crashes. */
export function follow(
  items: unknown[],
  before: OpenCrash[],
  now: number,
  assess: Assess,
): { records: ProviderRecord[]; open: OpenCrash[] } {
  const open = new Map<unknown, OpenCrash>(before.map((crash) => [crash.id, crash]));
  const records = items.flatMap((item) => {
    const id = idAt(item, 'id');
    const known = open.get(id);
    open.delete(id);
    const { event, crash, isKnown, seenAt } = assess(item, known);
    const notified = isKnown ? [] : [event];
    if (!crash) return [...notified, ...(known ? dismissed(known, event.sourceUpdatedAt) : [])];
    const accident = crashRecords(event, crash);
    const isAccident = accident.length > 0;
    const { againAt = isAccident ? now : now + minuteMs } = known ?? {};
    const next = openCrash(event, crash, { isAccident, againAt, seenAt });
    if (next && !crash.dismissed) open.set(id, next);
    const becomesOne = known?.againAt !== undefined && isAccident;
    return isKnown && !becomesOne ? [] : [event, ...accident];
  });
  return { records, open: stillOpen([...open.values()], now) };
}

/** Follows the crashes of a page, then the open ones that are due to be read again by a connector's `read`. */
export async function followAll(
  api: Access,
  items: unknown[],
  before: OpenCrash[],
  assess: Assess,
  read: (crash: OpenCrash, api: Access) => Promise<unknown[]>,
) {
  const now = Date.now();
  const first = follow(items, before, now, assess);
  const until = Math.min(api.until, now + againMs);
  const again = await readAgain(first.open, now, (crash) =>
    read(crash, { ...api, until, tooLarge: [] }),
  );
  const { records, open } = follow(again.items, again.open, now, assess);
  return { items: [...items, ...again.items], records: [...first.records, ...records], open };
}

const againPerPage = 3;

/** How long the records of a page wait for what is read again. */
const againMs = 5_000;

/** Reads crashes again that are due, ever less often. If the provider refuses, they remain open. */
async function readAgain(
  open: OpenCrash[],
  now: number,
  read: (crash: OpenCrash) => Promise<unknown[]>,
): Promise<{ items: unknown[]; open: OpenCrash[] }> {
  const due = open
    .filter(({ againAt }) => againAt !== undefined && againAt <= now)
    .slice(0, againPerPage);
  const later = ({ startedAt }: OpenCrash) =>
    now + Math.min(Math.max(minuteMs, now - msOf(startedAt)), hourMs);
  const found = due.map(async (crash) => {
    const next = { ...crash, againAt: later(crash) };
    try {
      const items = await read(crash);
      return { items: items.filter((item) => idAt(item, 'id') === crash.id), next };
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      return { items: [], next: error.kind === 'rate limited' ? crash : next };
    }
  });
  const again = await Promise.all(found);
  const remaining = open.filter((crash) => !due.includes(crash));
  return {
    items: again.flatMap(({ items }) => items),
    open: [...remaining, ...again.map(({ next }) => next)],
  };
}
