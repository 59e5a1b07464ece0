import { dayMs } from '../../platform/durations.ts';
import { crashRecords, dismissed, type Learned, type OpenCrash, openCrash, openDays } from '../crash.ts';
import { at, field, numeric } from '../read.ts';
import { dayOf, startOf } from './api.ts';
import { eventRecord, typeOf } from './events.ts';

/**
 * A crash that is watched. Motive's detector reports at once; a review follows, and what it rejects vanishes from the
 * list: that a crash is still there is the verdict.
 */
export type Watched = OpenCrash & {
  /** When it was first seen, in milliseconds since 1970. */
  seenAt: number;
  /** Whether a look-up of crashes has had it. */
  isListed: boolean;
};

/** A review takes minutes: a crash that is still listed after these is one. */
const reviewMs = 10 * 60_000;

/** What people have made of an event; undefined if nothing yet. */
export function reviewOf(item: unknown): 'confirmed' | 'dismissed' | undefined {
  const status = String(field(item, 'coaching_status'));
  if (/^(?:uncoachable|dismiss)/.test(status)) return 'dismissed';
  return status === 'coachable' || status === 'coached' ? 'confirmed' : undefined;
}

/**
 * The records of a performance event: itself, and the levels of an accident if it is a crash, or what dismisses one that
 * is no crash any more. `isListed` says that a look-up of crashes has it, which has nothing to say of what is as it was.
 */
export function learn(
  item: unknown,
  open: Watched[],
  { now, isListed = false }: { now: number; isListed?: boolean },
): Learned<Watched> {
  const event = eventRecord(item);
  const known = open.find(({ id }) => id === event.sourceId);
  const others = open.filter((crash) => crash !== known);
  if (typeOf(item) !== 'crash') return { records: [event, ...(known ? dismissed(known) : [])], open: others };
  const review = reviewOf(item);
  const vin = field(item, 'vehicle', 'vin');
  if (review === 'dismissed') {
    const alarm = crashRecords(event, { vin, level: 1, dismissed: true, reportUrl: null });
    return { records: [event, ...alarm], open: others };
  }
  const isOld = startOf(item) < now - openDays * dayMs;
  const isReviewed = isListed && known !== undefined && now - known.seenAt >= reviewMs;
  const video = videoOf(item);
  const isConfirmed = isOld || isReviewed || review === 'confirmed';
  const hasEvidence = video !== null || field(item, 'coached_at') !== null;
  const level = Math.max(isConfirmed ? (hasEvidence ? 3 : 2) : 1, known?.level ?? 0);
  const severity = field(item, 'metadata', 'severity') ?? field(item, 'severity');
  const accelerationG = numeric(item, 'acceleration');
  const crashed = { vin, level, dismissed: false, reportUrl: video, severity, accelerationG };
  const records = [event, ...crashRecords(event, crashed)];
  const isNews = !isListed || known?.level !== level;
  const crash = isOld ? undefined : openCrash(event, { vin, level });
  const watched = crash && {
    ...crash,
    seenAt: known?.seenAt ?? now,
    isListed: isListed || known?.isListed === true,
  };
  return { records: isNews ? records : [], open: watched ? [...others, watched] : others };
}

/**
 * What a look-up has not had: `ids` are those it had, of all days since `from`. Asked for too, but not judged, are the
 * days at the edges, on which some may be listed elsewhere. One that no look-up has ever had is given time to appear.
 */
export function missing(
  open: Watched[],
  { ids, from, now }: { ids: ReadonlySet<unknown>; from: number; now: number },
): Learned<Watched> {
  const isGone = ({ id, startedAt, isListed, seenAt }: Watched) =>
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
