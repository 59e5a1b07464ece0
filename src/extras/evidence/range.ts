/** Which version of a file a server has, and how large it is; null if it does not say. */
export type Version = { tag: string | null; total: number | null };

/** The headers that ask for the rest of a file, if it still is this version. */
export const restFrom = (at: number, { tag }: Version): Record<string, string> => ({
  Range: `bytes=${at}-`,
  ...(tag !== null && { 'If-Range': tag }),
});

const maxTag = 200;

/** What identifies the version that a response has: `If-Range` takes no weak tag. */
export const tagIn = (headers: Headers): string | null => {
  const strong = headers.get('etag')?.startsWith('"');
  const tag = headers.get(strong ? 'etag' : 'last-modified');
  return tag && tag.length <= maxTag ? tag : null;
};

/** How long a body is. What is encoded has another length here. */
const lengthIn = (headers: Headers): number | null =>
  headers.has('content-encoding') ? null : Number(headers.get('content-length') ?? NaN) || null;

/** What a response has of a file: from which byte to which, and how large the file is; null if unknown. */
export type Span = { from: number; end: number | null; total: number | null };

/**
 * What a response has of a file of which the first `at` bytes are there, of this version. Undefined unless it is all of
 * the file, or the rest of the same version, as was asked.
 */
export function spanOf(
  { status, headers }: Pick<Response, 'status' | 'headers'>,
  at: number,
  version: Version,
): Span | undefined {
  const length = lengthIn(headers);
  if (status === 200) return { from: 0, end: length, total: length };
  if (at === 0) return undefined;
  const [, from, last, whole] =
    /^bytes (?:(\d+)-(\d+)|\*)\/(\d+|\*)$/.exec(headers.get('content-range') ?? '') ?? [];
  const total = Number(whole) || version.total; // `*` is unknown
  if (total === null || total !== (version.total ?? total)) return undefined;
  if (status === 416) return total === at ? { from: at, end: at, total } : undefined;
  const end = Number(last) + 1;
  const tag = tagIn(headers) ?? version.tag;
  const isSame = tag === (version.tag ?? tag) && !headers.has('content-encoding');
  const isRest =
    status === 206 && Number(from) === at && end <= total && (length ?? end - at) === end - at;
  return isSame && isRest ? { from: at, end, total } : undefined;
}
