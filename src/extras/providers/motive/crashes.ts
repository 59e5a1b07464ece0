import { dayMs, hourMs } from '../../../core/platform/durations.ts';
import type { ProviderRecord } from '../connector/connector.ts';
import {
  type Crash,
  crashRecords,
  dismissed,
  follow,
  type OpenCrash,
  openDays,
} from '../connector/crash.ts';
import { at, field, idAt, msOf, numeric } from '../connector/read.ts';
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

const isCrash = (item: unknown): boolean => typeOf(item) === 'crash';

function crashOf(
  item: unknown,
  { isConfirmed, level }: { isConfirmed: boolean; level: number },
): Crash {
  const review = reviewOf(item);
  const reportUrl = videoOf(item);
  const reached = review === 'confirmed' || isConfirmed ? 2 : 1;
  const hasEvidence = reportUrl !== null || field(item, 'coached_at') !== null;
  return {
    vin: field(item, 'vehicle', 'vin'),
    level: Math.max(level, reached === 2 && hasEvidence ? 3 : reached),
    dismissed: review === 'dismissed',
    reportUrl,
    severity: field(item, 'metadata', 'severity') ?? field(item, 'severity'),
    accelerationG: numeric(item, 'acceleration'),
    evidence: videosOf(item).map(([name, url]) => ({
      ...{ kind: 'video', url, takenAt: field(item, 'start_time') },
      camera: name.replace(/_?(?:plain_)?url$/, '').replaceAll('_', ' '),
    })),
  };
}

/** The links to videos by name, whose signatures are valid for about two days. */
function videosOf(item: unknown): [name: string, url: string][] {
  const videos = at(item, 'camera_media', 'downloadable_videos');
  if (at(item, 'camera_media', 'available') !== true || typeof videos !== 'object' || !videos)
    return [];
  const isLink = (entry: [string, unknown]): entry is [string, string] =>
    typeof entry[1] === 'string' && URL.parse(entry[1])?.protocol === 'https:';
  return Object.entries(videos).filter(isLink);
}

/** The link to a video. */
const videoLinkOf = (item: unknown): string | null => videosOf(item)[0]?.[1] ?? null;

/** The address of a video, without the signature. */
function videoOf(item: unknown): string | null {
  const url = URL.parse(videoLinkOf(item) ?? '');
  return url && `${url.origin}${url.pathname}`;
}

const isOld = (item: unknown, now: number): boolean => startOf(item) < now - openDays * dayMs;

/** The records of a listed event; an old open crash is confirmed by being listed. */
export function eventRecords(item: unknown, now: number, open: OpenCrash[]): ProviderRecord[] {
  const event = eventRecord(item);
  if (!isCrash(item) || open.some(({ id }) => id === event.sourceId)) return [event];
  return [
    event,
    ...crashRecords(event, crashOf(item, { isConfirmed: isOld(item, now), level: 0 })),
  ];
}

/** With more pages of crashes than this, none is dismissed for being absent. */
const mostPages = 5;

/** How often all open crashes are looked up; those of today and yesterday are each minute. */
const allMs = hourMs;

/** Also slight ones, which Motive's users do not see. */
const allCrashes = { event_types: 'crash', ignore_thresholds: true };

/** The open crashes, and when all of them were last looked up: 0 for never. */
export type Crashes = { open: OpenCrash[]; lookedAt: number };

/**
 * Looks up which crashes Motive lists, slight ones included. Its detector reports a crash at once,
 * and what a review rejects vanishes: being there is the verdict. A missing one is judged only if
 * the whole list was read and its length did not change, and not on the days at the edges.
 * @throws Problem
 */
export async function lookUp(api: Api, { open, lookedAt }: Crashes, now: number) {
  const isAll = now - lookedAt > allMs;
  const oldest =
    lookedAt === 0 ? [now - openDays * dayMs] : open.map((crash) => msOf(crash.startedAt));
  const from = Math.min(
    dayOf(now) - 2 * dayMs,
    ...(isAll ? oldest : []).map((ms) => dayOf(ms) - dayMs),
  );
  const query = { ...days(from, dayOf(now) + dayMs), ...allCrashes };
  const { items, isWhole } = await readAll(api, query);
  const listed = items.filter(isCrash);
  // One that was too large to be read has no type.
  const ids = new Set(
    items.filter((item) => isCrash(item) || typeOf(item) === null).map((item) => idAt(item, 'id')),
  );
  const crashes = listed.filter((item) => !isOld(item, now));
  const gone = open.filter(({ id, startedAt }) => !ids.has(id) && dayOf(msOf(startedAt)) > from);
  const remaining = isWhole ? open.filter((crash) => !gone.includes(crash)) : open;
  const seen = follow(crashes, remaining, now, (item, known) => {
    const seenAt = known?.seenAt ?? now;
    const isConfirmed = now - seenAt >= reviewMs;
    const crash = crashOf(item, { isConfirmed, level: known?.level ?? 0 });
    const isKnown = !crash.dismissed && known?.level === crash.level;
    return { event: eventRecord(item), crash, isKnown, seenAt };
  });
  return {
    records: [...(isWhole ? gone.flatMap((crash) => dismissed(crash)) : []), ...seen.records],
    vehicles: crashes.map(vehicleOf),
    crashes: { open: seen.open, lookedAt: isAll && isWhole ? now : lookedAt },
  };
}

/** A link to the video of a crash that can be opened now; null if Motive has none any more. @throws Problem */
export async function reportLink(
  api: Api,
  { at, isIts }: { at: number; isIts(id: unknown): boolean },
) {
  const around = days(dayOf(at) - dayMs, dayOf(at) + dayMs);
  const { items } = await readAll(api, { ...around, ...allCrashes });
  return videoLinkOf(items.find((item) => isIts(idAt(item, 'id'))));
}

/** All items of these days; whole if every page was read, and their number did not change meanwhile. */
async function readAll(api: Api, query: Query): Promise<{ items: unknown[]; isWhole: boolean }> {
  const items: unknown[] = [];
  const totals = new Set<number | undefined>();
  for (let no = 1; no <= mostPages; no++) {
    const found = await page(api, performance, query, no);
    items.push(...found.items);
    totals.add(found.total);
    if (found.next !== undefined) continue;
    const ids = new Set(items.map((item) => idAt(item, 'id')));
    return { items, isWhole: totals.size === 1 && (found.total ?? ids.size) === ids.size };
  }
  return { items, isWhole: false };
}
