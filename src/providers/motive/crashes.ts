import { dayMs, hourMs } from '../../platform/durations.ts';
import { type Assessment, dismissed, follow, type OpenCrash, type OpenCrashes, openDays } from '../crash.ts';
import { at, field, idAt, numeric } from '../read.ts';
import { type Api, dayOf, days, type List, page, type Query, startOf } from './api.ts';
import { eventRecord, typeOf, vehicleOf } from './records.ts';

export const performance: List = {
  path: '/v2/driver_performance_events',
  many: 'driver_performance_events',
  one: 'driver_performance_event',
};

/** A review takes minutes: a crash that is still listed after these is confirmed. */
const reviewMs = 10 * 60_000;

/** A person's verdict on an event; undefined if there is none yet. */
export function reviewOf(item: unknown): 'confirmed' | 'dismissed' | undefined {
  const status = String(field(item, 'coaching_status'));
  if (/^(?:uncoachable|dismiss)/.test(status)) return 'dismissed';
  return status === 'coachable' || status === 'coached' ? 'confirmed' : undefined;
}

/**
 * What a performance event says. Motive's detector reports a crash at once; a review follows, and what it rejects vanishes
 * from the list: that a crash is still there is the verdict. `isListed` says that a look-up of crashes has it, which has
 * nothing to say of what is as it was.
 */
export function assess(
  item: unknown,
  open: OpenCrashes,
  { now, isListed = false }: { now: number; isListed?: boolean },
): Assessment {
  const event = eventRecord(item);
  if (typeOf(item) !== 'crash') return { event };
  const known = open.get(event.sourceId);
  const seenAt = known?.seenAt ?? now;
  const review = reviewOf(item);
  const dismissed = review === 'dismissed';
  const isOld = startOf(item) < now - openDays * dayMs;
  const isReviewed = isListed && now - seenAt >= reviewMs;
  const reportUrl = videoOf(item);
  const isConfirmed = isOld || isReviewed || review === 'confirmed';
  const hasEvidence = reportUrl !== null || field(item, 'coached_at') !== null;
  const level = Math.max(isConfirmed ? (hasEvidence ? 3 : 2) : 1, known?.level ?? 0);
  const crash = {
    vin: field(item, 'vehicle', 'vin'),
    level,
    dismissed,
    reportUrl,
    severity: field(item, 'metadata', 'severity') ?? field(item, 'severity'),
    accelerationG: numeric(item, 'acceleration'),
  };
  const isKnown = isListed && !dismissed && known?.level === level;
  return { event, crash, isKnown, kept: { seenAt, isListed: isListed || known?.isListed === true } };
}

/**
 * The crashes that a look-up did not find: `ids` are those it found, of all days since `from`. The days at the edges
 * are requested but not judged, because some may be listed elsewhere. A crash that no look-up has ever found gets time
 * to appear.
 */
function missing(
  open: OpenCrash[],
  { ids, from, now }: { ids: ReadonlySet<unknown>; from: number; now: number },
) {
  const isGone = ({ id, startedAt, isListed, seenAt = now }: OpenCrash) =>
    !ids.has(id) && dayOf(Date.parse(startedAt)) > from && (isListed || now - seenAt >= reviewMs);
  const gone = open.filter(isGone);
  return {
    records: gone.flatMap((crash) => dismissed(crash)),
    open: open.filter((crash) => !gone.includes(crash)),
  };
}

/** The address of a video, if there is one. */
function videoOf(item: unknown): string | null {
  const videos = at(item, 'camera_media', 'downloadable_videos');
  if (at(item, 'camera_media', 'available') !== true || typeof videos !== 'object' || !videos) return null;
  const isUrl = (url: unknown): url is string =>
    typeof url === 'string' && url.length <= 2000 && URL.parse(url)?.protocol === 'https:';
  return Object.values(videos).find(isUrl) ?? null;
}

/** With more pages of crashes than this, none is dismissed for being absent. */
const mostPages = 5;

/** How often all open crashes are looked up; those of today and yesterday are each minute. */
const allMs = hourMs;

/** The open crashes, and when all of them were last looked up: 0 for never. */
export type Crashes = { open: OpenCrash[]; lookedAt: number };

/**
 * Looks up which crashes Motive still lists, including slight ones that its users do not see. A missing one is judged
 * only if the whole list was read and its length did not change.
 */
export async function lookUp(api: Api, { open, lookedAt }: Crashes, now: number) {
  const isAll = now - lookedAt > allMs;
  const oldest = lookedAt === 0 ? [now - openDays * dayMs] : open.map((crash) => Date.parse(crash.startedAt));
  const from = Math.min(dayOf(now) - 2 * dayMs, ...(isAll ? oldest : []).map((ms) => dayOf(ms) - dayMs));
  const query = { ...days(from, dayOf(now) + dayMs), event_types: 'crash', ignore_thresholds: true };
  const found = await readAll(api, query);
  const ids = new Set(found.items.map((item) => idAt(item, 'id')));
  const isWhole = found.isWhole && (found.total === undefined || found.total === ids.size);
  const left = isWhole ? missing(open, { ids, from, now }) : { records: [], open };
  const seen = follow(found.items, left.open, now, (item, known) =>
    assess(item, known, { now, isListed: true }),
  );
  return {
    records: [...left.records, ...seen.records],
    vehicles: found.items.map(vehicleOf),
    crashes: { open: seen.open, lookedAt: isAll && isWhole ? now : lookedAt },
  };
}

async function readAll(api: Api, query: Query) {
  const items: unknown[] = [];
  const totals = new Set<number | undefined>();
  for (let no = 1; no <= mostPages; no++) {
    const found = await page(api, performance, query, no);
    items.push(...found.items);
    totals.add(found.total);
    if (found.next === undefined) return { items, isWhole: totals.size === 1, total: found.total };
  }
  return { items, isWhole: false, total: undefined };
}
